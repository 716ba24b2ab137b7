"""A finished cell is not run again, unless what it was made from has changed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from riskcore.bench.plan.ablations import ablated
from riskcore.bench.plan.cells import Cell
from riskcore.bench.plan.plans import BenchRequest, plan
from riskcore.bench.run import documents, worker
from riskcore.bench.run.averaging import comparable, stamp_of
from riskcore.bench.run.benchmark import RemainingWork
from riskcore.bench.run.documents import missing, read_document
from riskcore.bench.run.stamps import changed_settings, data_stamp, hardware, result_stamp, settings_stamp
from riskcore.bench.run.tables import COLUMNS, long_rows, summary, write_tables
from riskcore.bench.run.worker import run_cell
from riskcore.config import MatcherConfig, RuleConfig, RunConfig
from riskcore.provenance import versions
from tests.bench.made_up import document
from tests.bench.tiny import QUICK, data_root


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    request = BenchRequest(data_root(tmp_path / "data"), ("DA2DS",), seeds=1, methods=("risk", "forest"), base=QUICK)
    return plan("shift", request)[0][0]


def ignore(_: dict[str, Any]) -> None:
    pass


def test_a_cell_leaves_what_it_should(cell: Cell, tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = []
    run_cell(dataclasses.replace(cell, ablations=("no VaR",)), tmp_path, messages.append)
    document = read_document(cell, tmp_path)
    assert document is not None
    assert [(one["method"], one["ablation"]) for one in document["results"]] == [
        ("tradition", None), ("risk", None), ("forest", None), ("risk", "no VaR"),
    ]  # fmt: skip
    for result in document["results"]:
        assert 0 <= result["f1"] <= 1
        assert 0 <= result["unseen"]["f1"] <= 1
        assert result["twins"] == 0
        assert result["f1_without_twins"] == result["f1"]
        assert result["seconds"] >= 0
        assert result["code"] == result_stamp(result["ablation"])
        assert result["versions"] == versions()
        assert result["hardware"] == hardware()
    assert [row["iteration"] for row in document["results"][1]["iterations"]] == [0, 1]
    assert document["counts"] == {"source": 120, "validation": 40, "target": 40, "unseen": 40}
    assert document["seconds"]["total"] >= document["seconds"]["risk"]
    assert document["peak_rss_mb"] > 10
    assert document["settings"]["matcher.kind"] == "toy"
    assert [one["share"] for one in messages] == sorted(one["share"] for one in messages)
    assert not list((tmp_path / "checkpoints" / "shift").iterdir())
    assert missing(cell, document) == []


def test_only_missing_results_are_made(cell: Cell, tmp_path: Path) -> None:
    run_cell(cell.only([("forest", None)]), tmp_path, ignore)
    before = read_document(cell, tmp_path)
    assert missing(cell, before) == [("risk", None)]
    run_cell(cell.only([("risk", None)]), tmp_path, ignore)
    after = read_document(cell, tmp_path)
    assert before is not None
    assert after is not None
    assert missing(cell, after) == []
    forest = [[one for one in some["results"] if one["method"] == "forest"] for some in (before, after)]
    assert forest[0] == forest[1]


def test_other_code_counts_only_if_kept(cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_cell(cell.only([("forest", None)]), tmp_path, ignore)
    cell = cell.only([("forest", None)])
    monkeypatch.setattr(documents, "result_stamp", lambda ablation: "other")
    document = read_document(cell, tmp_path)
    assert missing(cell, document) == [("tradition", None), ("forest", None)]
    assert missing(cell, document, keep=True) == []
    assert not any(row["current"] for row in long_rows(documents.read_all(tmp_path)))


def test_other_settings_or_data_never_count(cell: Cell, tmp_path: Path) -> None:
    cell = cell.only([("tradition", None)])
    run_cell(cell, tmp_path, ignore)
    other = dataclasses.replace(cell, config=dataclasses.replace(cell.config, rule=RuleConfig(min_support=6)))
    assert read_document(other, tmp_path) is None
    assert read_document(cell, tmp_path) is not None
    with (Path(cell.config.source) / "train.csv").open("a") as lines:
        lines.write("1,2,0\n")
    from riskcore.bench.run import stamps

    stamps._files_hash.cache_clear()  # another process would read the files anew
    assert read_document(cell, tmp_path) is None
    cell.file(tmp_path).write_text("torn")
    assert read_document(cell, tmp_path) is None


def test_stamps_know_what_matters(tmp_path: Path) -> None:
    config = RunConfig(source="a", methods=("tradition",))
    assert settings_stamp(config) == settings_stamp(RunConfig(source="b", methods=("risk",)))
    assert settings_stamp(config) != settings_stamp(dataclasses.replace(config, seed=1))
    one, other = data_root(tmp_path / "one"), data_root(tmp_path / "other")
    assert data_stamp(RunConfig(source=str(one / "DA"))) == data_stamp(RunConfig(source=str(other / "DA")))
    assert data_stamp(RunConfig(source=str(one / "DA"))) != data_stamp(RunConfig(source=str(one / "DS")))
    assert changed_settings(RunConfig(matcher=MatcherConfig(kind="rnn"), seed=2)) == {"matcher.kind": "rnn", "seed": 2}


class KilledError(Exception):
    """Stands for a kill."""


def run_until(cell: Cell, out: Path, step: str | None) -> list[str]:
    """The steps of running the cell, killed at one of them."""
    steps: list[str] = []

    def send(message: dict[str, Any]) -> None:
        steps.append(message.get("step", ""))
        if steps[-1] == step:
            raise KilledError

    run_cell(cell, out, send)
    return steps


def test_a_killed_cell_resumes_from_its_checkpoint(cell: Cell, tmp_path: Path) -> None:
    cell = dataclasses.replace(cell, ablations=("no rules",))

    with pytest.raises(KilledError):
        run_until(cell, tmp_path, "forest")
    with pytest.raises(KilledError):
        run_until(cell, tmp_path, "risk (no rules)")
    assert missing(cell, read_document(cell, tmp_path)) == [("risk", "no rules")]
    remaining = RemainingWork.of([cell], tmp_path, keep=False)
    assert remaining.cells == [cell]  # the whole of it, to find its checkpoints
    assert remaining.known == {}
    steps = run_until(cell, tmp_path, None)
    assert not [step for step in steps if step.startswith(("tradition epoch", "risk iteration", "forest"))]
    document = read_document(cell, tmp_path)
    assert document is not None
    assert missing(cell, document) == []
    assert {"tradition", "risk", "forest", "risk (no rules)", "total"} <= set(document["seconds"])
    straight = tmp_path / "straight"
    run_cell(cell, straight, ignore)
    again = read_document(cell, straight)
    assert again is not None
    assert (document["resumed"], again["resumed"]) == (True, False)
    assert RemainingWork.of([cell], tmp_path, keep=False).known == {}
    more = dataclasses.replace(cell, config=dataclasses.replace(cell.config, seed=1))
    assert RemainingWork.of([cell, more], tmp_path, keep=False).known == {}
    known = RemainingWork.of([cell, more], straight, keep=False).known
    assert known == {more.cost_group: [pytest.approx(again["seconds"]["total"])]}
    part = more.only([("forest", None)])
    known = RemainingWork.of([cell.only([("forest", None)]), part], straight, keep=False).known
    assert known == {part.cost_group: [sum(again["seconds"][phase] for phase in ("evidence", "tradition", "forest"))]}
    scores = [[(one["method"], one["f1"], one["unseen"]) for one in some["results"]] for some in (document, again)]
    assert scores[0] == scores[1]


def test_added_ablations_resume_from_their_checkpoint(cell: Cell, tmp_path: Path) -> None:
    run_cell(cell, tmp_path, ignore)
    cell = dataclasses.replace(cell, ablations=("no rules", "no VaR", "no re-fit"))

    (remaining,) = RemainingWork.of([cell], tmp_path, keep=False).cells
    with pytest.raises(KilledError):
        run_until(remaining, tmp_path, "risk (no VaR) iteration 1 of 1")
    assert missing(cell, read_document(cell, tmp_path)) == [("risk", "no VaR"), ("risk", "no re-fit")]
    (remaining,) = RemainingWork.of([cell], tmp_path, keep=False).cells
    steps = run_until(remaining, tmp_path, None)
    assert not [step for step in steps if step.startswith(("tradition epoch", "risk (no rules) iteration"))]
    document = read_document(cell, tmp_path)
    assert document is not None
    assert missing(cell, document) == []
    assert document["resumed"]
    assert not list((tmp_path / "checkpoints" / "shift").iterdir())


def test_a_damaged_record_of_what_was_begun_stops_nothing(cell: Cell, tmp_path: Path) -> None:
    for number, text in enumerate(("", "{", '{"bench": 1}', cell.to_json())):
        note = tmp_path / "checkpoints" / "shift" / cell.name / str(number) / "cell.json"
        note.parent.mkdir(parents=True)
        note.write_text(text)
    assert RemainingWork.of([cell], tmp_path, keep=False).cells == [cell.only(cell.entries)]


def test_no_two_workloads_share_a_file(cell: Cell, tmp_path: Path) -> None:
    names = ["my data", "my-data", "my/data", "DA2DS"]
    files = {dataclasses.replace(cell, workload=name).file(tmp_path).name for name in names}
    assert len(files) == 4
    assert {"my-data.toy.seed0.json", "DA2DS.toy.seed0.json"} <= files


def test_what_another_benchmark_has_done_is_taken_over(tmp_path: Path) -> None:
    data = data_root(tmp_path / "data")
    request = BenchRequest(data, ("DA2DS",), seeds=1, methods=("forest",), base=QUICK)
    shift = plan("shift", request)[0][0]
    run_cell(shift, tmp_path, ignore)
    cells = plan("validation-size", dataclasses.replace(request, sizes=(10, None)))[0]
    remaining = RemainingWork.of(cells, tmp_path, keep=False)
    assert [cell.config.validation_size for cell in remaining.cells] == [10]
    borrowed = read_document(cells[1], tmp_path)
    assert borrowed is not None
    assert (borrowed["bench"], borrowed["variant"]) == ("validation-size", "all validation pairs")
    assert borrowed["results"] == (read_document(shift, tmp_path) or {})["results"]
    assert borrowed["seconds"] == {"total": 0.0}  # they were spent once


def test_a_wide_matcher_is_trained_anew_where_there_are_fewer_metrics(cell: Cell, tmp_path: Path) -> None:
    config = dataclasses.replace(cell.config, matcher=MatcherConfig(kind="toy", wide=True), methods=("risk",))
    cell = dataclasses.replace(cell, config=config, ablations=("no VaR", "no difference metrics"))
    messages: list[dict[str, Any]] = []
    run_cell(cell, tmp_path, messages.append)
    assert missing(cell, read_document(cell, tmp_path)) == []
    assert [one["share"] for one in messages] == sorted(one["share"] for one in messages)
    trained = {one["step"].split(" epoch")[0] for one in messages if " epoch" in one["step"]}
    assert trained == {"tradition", "tradition (no difference metrics)"}


def test_an_ablation_that_fails_takes_nothing_with_it(
    cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(config: RunConfig, ablation: str) -> RunConfig:
        if ablation == "no re-fit":
            raise KilledError
        return ablated(config, ablation)

    monkeypatch.setattr(worker, "ablated", broken)
    cell = dataclasses.replace(cell, ablations=("no VaR", "no re-fit"))
    with pytest.raises(KilledError):
        run_cell(cell, tmp_path, ignore)
    assert missing(cell, read_document(cell, tmp_path)) == [("risk", "no re-fit")]


@pytest.mark.parametrize("content", ["torn", "[]", '{"format": 2}', '{"format": 1, "results": []}', '{"format": 1}'])
def test_a_file_that_is_no_document_stops_nothing(cell: Cell, tmp_path: Path, content: str) -> None:
    run_cell(cell, tmp_path, ignore)
    for bench in ("shift", "validation-size"):
        file = tmp_path / "cells" / bench / "DA2DS.foreign.seed0.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    assert len(documents.read_all(tmp_path)) == 1
    notices = documents.unreadable(tmp_path)
    assert len(notices) == 2
    assert str(file) in notices[1]
    other = dataclasses.replace(cell, bench="validation-size")
    assert RemainingWork.of([cell, other], tmp_path, keep=False).cells == []


def row(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = dict.fromkeys(COLUMNS)
    return {**base, "bench": "shift", "workload": "DA2DS", "method": "risk", "current": True, **changes}


def test_only_what_was_made_with_the_same_is_averaged() -> None:
    rows = [row(seed=0, f1=0.5, shared_stamp="fast"), row(seed=1, f1=0.7), row(seed=2, f1=0.9, data_stamp="other")]
    assert [(one["seeds"], one["f1_mean"]) for one in summary(rows)] == [(1, 0.5), (1, 0.7), (1, 0.9)]


def test_seconds_since_a_resume_are_no_seconds_of_a_whole() -> None:
    rows = [row(seed=0, f1=0.5, seconds=100.0), row(seed=1, f1=0.7, seconds=1.0, resumed=True)]
    assert (summary(rows)[0]["seconds_mean"], summary(rows)[0]["seeds"]) == (100.0, 2)


def test_the_newest_settings_decide_and_the_others_are_named() -> None:
    old = [document("shift", "DA2DS", "", seed, {"risk": 90.0}) for seed in (1, 2)]
    new = document("shift", "DA2DS", "", 0, {"risk": 50.0}, settings={"tune.epochs": 3})
    new["results"][0]["at"] = "2001-01-01T00:00:00Z"
    other = document("shift", "DS2DA", "", 0, {"risk": 90.0})
    kept, left = comparable([*old, new, other])
    assert kept == [new, other]
    assert [notice.split(" left out")[0] for notice in left] == ["shift, DA2DS, hybrid: seeds 1, 2"]


def test_documents_of_before_agree_with_those_of_now(cell: Cell, tmp_path: Path) -> None:
    """They do not hold the stamp that all seeds share."""
    for seed in (0, 1):
        config = dataclasses.replace(cell.config, seed=seed)
        run_cell(dataclasses.replace(cell.only([]), config=dataclasses.replace(config, methods=())), tmp_path, ignore)
    first, second = documents.read_all(tmp_path)
    del second["shared_stamp"], second["resumed"]
    assert stamp_of(second) == stamp_of(first) == first["shared_stamp"]
    second["settings_stamp"] = "of other defaults"
    assert stamp_of(second) != stamp_of(first)
    assert comparable([first, second])[1]


def test_means_and_deviations() -> None:
    rows = [row(seed=0, f1=0.5), row(seed=1, f1=0.7), row(seed=0, method="forest", f1=0.9)]
    risk, forest = summary(rows)
    assert (risk["seeds"], risk["f1_mean"], risk["f1_deviation"]) == (2, pytest.approx(0.6), pytest.approx(0.02**0.5))
    assert (forest["seeds"], forest["f1_mean"], forest["f1_deviation"]) == (1, 0.9, None)
    assert risk["unseen_f1_mean"] is None


def test_the_tables(cell: Cell, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    assert write_tables(tmp_path) == []
    run_cell(cell, tmp_path, ignore)
    rows = write_tables(tmp_path)
    table = pq.read_table(tmp_path / "results.parquet")
    assert tuple(table.column_names) == COLUMNS
    assert table.to_pylist() == rows
    assert table.column("method").to_pylist() == ["tradition", "risk", "forest"]
    saved = json.loads((tmp_path / "results.json").read_text())
    assert [one["method"] for one in saved["summary"]] == ["tradition", "risk", "forest"]
    assert len(saved["cells"]) == 1
