"""What the report says of results, that it keeps what a person wrote, and that its figures are small."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from scipy import stats
from typer.testing import CliRunner

from riskcore.bench.plan.cells import Cell
from riskcore.bench.plan.plans import BenchRequest, plan
from riskcore.bench.report import images, write
from riskcore.bench.report import page as report
from riskcore.bench.report.commands import commands
from riskcore.bench.report.differences import compare_methods, compare_with_paper
from riskcore.bench.report.figures import figures
from riskcore.bench.report.images import NoBrowserError, find_browser
from riskcore.bench.report.means import grouped
from riskcore.bench.report.page import NOTES, kept_notes, render
from riskcore.bench.report.paper import SHIFT, PaperFigure, paper_figure
from riskcore.cli import app
from riskcore.registry import METHODS
from tests.bench.made_up import document
from tests.bench.tiny import QUICK, data_root

SCORES = {"tradition": 80.0, "supervised": 90.0, "forest": 93.5, "risk": 93.0, "risk+": 93.3}


def made_up() -> list[dict[str, Any]]:
    cells = [
        document("shift", workload, "", seed, {**SCORES, "risk": 93.0 + seed, ("risk", "no VaR"): 91.0})
        for workload in ("DS2DA", "DA2DS")
        for seed in range(2)
    ]
    cells += [
        document("same-source", "DS", f"{share} %", 0, SCORES, split="2:2:6", train_fraction=share / 100)
        for share in (100, 10)
    ]
    sizes: list[tuple[str, int | None]] = [("all", None), ("100", 100), ("50", 50)]
    cells += [
        document("validation-size", "AB", f"{name} validation pairs", 0, SCORES, split="2:2:6", validation_size=size)
        for name, size in sizes
    ]
    return cells


def cells_of(page: str, start: str) -> list[str]:
    line = next(line for line in page.splitlines() if line.startswith(start))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_results_stand_next_to_the_papers() -> None:
    page = render(made_up(), {})
    assert cells_of(page, "| DA2DS | 2 | 19.86") == [
        *("DA2DS", "2", "19.86 ± 5.12", "43.81 ± 11.88", "91.67 ± 0.56"),
        *("80.00 ± 0.00", "90.00 ± 0.00", "**93.50 ± 0.00**", "**93.50 ± 0.71**", "93.30 ± 0.00"),
    ]
    assert cells_of(page, "| DA2DS | 2 | 91.67") == [
        "DA2DS",
        "2",
        "91.67 ± 0.56",
        "93.50 ± 0.71",
        "level (+1.83 ± 3.24)",
        "93.30 ± 0.00",
    ]
    assert cells_of(page, "| DS2DA | 2 | 94.18")[4] == "level (-0.68 ± 2.25)"
    assert cells_of(page, "| DS, 10 % | 1 | over 92")[4] == "one seed, not known (+1.00)"
    assert "0 above, 2 level, 0 below, 1 one seed, not known" in page
    assert "One seed has no deviation" not in page  # nor has the paper, where we have one seed
    assert cells_of(page, "| DA2DS | 2 | 79.00")[-1] == "92.30 ± 0.00"  # pairs that no method saw
    assert cells_of(page, "| DA2DS | 2 | 93.50 ± 0.71 | 91.00")[-1] == "91.00 ± 0.00 (-2.50)"
    assert cells_of(page, "| DS, 10 % | 1 | 93.30") == [
        *("DS, 10 %", "1", "93.30"),
        *(f"one seed, not known ({points})" for points in ("+0.30", "+3.30", "-0.20")), "not known",
    ]  # fmt: skip


def test_f1_without_content_twins_is_shown_where_it_differs() -> None:
    some = [document("shift", workload, "", 0, SCORES) for workload in ("DA2DS", "DA2CORA")]
    assert "content twins" not in render(some, {})  # documents of earlier versions
    for result in some[0]["results"]:
        result |= {"twins": 0, "f1_without_twins": result["f1"]}
    for result in some[1]["results"]:
        result |= {"twins": 297, "f1_without_twins": result["f1"] - 0.01}
    part = render(some, {}).split("### Without content twins")[1].split("###")[0]
    assert cells_of(part, "| DA2CORA | 1") == ["DA2CORA", "1", "79.00", "89.00", "**92.50**", "92.00", "92.30"]
    assert "DA2DS" not in part


def test_commands_hardware_and_settings_are_shown() -> None:
    page = render(made_up(), {"shift": "img/a.png"})
    methods = "--methods tradition,supervised,forest,risk,risk+"
    for command in (
        f"shift --data DIR --workload DS2DA --workload DA2DS --seeds 2 {methods} --ablations\n",
        f"same-source --data DIR --workload DS --seeds 1 {methods} --fraction 0.1 --fraction 1\n",
        f"validation-size --data DIR --workload AB --seeds 1 {methods} --size 50 --size 100 --size all\n",
        "report --to docs/results.md\n",
    ):
        assert f"    python -m riskcore bench {command}" in page
    assert "Settings: the defaults." in page
    assert "cores" in page
    assert "torch" in page
    assert "![Distribution shift](img/a.png)" in page
    assert "other code" not in page
    older = made_up()
    older[0]["results"][0]["code"] = "older"
    older[0]["settings"]["tune.epochs"] = 3
    page = render(older, {})
    assert "come from other code or libraries than those installed now:\n\n- tradition: DS2DA (seeds 0)\n" in page
    assert "tune.epochs 3 (DS2DA)" in page


def test_a_page_says_how_many_seeds_its_figures_have() -> None:
    page = render(made_up(), {})
    assert "as many seeds as their row says" in page
    one = [document("shift", "DA2DS", "", 0, {**SCORES, ("risk", "no VaR"): 91.0})]
    page = render(one, {})
    assert "of one seed, not a mean" in page
    assert not [line for line in page.splitlines() if line.startswith("| DA2DS") and "± 0.00" in line]
    assert "standard deviation" not in page
    assert "One seed has no deviation" in page
    assert "one seed" in figures(one)["shift"].layout.title.text
    assert all(trace.error_y.width == 0 for trace in figures(one)["shift"].data if trace.error_y.array)
    two = [document("shift", "DA2DS", "", seed, SCORES) for seed in range(2)]
    assert "standard deviation over 2 seeds" in render(two, {})
    assert "over 2 seeds" in figures(two)["shift"].layout.title.text


def test_no_bar_passes_a_hundred() -> None:
    some = [document("shift", "DA2DS", "", seed, {"tradition": f1}) for seed, f1 in enumerate((100.0, 99.0, 20.0))]
    (bar,) = [trace for trace in figures(some)["shift"].data if trace.name == "tradition"]
    assert bar.error_y.array[0] == pytest.approx(27.0)  # from a mean of 73
    assert bar.error_y.arrayminus[0] == pytest.approx(45.9, abs=0.1)


def test_a_figure_of_fewer_seeds_than_its_row_says_so() -> None:
    some = [document("shift", "DA2DS", "", 0, SCORES), document("shift", "DA2DS", "", 1, {"tradition": 80.0})]
    assert cells_of(render(some, {}), "| DA2DS | 2 | 19.86")[5:7] == ["80.00 ± 0.00", "90.00 (1 of 2 seeds)"]


def test_the_best_is_one_of_those_that_had_the_same_seeds() -> None:
    some = [document("shift", "DA2DS", "", seed, {"tradition": 80.0, "risk+": 94.0 + 2 * seed}) for seed in range(2)]
    some[1]["results"] += document("shift", "DA2DS", "", 1, {"transfer": 95.5})["results"]
    texts = cells_of(render(some, {}), "| DA2DS | 2 | 19.86")
    assert texts[6:] == ["95.50 (1 of 2 seeds)", "**95.00 ± 1.41**"]


def test_all_methods_are_compared_only_if_all_are_there() -> None:
    some = [document("shift", "DA2DS", "", 0, {"tradition": 80.0, "risk": 90.0, "risk+": 94.0})]
    assert cells_of(render(some, {}), "| DA2DS | 1 | 94.00") == ["DA2DS", "1", "94.00", "one seed, not known (+4.00)"]


def test_a_method_of_a_package_that_is_not_installed_is_still_shown() -> None:
    """A method that the registry does not know was left out of every table without a word."""
    some = [document("shift", "DA2DS", "", seed, {**SCORES, "elsewhere": 97.0}) for seed in range(2)]
    page = render(some, {})
    assert "| `elsewhere` | not registered here: from a package that is not installed |" in page
    row = next(line for line in page.splitlines() if line.startswith("| DA2DS | 2 | 19.86"))
    assert row.endswith("| **97.00 ± 0.00** |")
    assert "--methods tradition,supervised,forest,risk,risk+,elsewhere" in page
    assert "elsewhere" in {trace.name for trace in figures(some)["shift"].data}
    some[0]["results"][-1]["code"] = "older"
    assert "- elsewhere: DA2DS (seeds 0)" in render(some, {})


def test_an_ablation_of_before_is_still_shown() -> None:
    page = render([document("shift", "DA2DS", "", 0, {"risk": 93.0, ("risk", "no such part"): 91.0})], {})
    assert "| DA2DS | 1 | 93.00 | 91.00 (-2.00) |" in page


def test_commands_ask_for_no_more_than_was_asked() -> None:
    few, all_ = {"tradition": 80.0, "risk": 90.0}, dict.fromkeys(METHODS.names(), 90.0)
    shifts = [document("shift", "DA2DS", "", seed, few if seed else all_) for seed in range(3)]
    shifts[0]["results"] += document("shift", "DA2DS", "", 0, {("risk", "no VaR"): 91.0})["results"]
    renamed = {"attribute_map": ["title=Song Name", "year=Released"]}
    shifts.append(document("shift", "my songs2IA", "", 0, few, settings=renamed))
    shifts.append(document("shift", "CORA2DA", "", 0, few, settings={"attribute_map": ["author=authors"]}))
    assert commands("shift", shifts) == [
        "shift --data DIR --workload DA2DS --seeds 3 --methods tradition,risk",
        "shift --data DIR --workload DA2DS --seeds 1 --ablations",
        "shift --data DIR --workload 'my songs2IA' --map 'title=Song Name' --map year=Released --seeds 1 "
        "--methods tradition,risk",
        "shift --data DIR --workload CORA2DA --seeds 1 --methods tradition,risk",
    ]
    parts: list[tuple[str, str, float]] = [("10 %", "2:2:6", 0.1), ("2:2:6", "2:2:6", 1.0), ("4:2:4", "4:2:4", 1.0)]
    same = [document("same-source", "DS", name, 0, few, split=a, train_fraction=b) for name, a, b in parts]
    assert commands("same-source", same) == [
        "same-source --data DIR --workload DS --seeds 1 --methods tradition,risk --fraction 0.1",
        "same-source --data DIR --workload DS --seeds 1 --methods tradition,risk --split 2:2:6 --split 4:2:4",
    ]


@pytest.mark.parametrize("bench", ["shift", "same-source", "validation-size"])
def test_commands_plan_what_was_made(bench: str, tmp_path: Path) -> None:
    """What is printed, read back by the command line's own parser, plans the same cells."""
    data = data_root(tmp_path / "data", **dict.fromkeys(("DA", "DS", "CORA", "AB", "IA", "MB20K"), "authors"))
    cells, _ = plan(bench, BenchRequest(data, seeds=2, base=QUICK, matchers=("toy",)))
    made = [
        document(bench, one.workload, one.variant, one.seed, dict.fromkeys(one.config.methods, 90.0), matcher="toy",
                 split=one.config.split, train_fraction=one.config.train_fraction,
                 validation_size=one.config.validation_size)
        for one in cells
    ]  # fmt: skip
    planned = [cell for command in commands(bench, made) for cell in planned_by(command, data)]
    assert {cell.name for cell in planned} == {cell.name for cell in cells}
    assert {cell.config.methods for cell in planned} == {cell.config.methods for cell in cells}


