"""The bundled data: made by its generator, well formed, and hard in the way it is meant to be."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from rapidfuzz import fuzz

from tests.sample_data.stand_ins import (
    SPLITS,
    bibliographic,
    learned_f1,
    model_aware,
    naive,
    name_only,
    plain,
    read_pairs,
)

ROOT = Path(__file__).parents[2] / "sample_data"
CLEAN, SCRAPED, PRODUCTS = (ROOT / name for name in ("bibliography_clean", "bibliography_scraped", "products"))
MATCH_RATES = {CLEAN: 0.19, SCRAPED: 0.18, PRODUCTS: 0.11}
FILES = ("tableA.csv", "tableB.csv", "train.csv", "valid.csv", "test.csv")

each_folder = pytest.mark.parametrize("folder", MATCH_RATES, ids=lambda folder: folder.name)


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, str(ROOT / "generate.py"), str(folder)], check=True)
    return folder


@each_folder
def test_the_generator_gives_the_committed_bytes(folder: Path, fresh: Path) -> None:
    assert sorted(path.name for path in (fresh / folder.name).iterdir()) == sorted(FILES)
    for name in FILES:
        assert (fresh / folder.name / name).read_bytes() == (folder / name).read_bytes(), name


def test_all_files_together_stay_small() -> None:
    assert sum(path.stat().st_size for path in ROOT.rglob("*.csv")) <= 4_000_000


@each_folder
def test_three_thousand_pairs_in_three_parts_with_one_match_rate(folder: Path) -> None:
    for split, size in zip(SPLITS, (1800, 600, 600), strict=True):
        header, *pairs = rows(folder / f"{split}.csv")
        assert header == ["ltable_id", "rtable_id", "label"]
        assert len(pairs) == size
        assert sum(label == "1" for *_, label in pairs) / size == pytest.approx(MATCH_RATES[folder], abs=0.001)


@each_folder
def test_ids_are_unique_and_every_pair_points_at_records_and_occurs_once(folder: Path) -> None:
    ids = []
    for side in "AB":
        header, *records = rows(folder / f"table{side}.csv")
        assert header[0] == "id"
        ids.append({record[0] for record in records})
        assert len(ids[-1]) == len(records)
    pairs = [tuple(pair[:2]) for split in SPLITS for pair in rows(folder / f"{split}.csv")[1:]]
    assert len(set(pairs)) == len(pairs)
    assert {left for left, _ in pairs} <= ids[0]
    assert {right for _, right in pairs} <= ids[1]


@each_folder
@pytest.mark.parametrize("side", "AB")
def test_records_differ_and_no_cell_looks_like_a_formula(folder: Path, side: str) -> None:
    _, *records = rows(folder / f"table{side}.csv")
    assert len({tuple(record[1:]) for record in records}) == len(records)
    cells = [cell for record in records for cell in record]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert all(cell == cell.strip() for cell in cells)
    assert all(record[1] for record in records)


def test_years_are_equal_in_matches_and_differ_between_versions_of_one_paper() -> None:
    versions = 0
    for a, b, label in read_pairs(SCRAPED, *SPLITS):
        alike = fuzz.ratio(plain(a["title"]), plain(b["title"])) > 97 and same_people(a, b)
        if label:
            assert not b["year"] or float(a["year"]) == float(b["year"])
        elif alike:
            versions += 1
            assert b["venue"] or b["year"], "nothing left to tell two versions apart"
            assert not b["year"] or float(a["year"]) != float(b["year"])
    assert versions > 50


def same_people(a: dict[str, str], b: dict[str, str]) -> bool:
    return plain(a["authors"].split(",")[0]).split()[-1] in plain(b["authors"])


def test_the_clean_source_is_easy_and_teaches_little_about_the_scraped_target() -> None:
    assert learned_f1(naive, read_pairs(CLEAN, "train"), read_pairs(CLEAN, "test")) >= 0.93
    assert 0.3 <= learned_f1(naive, read_pairs(CLEAN, *SPLITS), read_pairs(SCRAPED, "test")) <= 0.65


def test_the_scraped_target_holds_the_evidence() -> None:
    assert learned_f1(bibliographic, read_pairs(SCRAPED, "train"), read_pairs(SCRAPED, "test")) >= 0.9


def test_product_names_alone_mislead_and_model_numbers_settle_it() -> None:
    train, test = read_pairs(PRODUCTS, "train"), read_pairs(PRODUCTS, "test")
    assert 0.35 <= learned_f1(name_only, train, test) <= 0.75
    assert learned_f1(model_aware, train, test) >= 0.85
