"""What is possible with a data set, on screen."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.frame.text import literal
from riskcore.data.uses import Use, UseKind

_WORDS = {
    UseKind.CANDIDATES: "Candidates",
    UseKind.TARGET: "Target",
    UseKind.LABELS: "Labels",
    UseKind.SOURCE: "Source",
    UseKind.ALONE: "Alone",
}


def show_uses(uses: Sequence[Use]) -> None:
    """A line for each use: yes or no, and what to do."""
    lines = []
    for use in uses:
        sign = ":material/check_circle:" if use.possible else ":material/radio_button_unchecked:"
        cure = f" *{literal(use.cure, 300)}*" if use.cure else ""
        lines.append(f"{sign} **{_WORDS[use.kind]}** · {literal(use.sentence, 300)}{cure}")
    st.markdown("  \n".join(lines))


def possible(uses: Sequence[Use], kind: UseKind) -> bool:
    return any(use.possible for use in uses if use.kind is kind)
