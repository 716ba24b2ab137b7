"""The icon of the browser's tab. All others are glyphs of the font that Streamlit brings along.

A Material icon in the tab would be fetched from a font server: the browser cannot draw one from a font there.
"""

# Two records that overlap in part, readable at 16 pixels on light and on dark tabs.
FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="7" fill="#1d5c96"/>'
    '<circle cx="12.5" cy="16" r="7" fill="none" stroke="#fff" stroke-width="2.6"/>'
    '<circle cx="19.5" cy="16" r="7" fill="none" stroke="#f2a65a" stroke-width="2.6"/>'
    "</svg>"
)