def planned_by(command: str, data: Path) -> list[Cell]:
    words = shlex.split(command)
    found: dict[str, list[str]] = {}
    for name, value in zip(words[1::2], words[2::2], strict=True):
        found.setdefault(name, []).append(value)
    methods = tuple(found["--methods"][0].split(",")) if "--methods" in found else ()
    request = BenchRequest(
        data, tuple(found.get("--workload", ())), seeds=int(found["--seeds"][0]), methods=methods, base=QUICK,
        matchers=tuple(found.get("--matcher", ())), splits=tuple(found.get("--split", ())),
        fractions=tuple(map(float, found.get("--fraction", ()))),
        sizes=tuple(None if size == "all" else int(size) for size in found.get("--size", ())),
    )  # fmt: skip
    return plan(words[0], request)[0]


def test_settings_that_have_no_option_are_shown() -> None:
    facts: dict[str, Any] = {"split": "2:2:6", "validation_size": 50}
    settings = {"split": "2:2:6", "validation_size": 50, "matcher.wide": True}
    page = render([document("shift", "DA2DS", "", 0, SCORES, settings=settings, **facts)], {})
    assert 'Settings: split "2:2:6", validation_size 50, matcher.wide true.' in page
    assert "The paper has no figure for any of these results" in page
    assert "--split" not in page


