"""The red banner of runs without validation labels of both classes: what they keep, and that flips are proposals."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import plural
from pages.parts.runs.run_files import stamp
from riskcore.audit.draws import DEFAULT_SIZE
from riskcore.audit.labels import is_draft
from riskcore.runs import RunFolder, RunRecord
from riskcore.runs.readers.proposals import Proposal, lacks_validation, proposals

JUDGE = 50  # pairs that are asked for first
JUDGE_FIRST = f"Judge {JUDGE} pairs first"
NOT_KNOWN = (
    "This run had no validation labels of both classes, so nothing shows whether fine-tuning made the labels better or "
    "worse."
)
UNCHANGED = (
    "**Nothing was adapted.** Without validation labels of both classes, the matcher's answers are kept as they are. "
    "Their risk gives an order only, not a probability."
)
KEPT = "Iteration 0, the matcher before fine-tuning, is kept: it alone is the result and is exported."


DRAFT = "**A draft: ranked, not adapted.** Label 100 pairs next."
DRAFT_RESULT = (
    "**A draft: ranked, not adapted.** These are first answers, made without any label of this data: expect more "
    "errors than after adapting. Their risk gives an order only, not a probability."
)
LABEL_NEXT = "Label 100 pairs"


def only_proposes(folder: RunFolder) -> bool:
    """Whether the flips of this run are proposals, as there were no validation labels of both classes."""
    return lacks_validation(folder)


def proposals_of(folder: RunFolder) -> list[Proposal]:
    """What the last iterations would flip; a file is read anew only if it has changed."""
    if not lacks_validation(folder):
        return []
    return _proposals(str(folder.path), stamp(folder.summary_file, folder.results_file))


@st.cache_data(max_entries=32, ttl=900, show_spinner=False)
def _proposals(path: str, written: tuple[int, ...]) -> list[Proposal]:
    return proposals(RunFolder(path))


def warn_of_proposals(record: RunRecord, result: bool = False) -> None:
    """The banner, and the way to labels; nothing for a run whose iteration was chosen by labels. `result`: the screen
    shows answers that people may take away."""
    folder = RunFolder(record.folder)
    if is_draft(record.config):
        _tell_of_draft(record, result)
        return
    if not only_proposes(folder):
        return
    found = proposals_of(folder)
    if found or folder.kept(folder.methods()[0]) != 0:
        st.error(f"{_title(found)} {NOT_KNOWN} {_kept_words(folder)}", icon=":material/report:")
    else:
        st.warning(UNCHANGED, icon=":material/report:")
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    with row:
        judge_link(record)
        for one in found:
            if one.flips:
                st.page_link(
                    SCREENS["pairs"].path,
                    label=f"See the {plural(one.flips, 'flip')} that {one.method} proposes",
                    icon=SCREENS["pairs"].icon,
                    query_params={
                        "run": record.id,
                        "method": one.method,
                        "iteration": str(one.iteration),
                        "flip": "⇄ flipped",
                    },
                )


def _tell_of_draft(record: RunRecord, result: bool) -> None:
    """A calm line, as a draft is what was asked for; red where its answers look like a result."""
    if result:
        st.error(DRAFT_RESULT, icon=":material/report:")
    else:
        st.info(DRAFT, icon=":material/edit_note:")
    judge_link(record, LABEL_NEXT, DEFAULT_SIZE)


def warn_of_all(records: Sequence[RunRecord]) -> None:
    """One banner for a list of runs: how many only propose flips, and the way to labels for the newest of them."""
    found = [record for record in records if proposals_of(RunFolder(record.folder))]
    if not found:
        return
    st.error(
        f"**{plural(len(found), 'run')} below {'was' if len(found) == 1 else 'were'} not adapted.** Without validation "
        "labels of both classes, nothing shows whether fine-tuning made the labels better or worse: flips are "
        "proposals, and iteration 0, the matcher before fine-tuning, is kept and exported.",
        icon=":material/report:",
    )
    judge_link(found[0], JUDGE_FIRST if len(found) == 1 else f"{JUDGE_FIRST} (of the newest)")


def judge_link(record: RunRecord, label: str = JUDGE_FIRST, pairs: int = JUDGE) -> None:
    """A link to where pairs are drawn and judged."""
    st.page_link(
        SCREENS["audit"].path,
        label=f"**{label}**",
        icon=SCREENS["audit"].icon,
        query_params={"run": record.id, "draw": str(pairs)},
    )


def _title(found: Sequence[Proposal]) -> str:
    flips = [f"{one.method} proposes {plural(one.flips, 'flip')} in iteration {one.iteration}" for one in found]
    if not flips:
        return "**Flips are proposals, none is applied.**"
    return f"**Flips are proposals, none is applied:** {', '.join(flips)}."


def _kept_words(folder: RunFolder) -> str:
    kept = {folder.kept(method) for method in folder.methods()} - {None}
    if not kept:
        return "When the run is done, iteration 0, the matcher before fine-tuning, will be kept and exported."
    if kept == {0}:
        return KEPT
    numbers = ", ".join(str(one) for one in sorted(one for one in kept if one))
    return (
        f"An older version of Riskcore kept iteration {numbers} all the same. Run again to keep iteration 0, the "
        "matcher before fine-tuning."
    )
