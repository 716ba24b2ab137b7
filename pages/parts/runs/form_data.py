"""The data of a new run: which source and target can be chosen, and what is possible with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from pages.parts.data.figures import figures_of
from pages.parts.data.known_sets import KnownSet
from pages.parts.data.set_view import fact_line
from pages.parts.frame.navigation import SCREENS
from pages.parts.frame.text import literal, short
from riskcore.data import DataProfile
from riskcore.data.folder import PAIR_STEMS
from riskcore.data.labels import UNSPLIT
from riskcore.data.profile import SplitProfile
from riskcore.data.tables import FORMATS
from riskcore.data.uses import UseKind
from riskcore.errors import ConfigError

NO_SOURCE = "(no source: learn from labels given here)"
OWN_TEST = "(the source's own test split)"
SOURCE, TARGET = "form source", "form target"  # keys of the two lists
_TAKEN = "form target of the address"
RATIO = "Enter a ratio such as 2:2:6 under More settings, Re-split"


def take_target(known: Mapping[str, KnownSet]) -> bool:
    """Choose the target that the address names, once; returns whether it did. What cannot be one is reported."""
    asked = st.query_params.get("target")
    if asked is None or st.session_state.get(_TAKEN) == asked:
        return False
    st.session_state[_TAKEN] = asked
    if asked not in known or not has_pairs(asked):
        why = "has no candidate pairs yet" if asked in known else "is no known data set"
        st.warning(f"{literal(asked, 120)} {why}, so it cannot be the target.", icon=":material/warning:")
        return False
    st.session_state[SOURCE], st.session_state[TARGET] = NO_SOURCE, asked
    return True


def has_pairs(path: str) -> bool:
    """Whether a data set has a file of pairs. Its content is not read: the list has many sets."""
    place = Path(path)
    return place.is_file() or any(
        (place / f"{stem}{ending}").is_file() for stem in PAIR_STEMS.values() for ending in FORMATS
    )


def choose_data(known: Mapping[str, KnownSet]) -> tuple[str, str | None] | None:
    """Source ("" for none) and target (None for the source's own test split); None where there is no target."""
    with_pairs = [path for path in known if has_pairs(path)]
    columns = st.columns(2, gap="large")
    others = (path for path in with_pairs if path != st.session_state.get(TARGET))
    st.session_state.setdefault(SOURCE, next(others, NO_SOURCE))

    def words(path: str) -> str:
        return short(known[path].title, 80) if path in known else path

    source = columns[0].selectbox(
        "Source", [NO_SOURCE, *with_pairs], format_func=words, key=SOURCE, help="Labelled data to train on."
    )
    own = [] if source == NO_SOURCE else [OWN_TEST]
    targets = [*(path for path in with_pairs if path != source), *own]
    target = columns[1].selectbox(
        "Target", targets, format_func=words, key=TARGET, help="Data to adapt to. Labels are optional."
    )
    if source == NO_SOURCE:
        columns[0].caption("About a hundred pairs of the target are labelled here, and the matcher learns from them.")
    else:
        columns[0].caption(fact_line(profile_of(source)))
    if target in known:
        columns[1].caption(fact_line(profile_of(target)))
    _name_others([one for path, one in known.items() if path not in with_pairs])
    if target is None:
        st.info("No data set has pairs to decide. Add one on the Data sets screen.", icon=":material/info:")
        return None
    return "" if source == NO_SOURCE else source, None if target == OWN_TEST else target


def _name_others(others: Sequence[KnownSet]) -> None:
    """Data sets that are not offered, and why."""
    if not others:
        return
    named = ", ".join(literal(one.title, 40) for one in others[:5]) + (" and others" if len(others) > 5 else "")
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.caption(f"Not offered, as they have no candidate pairs yet: {named}.", width="content")
    with row:
        st.page_link(SCREENS["data_sets"].path, label="Find candidates", icon=SCREENS["data_sets"].icon)


def profile_of(path: str) -> DataProfile:
    """The figures of a data set that can be used."""
    profile = figures_of(path).profile
    if profile is None:
        raise ConfigError(f"{short(path, 200)} has errors. See the Data sets screen, or choose another data set.")
    return profile


@dataclasses.dataclass(frozen=True)
class DataFacts:
    """The pairs of a run by what they are for, as far as the figures of its data tell."""

    learned: int  # labelled pairs to train on
    matches: int  # among the labels that choose and calibrate; without a source, also those that teach
    non_matches: int
    decided: int  # pairs of the target
    problem: str = ""  # why no run is possible, and what to do

    @property
    def labelled(self) -> bool:
        """Whether there are labels of both kinds to adapt by."""
        return bool(self.matches and self.non_matches)


def facts_of(source: str, target: str | None, split: str | None) -> DataFacts:
    """What a run on these data sets would have."""
    splits = {one.name: one for one in profile_of(target or source).splits}
    learned = known_in(profile_of(source).splits) if source and target else 0
    if split is not None:
        problem = _lacking(source, UseKind.SOURCE) if source else ""
        return dataclasses.replace(_split_again(list(splits.values()), learned), problem=problem)
    loose = splits.get(UNSPLIT)
    parts = [one for name in ("valid", *(() if source else ("train",)), UNSPLIT) if (one := splits.get(name))]
    matches, non_matches = sum(one.matches for one in parts), sum(one.non_matches for one in parts)
    decided = (splits["test"].pairs if "test" in splits else 0) + (loose.unlabelled if loose else 0)
    if source and target is None:
        learned = known_in([splits["train"]]) if "train" in splits else 0
    return DataFacts(learned, matches, non_matches, decided, _problem(source, target, learned, decided))


def _split_again(parts: Sequence[SplitProfile], learned: int) -> DataFacts:
    """A fifth of the labelled pairs validates; the rest and the unlabelled ones are decided. Rough, as any ratio may
    be asked for."""
    known = known_in(parts)
    matches, non_matches = sum(one.matches for one in parts), sum(one.non_matches for one in parts)
    decided = sum(one.pairs for one in parts) - 2 * known // 5
    return DataFacts(learned or known // 5, matches // 5, non_matches // 5, decided)


def _problem(source: str, target: str | None, learned: int, decided: int) -> str:
    if source and target and (lacking := _lacking(source, UseKind.SOURCE)):
        return lacking
    if not decided:
        whose = "source" if target is None else "target"
        return f"All pairs of the {whose} have labels, so none is left to decide. {RATIO}, or choose another data set."
    if source and target is None and not learned:
        return f"The source has no training pairs of its own. {RATIO}, or choose a target."
    return ""


def _lacking(path: str, kind: UseKind) -> str:
    """Why a data set cannot be used like this; empty if it can."""
    return next((str(use) for use in figures_of(path).uses if use.kind is kind and not use.possible), "")


def known_in(parts: Sequence[SplitProfile]) -> int:
    """How many pairs have a label."""
    return sum(one.matches + one.non_matches for one in parts)