def test_one_seed_borrows_the_papers_deviation() -> None:
    row = {"f1_mean": 0.93, "f1_deviation": None, "seeds": 1}
    assert compare_with_paper(row, PaperFigure(91.0, 1.0)).word == "level"  # 2.78 x 1.10
    assert compare_with_paper(row, PaperFigure(91.0, 0.5)).word == "above"


def test_targets_without_labels_are_passed_over(tmp_path: Path) -> None:
    cells = made_up()
    for result in cells[0]["results"] + cells[1]["results"]:
        result |= {"f1": None, "precision": None, "recall": None}
    save(cells, tmp_path)
    result = CliRunner().invoke(app, ["bench", "report", "--out", str(tmp_path), "--no-images"])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.md").read_text()
    ablations = page.split("## Ablations")[1].split("##")[0]
    assert "DA2DS" in ablations
    assert "DS2DA" not in ablations


def test_old_variants_and_new_ones_read_alike() -> None:
    facts: dict[str, Any] = {"split": "6:2:2", "train_fraction": 0.5, "validation_size": 100}
    for variant in ("100 validation pairs", "6:2:2, 50 %, 100 validation pairs"):
        group = grouped([document("validation-size", "AB", variant, 0, SCORES, **facts)], "validation-size")[0]
        assert group.name == "AB 6:2:2, 50 %, 100 validation pairs"


