"""Put a name under it: sign off the result as it is now, see whether earlier sign-offs still hold, take the dossier."""

from __future__ import annotations

import streamlit as st

from pages.parts.frame.actions import action, barred, download
from pages.parts.frame.page import reviewer, section
from pages.parts.frame.text import literal, plural
from pages.parts.runs.run_files import stamp
from pages.parts.runs.run_picker import store
from riskcore.access import Role
from riskcore.audit.agreement import agreement
from riskcore.audit.dossier import dossier_content, render
from riskcore.audit.estimate import Estimate, audits_of, estimate_run
from riskcore.audit.log_cache import CachedLog
from riskcore.audit.sign_off import MAX_STATEMENT, SignOff, check, sign, sign_offs
from riskcore.runs import RunFolder, RunRecord

HELP = "A sign-off states who accepts this result, in which state, and with which estimate. It names what voids it."


def show_sign_off(record: RunRecord) -> None:
    """The section on Results."""
    section("Sign-off", help=HELP)
    folder = RunFolder(record.folder)
    estimate = _estimate(str(folder.path), CachedLog(store()).size(record.id))
    for one in reversed(sign_offs(folder)):
        _show(record, folder, one)
    if estimate is None:
        st.caption("There is no estimate yet: draw pairs on Label & audit, tab Estimate, and judge them.")
    else:
        st.markdown(estimate.sentence)
    statement = st.text_area(
        "What you accept, in your own words", key=f"statement {record.id}", max_chars=MAX_STATEMENT, height=90
    )
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    row.button(
        f"Sign as {literal(reviewer(), 60)}",
        icon=":material/draw:",
        disabled=not (statement or "").strip() or barred(_sign),
        on_click=_sign,
        args=(record.id, folder, estimate),
    )
    mask = row.multiselect("Attributes to mask in the dossier", folder.attributes(), width=340)
    download(
        row,
        "Dossier",
        lambda: _dossier(folder, tuple(mask)),
        f"dossier-{record.id}.html",
        "text/html",
        help="One page with what was done, the estimate, examples with reasons, rules, verdicts, digests and "
        "sign-offs. `riskcore audit verify FILE` checks it without this server.",
    )


def _show(record: RunRecord, folder: RunFolder, one: SignOff) -> None:
    problems = _check(str(folder.path), one.number, CachedLog(store()).size(record.id), stamp(folder.results_file))
    words = (
        f"Signed by **{literal(one.who, 60)}** on {one.at[:16].replace('T', ' ')} UTC: {literal(one.statement, 300)}"
    )
    if problems:
        st.warning(f"{words} \n\nIt no longer holds: {literal(' '.join(problems), 600)}", icon=":material/gpp_maybe:")
    else:
        what = f"{plural(one.matches, 'match', 'matches')} of {plural(one.pairs, 'pair')}"
        st.success(f"{words} \n\nIt still holds: {what}, {plural(one.entries, 'entry', 'entries')} in the log.")


@action(Role.OWNER)
def _sign(run: str, folder: RunFolder, estimate: Estimate | None) -> None:
    statement = str(st.session_state.get(f"statement {run}") or "")
    sign(folder, store(), reviewer(), statement, estimate)
    st.session_state[f"statement {run}"] = ""
    st.toast("Signed", icon=":material/draw:")


def _dossier(folder: RunFolder, mask: tuple[str, ...]) -> bytes:
    entries = CachedLog(store()).entries(folder.path.name)
    estimate = _estimated(folder)
    return render(dossier_content(folder, store(), mask, False, estimate, agreement(entries) if entries else None))


def _estimated(folder: RunFolder) -> Estimate | None:
    """From what reviewers agree on; None without an audit."""
    return estimate_run(folder) if audits_of(folder) else None


@st.cache_data(max_entries=16, ttl=900, show_spinner=False)
def _estimate(path: str, size: int) -> Estimate | None:
    """By the audits so far; None where there is none, or nothing of them is judged."""
    folder = RunFolder(path)
    found = _estimated(folder)
    return found if found is not None and found.verdicts else None


@st.cache_data(max_entries=32, ttl=900, show_spinner=False)
def _check(path: str, number: int, size: int, written: tuple[int, ...]) -> list[str]:
    folder = RunFolder(path)
    return check(folder, store(), sign_offs(folder)[number - 1])
