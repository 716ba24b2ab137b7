"""Writing a run's bundle, once all methods have answered."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from riskcore.columns import LEFT_ROW, RIGHT_ROW
from riskcore.config import RunConfig
from riskcore.data.mapping import parse_map
from riskcore.data.pairs import Pairs
from riskcore.data.workload import Workload
from riskcore.matchers.base import Arrays
from riskcore.metrics.matrix import SpaceFacts
from riskcore.provenance import versions
from riskcore.runs.bundle import contents
from riskcore.runs.bundle.contents import AttributeFacts, BundleFacts, MethodFacts, SpaceDocument
from riskcore.runs.folder import RunFolder, answering_method
from riskcore.runs.label_names import named_labels
from riskcore.storage.arrays import write_arrays
from riskcore.storage.files import folder_in_place, remove_folder, write_json, write_parquet, write_text
from riskcore.storage.jsonable import jsonable
from riskcore.training.evidence import Evidence
from riskcore.training.fitted_learners import FittedLearners
from riskcore.training.results import LabelRisk, MethodResult
from riskcore.version import __version__

START_METHOD = "tradition"  # whose matcher every other method starts from


def write_bundle(
    folder: RunFolder,
    workload: Workload,
    config: RunConfig,
    evidence: Evidence,
    learners: FittedLearners | None,
    results: Mapping[str, MethodResult],
    left_out: Collection[str] = (),
) -> None:
    """All that `riskcore apply` needs, whole or not at all. `left_out` are ids of validation pairs that no learner was
    given. Methods that answer without a matcher, the forests, are not part of it."""
    able = {name: one for name, one in results.items() if one.learned}
    if START_METHOD not in able or not evidence.spaces:
        return
    remove_folder(folder.bundle)
    for old in folder.path.glob(f".{folder.bundle.name}-*"):
        shutil.rmtree(old, ignore_errors=True)
    with folder_in_place(folder.bundle) as place:
        states = _write_matchers(place, able, learners)
        used = {name: named_labels(one.labels_used, config, workload) for name, one in able.items()}
        methods = {name: _method(folder, one, states[name], used[name]) for name, one in able.items()}
        _write_models(place, folder, methods)
        _write_words(place / contents.WORDS, evidence.spaces)
        write_text(place / contents.RULES, evidence.rules.to_json())
        if learners is not None:
            write_arrays(place / contents.LEARNERS, learners.arrays())
        shutil.copyfile(folder.records_file, place / contents.RECORDS)
        _write_known_pairs(place / contents.KNOWN_PAIRS, evidence, able, left_out)
        facts: BundleFacts = {
            "format": contents.FORMAT,
            "run": folder.path.name,
            "name": folder.run()["name"],
            "answer": answering_method(list(able)),
            "methods": methods,
            "config": dataclasses.asdict(config),
            "attributes": _attributes(workload, config),
            "self_join": workload.target.left is workload.target.right,
            "spaces": [_space(one) for one in evidence.spaces],
            "learners": None if learners is None else learners.facts(),
            "version": __version__,
            "versions": versions(),
        }
        if workload.sample is not None:
            facts["sampled"] = True
        write_json(place / contents.ABOUT, facts)


def _write_matchers(place: Path, able: Mapping[str, MethodResult], learners: FittedLearners | None) -> dict[str, str]:
    """A file for each state of the matcher that differs from the start; the name of each method's."""
    start, states = able[START_METHOD].learned, {}
    write_arrays(_weights_file(place, contents.START), start)
    if learners is not None and learners.fine_tuned:
        write_arrays(_weights_file(place, contents.FINE_TUNED), learners.fine_tuned)
    for name, result in able.items():
        states[name] = contents.START if _equal(result.learned, start) else name
        if states[name] == name:
            write_arrays(_weights_file(place, name), result.learned)
    return states


def _weights_file(place: Path, state: str) -> Path:
    return place / contents.MATCHERS / f"{state}.safetensors"


def _equal(one: Arrays, other: Arrays) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def _method(folder: RunFolder, result: MethodResult, state: str, labels: list[str]) -> MethodFacts:
    ranking, risk = None, result.risk
    if risk is not None and risk.model is not None:
        ranking = {**dataclasses.asdict(risk.model), "before_competition": None}
    has_iterations = result.method in folder.methods()
    return {
        "iteration": folder.kept(result.method, result.record) if has_iterations else None,
        "labels_used": labels,
        "weights": state,
        "stacked": result.stacked,
        "ranked_with_start": result.validated is None,
        "ranked_by": None if risk is None else risk.ranked_by,
        "ranking": cast(dict[str, Any] | None, jsonable(ranking)),
    }


