"""What the theme cannot set: captions and buttons that can be read on both themes, and room for tables.

The theme itself is `.streamlit/config.toml`.
"""

from __future__ import annotations

import streamlit as st

QUIET = 0.75  # of the text colour in secondary text: 4.5:1 and more on both themes; Streamlit's own 0.6 is 4.1:1
ON_PRIMARY = ("#ffffff", "#12171e")  # text on the primary colour of the light and of the dark theme
_STYLE = f"""<style>
[data-testid=stCaptionContainer]{{opacity:1;color:color-mix(in srgb,currentColor {QUIET:.0%},transparent)}}
[data-testid^=stBaseButton-primary]:not(:disabled),[data-testid^=stBaseButton-primary]:not(:disabled) *,
[data-testid=stMultiSelectTagsContainer] [data-tag],[data-testid=stMultiSelectTagsContainer] [data-tag] *
{{color:light-dark({",".join(ON_PRIMARY)})}}
[data-testid^=stBaseButton] kbd{{opacity:.85}}
[data-testid=stMainBlockContainer]{{padding-left:3rem;padding-right:3rem}}
</style>"""


def apply_style() -> None:
    """Add the rules to the page."""
    st.html(_STYLE)