def test_cells_that_were_resumed_are_counted() -> None:
    cells = made_up()
    assert "resumed" not in render(cells, {})
    cells[0]["resumed"] = True
    assert "1 of 9 cells were interrupted and resumed" in render(cells, {})


def test_only_images_of_these_results_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(figure: Any, _: Path, file: Path) -> None:
        shot = tmp_path / "shot.png"
        Image.new("RGB", (4, 4)).save(shot)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(images._smaller(shot, images._stamp(figure)))

    monkeypatch.setattr(write, "write_png", draw)
    save(made_up(), tmp_path)
    page, command = tmp_path / "docs" / "results.md", ["bench", "report", "--out", str(tmp_path), "--to"]
    assert CliRunner().invoke(app, [*command, str(page)]).exit_code == 0
    assert "![Distribution shift](img/bench-shift.png)" in page.read_text()
    assert (page.parent / "img" / "bench-shift.png").exists()
    CliRunner().invoke(app, [*command, str(page), "--no-images"])
    assert "![Distribution shift](img/bench-shift.png)" in page.read_text()
    save([document("shift", "DA2DS", "", 0, {**SCORES, "risk": 10.0})], tmp_path)
    result = CliRunner().invoke(app, [*command, str(page), "--no-images"])
    assert "![Distribution shift]" not in page.read_text()
    assert "![Same source](img/bench-same-source.png)" in page.read_text()
    assert "bench-shift.png shows other results" in result.stderr.replace("\n", "")


