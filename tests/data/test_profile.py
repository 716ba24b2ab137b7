from riskcore.data import open_data, profile
from tests.data.folders import PAIR_HEADER, TABLE_A, write_folder


def test_figures(tmp_path):
    gaps = [TABLE_A[0], *([*row[:2], "" if n < 3 else row[2]] for n, row in enumerate(TABLE_A[1:]))]
    test = [PAIR_HEADER, ["a8", "b8", "1"], ["a9", "b9", ""]]
    figures = profile(open_data(write_folder(tmp_path / "x", {"tableA": gaps, "test": test})))
    assert figures.records == {"tableA": 12, "tableB": 12}
    assert [(a.name, a.missing_left, a.missing_right) for a in figures.attributes] == [
        ("title", 0.0, 0.0),
        ("year", 0.25, 0.0),
    ]
    train, _, last = figures.splits
    assert (train.pairs, train.matches, train.non_matches, train.match_rate) == (6, 3, 3, 0.5)
    assert (last.pairs, last.unlabelled, last.match_rate) == (2, 1, 1.0)


def test_no_labels_is_no_rate(tmp_path):
    test = [PAIR_HEADER, ["a8", "b8", ""]]
    figures = profile(open_data(write_folder(tmp_path / "x", {"test": test})))
    assert figures.splits[-1].match_rate is None


def test_a_self_join_has_one_table(tmp_path):
    splits = {
        name: [PAIR_HEADER, [f"a{first}", f"a{first + 1}", "1"], [f"a{first}", f"a{first + 2}", "0"]]
        for name, first in (("train", 0), ("valid", 3), ("test", 6))
    }
    figures = profile(open_data(write_folder(tmp_path / "x", {**splits, "tableB": None})))
    assert figures.self_join
    assert figures.records == {"tableA": 12}
