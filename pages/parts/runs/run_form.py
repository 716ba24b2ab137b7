"""The form of a new run: data, matcher, methods and settings, and an estimate of its time."""

from __future__ import annotations

import dataclasses

import streamlit as st

from pages.parts.data.figures import figures_of
from pages.parts.data.known_sets import KnownSet, known_sets, register
from pages.parts.data.set_view import edit_map, fact_line, map_problem
from pages.parts.frame.palette import method_words
from pages.parts.frame.text import short
from pages.parts.runs.run_picker import store
from riskcore.config import AdaptConfig, MatcherConfig, RunConfig, TuneConfig
from riskcore.data import DataProfile
from riskcore.data.uses import UseKind
from riskcore.errors import ConfigError
from riskcore.registry import MATCHERS, METHODS
from riskcore.runs import start
from riskcore.runs.readers.time_left import estimate_seconds, finished_alike, past_seconds
from riskcore.training.costs import RunSizes

OWN_TEST = "(the source's own test split)"


@dataclasses.dataclass(frozen=True)
class FormSettings:
    """The settings of the form that are numbers or text."""

    epochs: int
    iterations: int
    seed: int
    validation_size: int | None
    train_fraction: float
    split: str | None


def run_form() -> tuple[RunConfig, str] | None:
    """Draw the form; returns the config and the name, or None while something is missing."""
    known = known_sets()
    if not known:
        st.info("There are no data sets yet. Add one on the Data sets screen.", icon=":material/info:")
        return None
    source, target = _choose_data(known)
    profiles = [_profile(path) for path in (source, target) if path]
    columns = st.columns(2, gap="large")
    with columns[0]:
        matcher = _choose_matcher()
    with columns[1]:
        methods = _choose_methods()
    settings = _settings()
    attribute_map = choose_map(known, source, target, profiles)
    if _is_impossible(source, target, settings.split) or attribute_map is None:
        return None
    config = RunConfig(
        source=source,
        target=target,
        attribute_map=attribute_map,
        types=tuple(f"{name}={kind}" for name, kind in known[source].types.items()),
        matcher=matcher,
        tune=TuneConfig(epochs=settings.epochs),
        adapt=AdaptConfig(iterations=settings.iterations),
        methods=("tradition", *methods),
        seed=settings.seed,
        validation_size=settings.validation_size,
        train_fraction=settings.train_fraction,
        split=settings.split,
    )
    return config, st.text_input("Name", placeholder="source to target", max_chars=80, key="form name").strip()


def _choose_data(known: dict[str, KnownSet]) -> tuple[str, str | None]:
    paths = list(known)

    def words(path: str) -> str:
        return path if path == OWN_TEST else short(known[path].title, 80)

    columns = st.columns(2, gap="large")
    source = columns[0].selectbox(
        "Source", paths, format_func=words, key="form source", help="Labelled data to train on."
    )
    others = [path for path in paths if path != source]
    target = columns[1].selectbox(
        "Target",
        [*others, OWN_TEST],
        format_func=words,
        key="form target",
        help="Data to adapt to. Labels are optional.",
    )
    columns[0].caption(fact_line(_profile(source)))
    if target != OWN_TEST:
        columns[1].caption(fact_line(_profile(target)))
    return source, None if target == OWN_TEST else target


def _is_impossible(source: str, target: str | None, split: str | None) -> bool:
    """Whether the data cannot be used like this; says why, so that no run has to fail."""
    wanted = [(source, UseKind.ALONE)] if target is None else [(source, UseKind.SOURCE), (target, UseKind.TARGET)]
    lacking = [
        use
        for path, kind in wanted
        for use in figures_of(path).uses
        if use.kind is kind and not use.possible and not (split and kind is not UseKind.SOURCE)
    ]
    for use in lacking:
        st.warning(str(use), icon=":material/warning:")
    return bool(lacking)


def _profile(path: str) -> DataProfile:
    profile = figures_of(path).profile
    if profile is None:
        raise ConfigError(f"{short(path, 200)} has errors. See the Data sets screen, or choose another data set.")
    return profile


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


def _settings() -> FormSettings:
    columns = st.columns(3)
    epochs = columns[0].number_input(
        "Epochs on the source", 1, 200, 20, key="form epochs", help=_why(TuneConfig, "epochs")
    )
    iterations = columns[1].number_input(
        "Iterations on the target", 1, 100, 10, key="form iterations", help=_why(AdaptConfig, "iterations")
    )
    seed = columns[2].number_input("Seed", 0, 2**31 - 1, 0, key="form seed", help=_why(RunConfig, "seed"))
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
    return FormSettings(int(epochs), int(iterations), int(seed), valid, share, split.strip() or None)


def choose_map(
    known: dict[str, KnownSet], source: str, target: str | None, profiles: list[DataProfile]
) -> tuple[str, ...] | None:
    """SOURCE=TARGET for all mapped attributes whose names differ; None while the map is invalid."""
    if target is None:
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
        if chosen != saved and st.button("Save the map", icon=":material/save:"):
            register(target, maps={source: chosen})
    return tuple(f"{ours}={theirs}" for ours, theirs in chosen.items() if ours != theirs)


def estimate_of(config: RunConfig) -> float:
    """Estimated seconds of the run, corrected by finished runs with the same matcher."""
    past = past_seconds(finished_alike(store().list(), config.matcher.kind))
    return estimate_seconds(config, planned_sizes(config), past)


def planned_sizes(config: RunConfig) -> RunSizes:
    """The number of pairs of the run, from the profiles of its data."""
    source = {split.name: split.pairs for split in _profile(config.source).splits}
    other = source if config.target is None else {s.name: s.pairs for s in _profile(config.target).splits}
    whole = sum(other.values())
    train = source.get("train", whole // 5) if config.target is None else sum(source.values())
    valid = other.get("valid", whole // 5)
    if config.validation_size is not None:
        valid = min(valid, config.validation_size)
    return RunSizes(int(train * config.train_fraction), valid, other.get("test", whole))


def start_run(config: RunConfig, name: str) -> str:
    """Create the run and start its worker."""
    record = store().create(config, name or None)
    start(store(), record.id)
    return record.id


def _why(config: type, field: str) -> str:
    return next(f.metadata["why"] for f in dataclasses.fields(config) if f.name == field)