def test_groups_come_in_the_papers_order_from_little_to_much() -> None:
    assert [group.workload for group in grouped(made_up(), "shift")] == ["DA2DS", "DS2DA"]
    assert [group.head["variant"] for group in grouped(made_up(), "same-source")] == ["10 %", "100 %"]
    assert [group.head["validation_size"] for group in grouped(made_up(), "validation-size")] == [50, 100, None]


def test_the_papers_figures() -> None:
    assert {name: table["risk"].mean for name, table in SHIFT.items()} == {
        "DA2DS": 91.67, "DA2CORA": 89.08, "CORA2DS": 86.55, "CORA2DA": 96.99, "DS2DA": 94.18, "DS2CORA": 84.88,
    }  # fmt: skip
    head = {"bench": "shift", "workload": "DA2DS", "matcher": "hybrid", "split": None, "validation_size": None}
    head["train_fraction"] = 1.0
    assert paper_figure({**head, "validation_size": 50}, "risk") is None
    assert paper_figure({**head, "split": "2:2:6"}, "risk") is None
    assert paper_figure(head, "forest") is None
    assert paper_figure({**head, "matcher": "ditto"}, "risk") is None
    assert paper_figure({**head, "bench": "validation-size", "validation_size": 100}, "risk") is None
    assert paper_figure({**head, "bench": "validation-size"}, "risk") == SHIFT["DA2DS"]["risk"]


@pytest.mark.parametrize(
    ("ours", "deviation", "paper", "word"),
    [
        (0.92, 0.0, PaperFigure(91.67, 0.0), "above"),
        (0.919, 0.002, PaperFigure(91.67, 0.2), "level"),
        (0.92, 0.02, PaperFigure(91.67, 0.0), "level"),
        (0.91, 0.0, PaperFigure(91.67, 0.2), "below"),
        (0.704, 0.0, PaperFigure(70), "level"),
        (0.75, None, PaperFigure(70), "one seed, not known"),
        (0.75, None, PaperFigure(70, at_least=True), "one seed, not known"),
        (0.99, 0.0, PaperFigure(92, at_least=True), "not below"),
        (0.91, 0.0, PaperFigure(92, at_least=True), "below"),
    ],
)
def test_above_level_below(ours: float, deviation: float | None, paper: PaperFigure, word: str) -> None:
    row = {"f1_mean": ours, "f1_deviation": deviation, "seeds": 1 if deviation is None else 5}
    assert compare_with_paper(row, paper).word == word


def test_two_methods_are_level_where_the_interval_of_their_paired_differences_includes_zero() -> None:
    """Anything within 0.3 points was level, however alike the seeds, and anything further was not."""
    steady = compare_methods(_seeds(0.9, 0.8, 0.7), _seeds(0.898, 0.7981, 0.6979))
    assert steady.text == "above (+0.20 ± 0.02)"
    varied = compare_methods(_seeds(0.92, 0.95, 0.9), _seeds(0.9, 0.9, 0.92))
    assert varied.word == "level"
    expected = stats.ttest_rel([92, 95, 90], [90, 90, 92]).confidence_interval(0.95)
    assert (varied.points - varied.margin, varied.points + varied.margin) == pytest.approx(tuple(expected))
    assert compare_methods(_seeds(0.3, 0.6), _seeds(0.3, 0.6)).text == "level (+0.00 ± 0.00)"
    assert compare_methods(_seeds(0.92), _seeds(0.92)).text == "one seed, not known (+0.00)"


def test_the_papers_mean_is_compared_by_welch() -> None:
    margin = compare_with_paper({"f1_mean": 0.92, "f1_deviation": 0.01, "seeds": 3}, PaperFigure(91.0, 0.5)).margin
    assert stats.ttest_ind_from_stats(91 + margin, 1.0, 3, 91, 0.5, 5, equal_var=False).pvalue == pytest.approx(0.05)


