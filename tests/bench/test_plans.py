"""Which cells a benchmark has, in which order, and what it says about data that is not there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from riskcore.bench.plan.ablations import ABLATIONS
from riskcore.bench.plan.cells import Cell
from riskcore.bench.plan.methods import default_methods
from riskcore.bench.plan.plans import BenchRequest, plan
from riskcore.bench.plan.workloads import find_workload, workload_or_none
from riskcore.config import MatcherConfig, RunConfig
from riskcore.errors import ConfigError
from riskcore.registry import METHODS
from riskcore.training.experiment import methods_of
from tests.bench.tiny import data_root

PUBLIC = {"DA": "authors", "DS": "authors", "CORA": "author", "AB": "x", "IA": "y", "MB20K": "z"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data_root(tmp_path_factory.mktemp("data"), **PUBLIC)


def test_the_methods_are_those_of_the_registry() -> None:
    assert set(default_methods(is_shift=True)) == set(METHODS.names())
    assert set(METHODS.names()) - set(default_methods(is_shift=False)) == {"transfer"}


def test_the_six_shifts_seed_by_seed(data: Path) -> None:
    cells, notices = plan("shift", BenchRequest(data, seeds=2))
    assert [cell.workload for cell in cells[:6]] == ["DA2DS", "DA2CORA", "CORA2DS", "CORA2DA", "DS2DA", "DS2CORA"]
    assert [cell.seed for cell in cells] == [0] * 6 + [1] * 6
    maps = {cell.workload: cell.config.attribute_map for cell in cells}
    assert maps["DA2CORA"] == ("authors=author",)
    assert maps["CORA2DS"] == ("author=authors",)
    assert maps["DA2DS"] == ()
    assert notices == []
    assert {cell.config.methods for cell in cells} == {default_methods(is_shift=True)}
    assert {(cell.config.matcher.kind, cell.config.matcher.wide) for cell in cells} == {("hybrid", False)}


def test_same_source_is_the_papers(data: Path) -> None:
    cells, _ = plan("same-source", BenchRequest(data, seeds=1))
    variants: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        variants.setdefault((cell.workload, cell.matcher), []).append(cell.variant)
    fractions, splits = ["10 %", "30 %", "50 %", "70 %", "100 %"], ["6:2:2", "5:2:3", "4:2:4", "3:2:5", "2:2:6"]
    assert variants == {
        **{(name, "hybrid"): fractions for name in ("DS", "DA", "CORA", "IA", "MB20K")},
        ("AB", "hybrid"): splits,
        ("AB", "ditto"): splits,
        ("IA", "ditto"): fractions,
    }
    ditto = [cell.matcher == "ditto" for cell in cells]
    assert ditto == sorted(ditto)  # the slow ones come last
    assert all(cell.config.split == ("2:2:6" if "%" in cell.variant else cell.variant) for cell in cells)
    assert "transfer" not in cells[0].config.methods


def test_a_part_of_it(data: Path) -> None:
    request = BenchRequest(data, workloads=("AB",), seeds=3, fractions=(0.5,), matchers=("rnn",), methods=("risk",))
    cells, _ = plan("same-source", request)
    assert [cell.title for cell in cells] == [f"AB, 50 %, rnn, seed {seed}" for seed in range(3)]
    assert cells[0].config.train_fraction == 0.5
    assert cells[0].entries == (("tradition", None), ("risk", None))


def test_validation_sizes_that_there_are(data: Path) -> None:
    cells, notices = plan(
        "validation-size", BenchRequest(data, workloads=("DA", "DA2DS"), seeds=1, sizes=(10, 30, None))
    )
    assert [(cell.workload, cell.config.validation_size) for cell in cells] == [
        ("DA", 10), ("DA", None), ("DA2DS", 10), ("DA2DS", 30), ("DA2DS", None),
    ]  # fmt: skip
    assert cells[0].config.train_fraction == 0.1
    assert cells[0].config.split == "2:2:6"
    assert cells[2].config.split is None
    assert notices == ["DA: 30 validation pairs left out, there are 24."]


def test_fractions_of_several_splits(data: Path) -> None:
    request = BenchRequest(data, workloads=("DA",), seeds=1, splits=("2:2:6", "6:2:2"), fractions=(0.1, 1.0))
    cells, _ = plan("same-source", request)
    assert [(cell.variant, cell.config.split, cell.config.train_fraction) for cell in cells] == [
        ("10 %", "2:2:6", 0.1), ("100 %", "2:2:6", 1.0), ("6:2:2, 10 %", "6:2:2", 0.1), ("6:2:2", "6:2:2", 1.0),
    ]  # fmt: skip
    assert cells[2].name == "DA.6-2-2-10-percent.hybrid.seed0"


def test_validation_sizes_of_several_training_parts(data: Path) -> None:
    request = BenchRequest(data, workloads=("DA", "AB"), seeds=1, sizes=(10,))
    assert [cell.name for cell in plan("validation-size", request)[0]] == [
        "DA.10-validation-pairs.hybrid.seed0", "AB.10-validation-pairs.hybrid.seed0",
    ]  # fmt: skip
    request = dataclasses.replace(request, workloads=("DA",), splits=("2:2:6", "6:2:2"), fractions=(0.1, 0.5))
    cells, _ = plan("validation-size", request)
    assert [(cell.variant, cell.config.split, cell.config.train_fraction) for cell in cells] == [
        ("10 validation pairs", "2:2:6", 0.1), ("50 %, 10 validation pairs", "2:2:6", 0.5),
        ("6:2:2, 10 %, 10 validation pairs", "6:2:2", 0.1), ("6:2:2, 50 %, 10 validation pairs", "6:2:2", 0.5),
    ]  # fmt: skip
    assert len({cell.name for cell in cells}) == 4


def test_two_data_sets_have_parts_of_their_own(data: Path) -> None:
    request = BenchRequest(data, workloads=("DA2DS",), seeds=1, sizes=(10,), splits=("6:2:2",))
    cells, notices = plan("validation-size", request)
    assert cells[0].config.split is None
    assert "--split" in notices[0]


def test_sizes_that_are_left_out_are_reported_once(data: Path) -> None:
    request = BenchRequest(data, workloads=("DA",), seeds=1, sizes=(10, 30), matchers=("rnn", "sif"))
    assert len(plan("validation-size", request)[1]) == 1


@pytest.mark.parametrize("methods", [(), ("risk", "supervised", "forest")])
def test_foreign_scores_are_asked_for_nothing_they_cannot_do(data: Path, methods: tuple[str, ...]) -> None:
    base = RunConfig(matcher=MatcherConfig(kind="external", scores="scores.csv"))
    cells, _ = plan("shift", BenchRequest(data, workloads=("DA2DS",), seeds=1, methods=methods, base=base))
    worked = set(methods_of(cells[0].config))
    assert {method for method, _ in cells[0].entries} == worked
    assert "supervised" not in worked


def test_missing_folders(data: Path, tmp_path: Path) -> None:
    some = data_root(tmp_path, DA="authors", DS="authors")
    cells, notices = plan("shift", BenchRequest(some, seeds=1))
    assert [cell.workload for cell in cells] == ["DA2DS", "DS2DA"]
    assert "DA2CORA" in notices[0]
    with pytest.raises(ConfigError, match="none of DA2DS"):
        plan("shift", BenchRequest(tmp_path / "DA"))
    with pytest.raises(ConfigError, match="DA, DS"):
        plan("shift", BenchRequest(some, workloads=("DA2XX",)))
    with pytest.raises(ConfigError, match="not a folder"):
        plan("shift", BenchRequest(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="needs two"):
        plan("shift", BenchRequest(some, workloads=("DA",)))
    with pytest.raises(ConfigError, match="needs one"):
        plan("same-source", BenchRequest(some, workloads=("DA2DS",)))


def test_names_with_a_two_of_their_own(data: Path) -> None:
    assert workload_or_none(data, "MB20K2DA") is not None
    assert find_workload(data, "MB20K").target is None
    place = find_workload(data, "DA2MB20K", ["authors=z"])
    assert (place.source.name, place.target and place.target.name) == ("DA", "MB20K")
    assert place.attribute_map == ("authors=z",)


def test_a_cell_survives_its_trip(data: Path) -> None:
    cells, _ = plan("same-source", BenchRequest(data, seeds=1, ablations=tuple(ABLATIONS)))
    for cell in cells:
        assert Cell.from_json(cell.to_json()) == cell
    assert len({cell.name for cell in cells}) == len(cells)
    some = cells[0].only([("forest", None), ("risk", "no VaR")])
    assert some.entries == (("tradition", None), ("forest", None), ("risk", "no VaR"))
    assert some.file(Path()) == cells[0].file(Path())
    assert some.checkpoints(Path()) != cells[0].checkpoints(Path())
    assert dataclasses.replace(cells[0], config=RunConfig(seed=7)).name.endswith("seed7")


def test_what_is_asked_for_twice_is_planned_once(data: Path) -> None:
    once, _ = plan("same-source", BenchRequest(data, ("DA",), seeds=1, fractions=(0.1,)))
    twice, _ = plan(
        "same-source", BenchRequest(data, ("DA", "DA/"), seeds=1, fractions=(0.1, 0.1), matchers=("hybrid",) * 2)
    )
    assert twice == once
