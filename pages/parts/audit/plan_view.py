"""The tab Plan: what the next verdicts will find by each ranking, how long they take, and what was found so far."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.audit.plan_chart import plan_chart, plan_rows, plan_words
from pages.parts.audit.undo import follow_from_fragment, undo_button
from pages.parts.frame.charts import draw_chart
from pages.parts.frame.errors import boundary
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import section
from pages.parts.frame.text import percent, plural
from pages.parts.runs.run_files import stamp
from riskcore.audit.estimate import Interval, RunPlan, plan_review
from riskcore.audit.estimate.planner import RISK
from riskcore.audit.estimate.review import FROM_AUDIT, SECONDS_EACH
from riskcore.audit.estimate.runs import AUDITS
from riskcore.runs import RunFolder, RunRecord, RunState

USUAL, MOST = 100, 1_000  # pairs of the next review


@st.fragment
def show_plan(record: RunRecord) -> None:
    """The tab. Moving the slider draws only this again."""
    with boundary("plan"):
        follow_from_fragment()
        folder = RunFolder(record.folder)
        if record.state is not RunState.DONE:
            st.info("A review can be planned once the run is done.", icon=":material/hourglass_empty:")
            return
        now = _plan(folder, record.id, 0)
        section("What will the next reviews find?")
        if now.left:
            _show_next(record, folder, now.left)
        else:
            st.success("Every pair of the target has a verdict.", icon=":material/check_circle:")
        _show_found(now)
        undo_button(record)


def _show_next(record: RunRecord, folder: RunFolder, left: int) -> None:
    most = min(left, MOST)
    first, second = st.columns([2, 3], gap="large", vertical_alignment="center")
    n = first.slider(
        "Pairs to review next", 0, most, min(USUAL, most), step=1 if most <= 50 else 10, key=f"plan {record.id}"
    )
    found = _plan(folder, record.id, int(n))
    by_risk = next(one for one in found.at(int(n)) if one.ranking == RISK)
    with second:
        for column, (name, value, below) in zip(st.columns(3), _figures(found, int(n)), strict=True):
            column.metric(name, value)
            column.caption(below)
    draw_chart(plan_chart(plan_rows(found), int(n)), plan_words(found, int(n)))
    wrong = round(by_risk.errors.value)
    st.markdown(
        f"In the next **{plural(int(n), 'review')}**, the riskiest first, about **{plural(wrong, 'wrong label')}** "
        f"{'is' if wrong == 1 else 'are'} expected ({_whole(by_risk.errors)}). F1 is then about "
        f"**{percent(by_risk.f1.value)}** ({_ends(by_risk.f1)})."
    )
    _show_rankings(found, int(n))
    st.page_link(
        SCREENS["pairs"].path,
        label="Review the riskiest pairs",
        icon=SCREENS["pairs"].icon,
        query_params={"run": record.id, "verdict": "no verdict"},
    )
    st.caption(_basis(found))


def _figures(found: RunPlan, n: int) -> list[tuple[str, str, str]]:
    source = "by the audit" if found.f1_from == FROM_AUDIT else "expected from the risk"
    each = f"{found.seconds or SECONDS_EACH:.0f} s a verdict"
    pace = f"{each}, the median so far" if found.seconds else f"supposing {each}"
    with_verdicts = next(one.f1 for one in found.at(0) if one.ranking == RISK)
    return [
        ("F1 of the labels", percent(found.f1.value), f"{_ends(found.f1)}, {source}"),
        ("With the verdicts so far", percent(with_verdicts.value), _ends(with_verdicts)),
        ("Time", f"{found.minutes(n):.0f} min", pace),
    ]


def _show_rankings(found: RunPlan, n: int) -> None:
    rows = [
        {
            "pairs by": one.ranking,
            "wrong labels expected": one.errors.value,
            "95 % interval": _whole(one.errors),
            "F1 then": 100 * one.f1.value,
            "95 % interval of F1": _ends(one.f1),
        }
        for one in found.at(n)
    ]
    columns = {
        "wrong labels expected": st.column_config.NumberColumn(format="%.1f"),
        "F1 then": st.column_config.NumberColumn(format="%.1f %%"),
    }
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, column_config=columns, placeholder="–", alt="errors expected by ranking"
    )


def _show_found(found: RunPlan) -> None:
    section("What was found so far?", help="Expected is the sum of the risks of the judged pairs.")
    if not found.found:
        st.caption("There are no verdicts yet. Once there are, what they found stands here beside what was expected.")
        return
    st.markdown(found.found[0].sentence)
    if len(found.found) > 1:
        rows = [
            {
                "pairs": one.which,
                "reviews": one.reviews,
                "wrong labels found": one.errors,
                "expected": one.expected.value,
                "95 % interval": _whole(one.expected),
            }
            for one in found.found
        ]
        columns = {"expected": st.column_config.NumberColumn(format="%.1f")}
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, column_config=columns, placeholder="–", alt="errors found and expected"
        )


def _basis(found: RunPlan) -> str:
    """What the figures rest on."""
    if found.learned_from:
        return (
            "Expected from the risk of each label, corrected by "
            f"{plural(found.learned_from, 'verdict')} on drawn pairs. Labels used: these verdicts."
        )
    return (
        "Expected from the risk of each label; the intervals allow for a risk that is somewhat off. Labels used: those "
        "that the run was given. Verdicts in the tab Estimate make this surer."
    )


def _whole(one: Interval) -> str:
    return f"{one.low:,.0f} to {one.high:,.0f}"


def _ends(one: Interval) -> str:
    return f"{percent(one.low)} to {percent(one.high)}"


def _plan(folder: RunFolder, run: str, n: int) -> RunPlan:
    written = stamp(folder.results_file, *sorted((folder.path / AUDITS).glob("*.parquet")))
    return _planned(str(folder.path), n, verdicts.log().size(run), written)


@st.cache_data(max_entries=64, ttl=900, show_spinner="Planning …")
def _planned(path: str, n: int, size: int, written: tuple[int, ...]) -> RunPlan:
    """Entries are only added: the size of the log says whether anything has changed."""
    return plan_review(RunFolder(path), n)