def test_two_methods_are_compared_on_the_seeds_that_both_have() -> None:
    difference = compare_methods(_seeds(0.92, 0.5, None), _seeds(0.90, None, 0.1))
    assert (difference.text, difference.seeds) == ("one seed, not known (+2.00)", 1)
    assert compare_methods(_seeds(None), _seeds(0.9)) is None
    assert compare_methods(_seeds(0.9), None) is None


def _seeds(*scores: float | None) -> dict[str, Any]:
    return {"f1_of_seeds": dict(enumerate(scores))}


def save(cells: list[dict[str, Any]], out: Path) -> None:
    for number, cell in enumerate(cells):
        file = out / "cells" / cell["bench"] / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(cell))


def test_the_command_keeps_notes(tmp_path: Path) -> None:
    save(made_up(), tmp_path / "out")
    page = tmp_path / "docs" / "results.md"
    command = ["bench", "report", "--out", str(tmp_path / "out"), "--to", str(page), "--no-images", "--json"]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    page.write_text(page.read_text().replace(NOTES[0], f"{NOTES[0]}\nBelow on DS2DA, because."))
    again = CliRunner().invoke(app, command)
    assert kept_notes(page.read_text()).strip() == "Below on DS2DA, because."
    found = json.loads(again.stdout)
    assert {one["comparison"] for one in found["against"] if one["workload"] == "DA2DS"} == {"above", "level"}
    assert sorted(path.name for path in (tmp_path / "out" / "figures").glob("*.html")) == [
        "ablations.html", "same-source.html", "shift.html", "validation-size.html",
    ]  # fmt: skip
    assert "![" not in page.read_text()


def test_a_foreign_file_is_named_and_passed_over(tmp_path: Path) -> None:
    save(made_up(), tmp_path)
    (tmp_path / "cells" / "shift" / "foreign.json").write_text('{"format": 7}')
    result = CliRunner().invoke(app, ["bench", "report", "--out", str(tmp_path), "--no-images"])
    assert result.exit_code == 0, result.output
    assert "foreign.json is left out" in result.stderr.replace("\n", "")


def test_a_folder_is_no_page(tmp_path: Path) -> None:
    save(made_up(), tmp_path)
    result = CliRunner().invoke(app, ["bench", "report", "--out", str(tmp_path), "--to", str(tmp_path)])
    assert result.exit_code == 2
    assert "is a folder" in result.stderr


def test_nothing_to_report_says_what_to_do(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "report", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "bench shift" in result.stderr


def test_without_a_browser_the_report_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "BROWSERS", ("no-such-browser",))
    save(made_up(), tmp_path)
    result = CliRunner().invoke(app, ["bench", "report", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert result.stderr.count("No Chromium is installed") == 1
    assert (tmp_path / "report.md").exists()


def test_images_are_small(tmp_path: Path) -> None:
    try:
        find_browser()
    except NoBrowserError:
        pytest.skip("no browser is installed")
    figure, page, file = figures(made_up())["shift"], tmp_path / "shift.html", tmp_path / "shift.png"
    images.write_html(figure, page)
    images.write_png(figure, page, file)
    assert file.stat().st_size < 60_000
    with Image.open(file) as image:
        assert image.size == (figure.layout.width, figure.layout.height)
        assert len(image.convert("RGB").getcolors(1000) or []) > 20  # something was drawn


def test_figures_have_a_line_for_each_method() -> None:
    drawn = figures(made_up())
    assert list(drawn) == [*report.TITLES, "ablations"]
    assert {trace.name for trace in drawn["shift"].data} >= {*SCORES, "risk, paper", "tradition, paper"}
    sizes = [trace for trace in drawn["validation-size"].data if trace.name == "risk"]
    assert list(sizes[0].x) == ["50", "100", "all"]
    assert list(sizes[0].y) == [93.0, 93.0, 93.0]
