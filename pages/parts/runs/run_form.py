"""The form of a new run: data, matcher, methods and settings, and an estimate of its time."""

from __future__ import annotations

import dataclasses

import streamlit as st

from pages.parts.data.known_sets import KnownSet, known_sets, register
from pages.parts.data.set_view import edit_map, map_problem
from pages.parts.frame.actions import barred
from pages.parts.frame.palette import method_words
from pages.parts.runs.form_data import choose_data, facts_of, profile_of
from pages.parts.runs.run_picker import store
from riskcore.config import AdaptConfig, DataConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.data import DataProfile
from riskcore.registry import MATCHERS, METHODS
from riskcore.runs.readers.forecast import Forecast, forecast
from riskcore.training.costs import RunSizes


@dataclasses.dataclass(frozen=True)
class FormSettings:
    """The settings of the form that are numbers or text."""

    epochs: int
    iterations: int
    seed: int
    validation_size: int | None
    train_fraction: float
    split: str | None
    leave_out: tuple[str, ...] = ()  # attributes


@dataclasses.dataclass(frozen=True)
class FilledForm:
    """A run that can be started, its name ("" for the usual one), and whether it has labels to adapt by."""

    config: RunConfig
    name: str
    labelled: bool


def run_form() -> FilledForm | None:
    """Draw the form; returns the run, or None while something is missing."""
    known = known_sets()
    if not known:
        st.info("There are no data sets yet. Add one on the Data sets screen.", icon=":material/info:")
        return None
    chosen = choose_data(known)
    if chosen is None:
        return None
    source, target = chosen
    matcher, methods = _choose_model() if source else _without_source()
    profiles = [profile_of(path) for path in (source, target) if path]
    names = dict.fromkeys(attribute.name for profile in profiles for attribute in profile.attributes)
    settings = _settings(bool(source), list(names))
    facts = facts_of(source, target, settings.split)
    if facts.problem:
        st.warning(facts.problem, icon=":material/warning:")
        return None
    attribute_map = choose_map(known, source, target, profiles)
    if attribute_map is None:
        return None
    used = [one for one in attribute_map if not set(one.split("=")) & set(settings.leave_out)]
    types = {name: kind for name, kind in known[source or str(target)].types.items() if name not in settings.leave_out}
    config = RunConfig(
        source=source,
        target=target,
        attribute_map=tuple(used),
        types=tuple(f"{name}={kind}" for name, kind in types.items()),
        matcher=matcher,
        tune=TuneConfig(epochs=settings.epochs),
        adapt=AdaptConfig(iterations=settings.iterations),
        methods=methods,
        seed=settings.seed,
        validation_size=settings.validation_size,
        train_fraction=settings.train_fraction,
        split=settings.split,
        data=DataConfig(leave_out=settings.leave_out),
    )
    name = st.text_input("Name", placeholder="source to target", max_chars=80, key="form name").strip()
    return FilledForm(config, name, facts.labelled and settings.validation_size != 0)


def _choose_model() -> tuple[MatcherConfig, tuple[str, ...]]:
    columns = st.columns(2, gap="large")
    with columns[0]:
        matcher = _choose_matcher()
    with columns[1]:
        methods = _choose_methods()
    return matcher, ("tradition", *methods)


def _without_source() -> tuple[MatcherConfig, tuple[str, ...]]:
    """A hundred labels train no network: the similarity of records is stacked with forests and rules."""
    return MatcherConfig(kind="similarity"), RunConfig().methods


def _choose_matcher() -> MatcherConfig:
    words = {spec.name: f"{spec.name} · {spec.words}" for spec in MATCHERS if spec.offered}
    kind = st.selectbox("Matcher", list(words), format_func=words.__getitem__, key="form matcher")
    wide = st.toggle("Give the metrics to the matcher too", key="form wide", help=_why(MatcherConfig, "wide"))
    return MatcherConfig(kind=kind, wide=wide)


def _choose_methods() -> list[str]:
    options = [method for method in METHODS.names() if method != "tradition"]
    return st.pills(
        "Methods, in addition to tradition",
        options,
        selection_mode="multi",
        default=["risk", "risk+", "supervised", "forest"],
        key="form methods",
        help=method_words(METHODS.names()),
    )


def _settings(with_source: bool, attributes: list[str]) -> FormSettings:
    epochs, iterations = TuneConfig().epochs, AdaptConfig().iterations
    columns = st.columns(3)
    if with_source:
        epochs = columns[0].number_input(
            "Epochs on the source", 1, 200, 20, key="form epochs", help=_why(TuneConfig, "epochs")
        )
        iterations = columns[1].number_input(
            "Iterations on the target", 1, 100, 10, key="form iterations", help=_why(AdaptConfig, "iterations")
        )
    seed = columns[2 if with_source else 0].number_input(
        "Seed", 0, 2**31 - 1, 0, key="form seed", help=_why(RunConfig, "seed")
    )
    with st.expander("More settings", icon=":material/tune:"):
        columns = st.columns(3)
        valid = columns[0].number_input(
            "Validation pairs",
            0,
            None,
            None,
            key="form valid",
            placeholder="all",
            help=_why(RunConfig, "validation_size"),
        )
        share = columns[1].slider(
            "Fraction of the training pairs",
            0.05,
            1.0,
            1.0,
            0.05,
            key="form share",
            help=_why(RunConfig, "train_fraction"),
        )
        split = columns[2].text_input(
            "Re-split", key="form split", placeholder="2:2:6", help=_why(RunConfig, "split"), max_chars=20
        )
        left_out = st.multiselect(
            "Attributes to leave out", attributes, key="form leave out", help=_why(DataConfig, "leave_out")
        )
    return FormSettings(int(epochs), int(iterations), int(seed), valid, share, split.strip() or None, tuple(left_out))


def choose_map(
    known: dict[str, KnownSet], source: str, target: str | None, profiles: list[DataProfile]
) -> tuple[str, ...] | None:
    """SOURCE=TARGET for all mapped attributes whose names differ; None while the map is invalid."""
    if target is None or not source:
        return ()
    ours, theirs = ([attribute.name for attribute in profile.attributes] for profile in profiles)
    saved = known[target].maps.get(source, {})
    if set(ours) <= set(theirs) and not saved:
        return ()
    with st.expander("Attribute map", expanded=not set(ours) & set(theirs), icon=":material/link:"):
        chosen = edit_map(ours, theirs, saved, f"form map {source} {target}")
        if problem := map_problem(chosen):
            st.warning(problem, icon=":material/warning:")
            return None
        if chosen != saved and st.button("Save the map", icon=":material/save:", disabled=barred(register)):
            register(target, maps={source: chosen})
    return tuple(f"{ours}={theirs}" for ours, theirs in chosen.items() if ours != theirs)


def forecast_of(config: RunConfig) -> Forecast:
    """How long the run will take here, by what earlier runs with the same matcher took."""
    return forecast(store(), config, planned_sizes(config))


def planned_sizes(config: RunConfig) -> RunSizes:
    """The number of pairs of the run, from the figures of its data."""
    facts = facts_of(config.source, config.target, config.split)
    valid = facts.matches + facts.non_matches
    if config.validation_size is not None:
        valid = min(valid, config.validation_size)
    if not config.source:  # one half of the labels teaches, the other validates
        return RunSizes(valid - valid // 2, valid // 2, facts.decided)
    return RunSizes(int(facts.learned * config.train_fraction), valid, facts.decided)


def _why(config: type, field: str) -> str:
    return next(f.metadata["why"] for f in dataclasses.fields(config) if f.name == field)
