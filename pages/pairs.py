"""Under construction."""

import streamlit as st

from pages.parts.page import open_page

with open_page("pairs"):
    st.info("This screen needs a finished run. Start one on the Fine-tuning screen.")
