"""What this is, what has been run, and one button that runs the sample."""

import streamlit as st

from pages.parts.page import open_page
from riskcore.data import list_samples

with open_page("overview"):
    st.write(
        "Riskcore trains an entity matcher on data you have labels for, and lets it repair itself on data you have "
        "none for. Readable rules say which of its answers are probably wrong. You audit those first, each with the "
        "reasons."
    )
    st.subheader("Sample data", anchor=False)
    for sample in list_samples():
        st.markdown(f"**{sample.title}** · {sample.description}")
