"""Under construction."""

import streamlit as st

from pages.parts.page import open_page

with open_page("fine_tuning"):
    st.info("This screen needs a finished run. Start one on the Fine-tuning screen.")
