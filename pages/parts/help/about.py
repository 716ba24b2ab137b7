"""What Riskcore is: its version, its licence, what it never does, where it keeps things, what to read."""

from __future__ import annotations

import html

import streamlit as st

from pages.parts.frame.page import section
from pages.parts.help.plain_table import Html, show_table
from riskcore.paths import DATA_VARIABLE, RUNS_VARIABLE, data_root, runs_root
from riskcore.version import __version__

LICENCE = "Apache License 2.0"
NEVER = (
    "It gives no method a label of the target. Where a benchmark has them, they are used for scoring only.",
    "It asks no other machine for anything: fonts and icons come with it. The exceptions are yours to set up: a "
    "sign-in service and a shared database.",
    "It never overwrites a verdict. A new one is added to the log, with name and time.",
    "It never trains inside the web server. Each run is a process of its own, and goes on when you close the browser.",
    "It never reads text of your records as markup. Exported cells that a spreadsheet would run as formulas are "
    "escaped.",
)
DOCS = {
    "docs/install.md": "install it, update it, move it",
    "docs/dashboard.md": "every screen, key and address",
    "docs/data.md": "which files can be brought, and how they are read",
    "docs/labelling.md": "a target without labels: draw pairs, judge them, adapt",
    "docs/result.md": "decisions, constraints, entities, exports",
    "docs/risk.md": "risk and value at risk, with all settings",
    "docs/training.md": "the methods, with all settings",
    "docs/evaluation.md": "scores, intervals, review budgets, the theory",
    "docs/results.md": "measured results on public data",
    "docs/cli.md": "all commands",
    "docs/api.md": "Riskcore in Python",
}


def show_about() -> None:
    st.markdown(
        f"**Riskcore {__version__}** finds and repairs the mistakes of deep entity matchers. {LICENCE}, without "
        "warranty."
    )
    section("What it never does")
    st.markdown("\n".join(f"- {one}" for one in NEVER))
    section("Where things are")
    folders = (("Runs and verdicts", runs_root(), RUNS_VARIABLE), ("Data sets", data_root(), DATA_VARIABLE))
    show_table(
        ("what", "folder", "set by"), ((what, _code(str(folder)), _code(name)) for what, folder, name in folders)
    )
    section("To read")
    show_table(("file of the project", "about"), ((_code(file), words) for file, words in DOCS.items()))


def _code(text: str) -> Html:
    return Html(f"<code>{html.escape(text)}</code>")
