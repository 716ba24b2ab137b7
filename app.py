"""The entry of the dashboard: Streamlit imports it once as the server, and runs it as a script for every visitor."""

import streamlit as st

from pages.parts.frame.navigation import declare
from pages.parts.frame.server import GUARDS, opened

if __name__ == "__main__":
    declare().run()  # the screens, then the one that was requested
else:
    app = st.App(__file__, middleware=GUARDS, lifespan=opened)
