"""Above the queue: whether verdicts and decisions about rules ranked it again, what that changed, and the way back."""

from __future__ import annotations

import streamlit as st

from pages.parts.audit import verdicts
from pages.parts.frame.actions import action, barred
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.page import reviewer
from pages.parts.frame.text import plural
from pages.parts.runs.run_picker import View
from riskcore.access import Role
from riskcore.audit.feedback import EVERY, FIRST, RankingCheck, check_ranking, keep_current, rank_again, use_run_ranking
from riskcore.runs import RunFolder
from riskcore.runs.feedback_files import RankingFacts, clear_rules, read_choices

ENOUGH_TO_CHECK = 10  # later verdicts until it is told how the ranking fared on them


def show_feedback(view: View, with_card: bool) -> None:
    """Bring the ranking of this queue up to date, and tell of it, above a card in one line; nothing where it cannot
    differ from the run's."""
    if view.folder.kept(view.method) != view.iteration:
        return
    facts = keep_current(view.folder, view.method)
    if facts is None:
        if not with_card:
            _offer(view)
        return
    if with_card:
        st.caption(f":material/sort: {_in_a_line(facts)}")
        return
    if read_choices(view.folder).refit:
        _ranked_again(view, facts)
    if facts["muted"] or facts["pinned"]:
        _rules_decided(view, facts)


def _offer(view: View) -> None:
    """Once there are some verdicts, the way to let them rank the rest."""
    judged = sum(1 for one in verdicts.current(view.run.id).values() if one.verdict != "unsure")
    if judged < EVERY:
        return
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.caption(f"{plural(judged, 'verdict')} so far can rank the pairs that are left.", width="content")
    row.button(
        "Rank again with these verdicts",
        icon=":material/sort:",
        key="rank again",
        on_click=_rank_again,
        args=(view.folder, view.method),
        disabled=barred(_rank_again),
        help="Pairs that are like those whose label you overruled move up. Labels and estimates stay as they are.",
    )


def _ranked_again(view: View, facts: RankingFacts) -> None:
    overruled = f"{plural(facts['overruled'], 'label')} overruled"
    with st.container(border=True, key="ranked again"):
        row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        row.markdown(
            f"**Ranked again with {plural(facts['verdicts'], 'verdict')}** ({overruled}): "
            f"{plural(facts['entered'], 'pair')} moved into the first {facts['first']}.",
            width="content",
        )
        row.button(
            "Use the run’s ranking",
            icon=":material/undo:",
            key="use run ranking",
            on_click=_use_run_ranking,
            args=(view.folder,),
            disabled=barred(_use_run_ranking),
        )
        st.caption(_figures(facts, check_ranking(view.folder, view.method)))


def _in_a_line(facts: RankingFacts) -> str:
    parts = [f"{len(group)} {word}" for word, group in _decided(facts)]
    rules = f"Rules decided by people: {', '.join(parts)}." if parts else ""
    ranked = f"Ranked again with {plural(facts['verdicts'], 'verdict')}." if facts["verdicts"] else ""
    return f"{ranked} {rules}".strip()


def _decided(facts: RankingFacts) -> list[tuple[str, list[str]]]:
    return [(word, group) for word, group in (("muted", facts["muted"]), ("pinned", facts["pinned"])) if group]


def _figures(facts: RankingFacts, check: RankingCheck | None) -> str:
    """Before and after, and how the ranking fared on verdicts that came later."""
    told = (
        f"Errors expected in the first {facts['first']} without a verdict: {facts['expected_after']:.0f}; in the run’s "
        f"order {facts['expected_before']:.0f}."
    )
    if check is not None and check.verdicts >= ENOUGH_TO_CHECK:
        told += (
            f" Of {plural(check.verdicts, 'verdict')} given since, {check.overruled:,} overruled a label; this ranking "
            f"had expected {check.expected:.0f}, the run’s {check.expected_by_run:.0f}."
        )
    return f"{told} Ranked again by itself after every {EVERY} verdicts."


def _rules_decided(view: View, facts: RankingFacts) -> None:
    parts = [f"{plural(len(group), 'rule')} {word}" for word, group in _decided(facts)]
    with st.container(border=True, key="rules decided"):
        row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        moved = f"{plural(facts['entered_by_rules'], 'pair')} moved into the first {FIRST}."
        changed = facts["rules_ignored"] or moved
        row.markdown(f"**{', '.join(parts)}:** {changed}", width="content")
        ways = row.container(horizontal=True, vertical_alignment="center", width="content")
        ways.page_link(
            SCREENS["rules"].path, label="Rules", icon=SCREENS["rules"].icon, query_params={"run": view.run.id}
        )
        ways.button(
            "Clear",
            icon=":material/undo:",
            key="clear rules",
            on_click=_clear,
            args=(view.folder,),
            disabled=barred(_clear),
        )


@action(Role.OPERATOR)
def _rank_again(folder: RunFolder, method: str) -> None:
    rank_again(folder, method, reviewer())
    _to_the_first()


@action(Role.OPERATOR)
def _use_run_ranking(folder: RunFolder) -> None:
    use_run_ranking(folder, reviewer())
    _to_the_first()


@action(Role.OPERATOR)
def _clear(folder: RunFolder) -> None:
    clear_rules(folder)
    _to_the_first()


def _to_the_first() -> None:
    """Another order: its beginning is what to look at."""
    st.query_params.pop("page", None)