def _write_models(place: Path, folder: RunFolder, methods: Mapping[str, MethodFacts]) -> None:
    for name, facts in methods.items():
        if facts["iteration"] is not None:
            model = folder.model(name, facts["iteration"])
            write_text(place / contents.MODELS / f"{name}.json", model.to_json())


def _write_words(file: Path, spaces: tuple[SpaceFacts, ...]) -> None:
    """How often each word occurs; the words of whole records under an empty name."""
    tables = []
    for number, space in enumerate(spaces):
        named = [(one.name, known.rarity) for one, known in zip(space.attributes, space.statistics, strict=True)]
        for name, rarity in (*named, (contents.WHOLE_RECORD, space.rarity)):
            frequency = sorted(rarity.frequency.items())  # words come from sets: every process has another order
            count = len(frequency)
            columns = {
                contents.SPACE: pa.array(np.full(count, number), pa.int8()),
                contents.ATTRIBUTE: pa.array([name] * count, pa.large_string()),
                contents.WORD: pa.array([word for word, _ in frequency], pa.large_string()),
                contents.COUNT: pa.array([times for _, times in frequency], pa.int32()),
            }
            tables.append(pa.table(columns))
    write_parquet(file, pa.concat_tables(tables), rows_per_group=1_000_000)


def _space(space: SpaceFacts) -> SpaceDocument:
    return {
        "attributes": [one.name for one in space.attributes],
        "documents": [one.rarity.documents for one in space.statistics],
        "years": [one.number_format.years for one in space.statistics],
        "durations": [one.number_format.durations for one in space.statistics],
        "record_attributes": list(space.record_attributes),
        "record_documents": space.rarity.documents,
        "leads": space.leads,
        "record_name": space.record_name,
    }


def _attributes(workload: Workload, config: RunConfig) -> list[AttributeFacts]:
    """The attributes with their names in the target's files, which the run's tables do not have."""
    mapped = parse_map(config.attribute_map)
    shared = [one.name for one in workload.attributes]
    found: list[AttributeFacts] = []
    for one in workload.attributes:
        column = mapped.get(one.name, one.name)
        found.append({"name": one.name, "type": one.type.value, "column": column, "target_only": False})
    for one in workload.target_only:
        column = one.name
        while column.endswith("_") and column[:-1] in shared:  # as `target_only_attributes` tells them apart
            column = column[:-1]
        found.append({"name": one.name, "type": one.type.value, "column": column, "target_only": True})
    return found


def _write_known_pairs(
    file: Path, evidence: Evidence, able: Mapping[str, MethodResult], left_out: Collection[str]
) -> None:
    """Pairs that may compete with new ones, target pairs last; no file where no method lets candidates compete."""
    before = {name: _before_competition(one.risk) for name, one in able.items()}
    before = {name: values for name, values in before.items() if values is not None}
    if not before:
        return
    validation, target, source = (
        part.examples.pairs for part in (evidence.validation, evidence.target, evidence.source)
    )
    trusted = np.array([pair not in left_out for pair in validation.ids], dtype=bool)
    parts = [_known(validation.take(trusted), evidence.validation.labels[trusted])]
    if source.left is target.left and source.right is target.right:
        parts.append(_known(source, evidence.source.labels))
    columns = _known(target, None)
    for name, values in before.items():
        columns = columns.append_column(contents.BEFORE_COMPETITION + name, pa.array(values, pa.float64()))
    write_parquet(file, pa.concat_tables([*parts, columns], promote_options="default"))


def _before_competition(risk: LabelRisk | None) -> np.ndarray | None:
    return None if risk is None or risk.model is None else risk.model.before_competition


def _known(pairs: Pairs, labels: np.ndarray | None) -> pa.Table:
    known = pa.nulls(len(pairs), pa.int8()) if labels is None else pa.array(labels, pa.int8())
    return pa.table(
        {
            LEFT_ROW: pa.array(pairs.left_rows, pa.int64()),
            RIGHT_ROW: pa.array(pairs.right_rows, pa.int64()),
            contents.KNOWN_LABEL: known,
        }
    )
