"""The name and the sign of Riskcore as drawings: above the sidebar, in its place when it is closed, in the browser tab.

All of them are SVG texts in this file: nothing is fetched, and the wheel carries them like any other module.
"""

from __future__ import annotations

import streamlit as st

_BLUE, _AMBER = "#1d5c96", "#f2a65a"

# Two records that overlap in part, readable at 16 pixels on light and on dark tabs. All other icons are glyphs of
# the font that comes with Streamlit; a Material icon in the tab would be fetched from a font server.
_SIGN = (
    f'<rect width="32" height="32" rx="7" fill="{_BLUE}"/>'
    '<circle cx="12.5" cy="16" r="7" fill="none" stroke="#fff" stroke-width="2.6"/>'
    f'<circle cx="19.5" cy="16" r="7" fill="none" stroke="{_AMBER}" stroke-width="2.6"/>'
)
FAVICON = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{_SIGN}</svg>'

# The letters of the name as strokes. Text in a picture would be drawn with whatever font a machine has.
_LETTERS = (
    "M43 24V7h5.6a5 5 0 0 1 0 10H43M49 17l5 7",  # R
    "M59.5 13v11M59.5 7.6v.1",  # i
    "M71.6 14.3c-1-1.2-2.2-1.7-3.8-1.7-2.1 0-3.5 1.1-3.5 2.7 0 4 7.6 2 7.6 6 0 1.8-1.6 3.1-3.9 3.1-1.8 0-3.3-.7-4.2-2",
    "M77.5 6v18M85 13l-7.5 6.4M80.4 17l5.2 7",  # k
    "M98.3 14.9a5.6 5.6 0 1 0 0 7.2",  # c
    "M108.6 12.9a5.6 5.6 0 1 0 0 11.2 5.6 5.6 0 1 0 0-11.2",  # o
    "M119.5 13v11M119.5 18c.2-3.2 2-5 5.4-5",  # r
    "M128.7 18.5h11.1a5.6 5.6 0 1 0-1.7 4",  # e
)
_INK_LIGHT, _INK_DARK = "#1c2733", "#e3e9f0"  # the text colours of the two themes
LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 142 32" width="142" height="32">'
    f"<title>Riskcore</title><style>g{{stroke:{_INK_LIGHT}}}"
    f"@media (prefers-color-scheme:dark){{g{{stroke:{_INK_DARK}}}}}</style>{_SIGN}"
    '<g fill="none" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round">'
    + "".join(f'<path d="{letter}"/>' for letter in _LETTERS)
    + "</g></svg>"
)


def show_logo() -> None:
    """The sign and the name above the sidebar; the sign alone where the sidebar is closed."""
    st.logo(LOGO, size="large", icon_image=FAVICON)
