"""The wizard: from files of any form to a data set with candidates; scores of another matcher; nothing left behind."""

from __future__ import annotations

import time

import pandas as pd
import pytest

from pages.parts.bring import blocking_job, staging
from pages.parts.data import known_sets as registry
from pages.parts.runs import run_start
from riskcore.data import find_sample, open_data
from riskcore.data.problems import DataFormatError
from riskcore.errors import ConfigError, StorageError
from riskcore.runs import RunStore
from tests.data.bring.brought import LABELLED, LEFT, PAIRS, RIGHT, text, zipped
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import HOSTILE

MIME = "application/octet-stream"
PATIENCE = 60  # seconds for a child process that imports everything
TWO = [("Ours 2026.csv", text(LEFT, ";").encode("latin-1")), ("shop.csv", text(RIGHT, "\t").encode("utf-16"))]


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def sent(screen, files, door: str = "tables", label: str = "Read the files"):
    """Upload the files at a door of the screen."""
    app = screen("data_sets", add=door)
    found = [(name, content, MIME) for name, content in files]
    app.file_uploader[0].set_value(found if door == "tables" else found[0])
    return press(app, label)


def saved(app, name: str):
    """Accept what is suggested, and save it under a name."""
    app = press(press(app, "Next"), "Next")
    app.text_input(key="bring name").set_value(name)
    return press(checked(app.run()), "Save the data set")


def waiting(places) -> list[str]:
    folder = places / "data" / ".brought"
    return [path.name for path in folder.iterdir()] if folder.exists() else []


def test_two_tables_become_a_set_with_candidates(screen, places):
    app = sent(screen, TWO)
    assert "semicolon, Windows\\-1252" in words(app)
    assert "tab, UTF\\-16" in words(app)
    assert app.dataframe[0].value["City"].tolist()[0] == "Köln"
    app = press(app, "Next")
    assert app.selectbox(key="role shop.csv").value == "right table"
    assert app.selectbox(key="id Ours 2026.csv").value == "No"
    app = press(app, "Next")
    app.text_input(key="bring name").set_value("Ours and shop")
    app = press(checked(app.run()), "Save the data set")
    path = places / "data" / "ours_and_shop"
    assert open_data(path).attributes == ("Product", "City")
    assert registry.known_sets()[str(path)].title == "Ours and shop"
    app = press(app, "Find candidates")
    until = time.monotonic() + PATIENCE
    while (found := blocking_job.state(str(path))) and found.name == "running" and time.monotonic() < until:
        time.sleep(0.2)
    assert found is not None
    assert found.name == "done", found.words
    app = checked(app.run())
    assert app.dataframe[0].value["left Product"].str.contains("machine").all()
    app = press(app, "Use these candidates")
    assert f"{len(open_data(path)):,} candidate pairs" in words(app)
    app = press(app, "Next")
    assert "It can be adapted to" in words(app)
    assert "Adapt a matcher to it" in words(app)
    assert list((places / "data" / ".blocking").iterdir()) == []


def test_labels_alone_still_need_candidates_which_leave_them_out(screen, places):
    app = saved(sent(screen, [*TWO, ("judged.csv", text(LABELLED[:5]).encode())]), "judged")
    assert "Find candidates" in words(app)
    path = places / "data" / "judged"
    blocking_job._folder(str(path)).mkdir(parents=True)
    found = pd.DataFrame(PAIRS[1:], columns=PAIRS[0]).assign(score=0.5, blocked_by="words")
    found.to_parquet(blocking_job.pairs_file(str(path)))
    blocking_job.accept(str(path))
    data = open_data(path)
    assert {name: len(part) for name, part in data.splits.items()} == {"valid": 4, "all": 20}
    assert data.warnings == ()


def with_accepted_candidates(screen, places):
    """A set whose candidates were found and accepted, at the step of candidates; and its folder."""
    app = saved(sent(screen, TWO), "mine")
    path = places / "data" / "mine"
    blocking_job._folder(str(path)).mkdir(parents=True)
    found = pd.DataFrame(PAIRS[1:], columns=PAIRS[0]).assign(score=0.5, blocked_by="words")
    found.to_parquet(blocking_job.pairs_file(str(path)))
    blocking_job.accept(str(path))
    return press(checked(app.run()), "Back"), path


def test_accepted_candidates_stay_when_the_columns_are_saved_again(screen, places):
    app, path = with_accepted_candidates(screen, places)
    assert "must be found again" not in words(app)
    app = press(app, "Save the data set")
    assert "The data set has 24 candidate pairs" in words(app)
    assert pd.read_parquet(path / "pairs.parquet")["blocked_by"].tolist() == ["words"] * 24


def test_candidates_of_other_ids_are_dropped_with_a_warning(screen, places):
    app, path = with_accepted_candidates(screen, places)
    app = press(app, "Back")
    app.selectbox(key="id shop.csv").set_value("(none: number the rows)")
    app = press(checked(app.run()), "Next")
    assert "candidates must be found again" in words(app)
    app = press(app, "Save the data set")
    assert "Find candidates" in words(app)
    assert not (path / "pairs.parquet").exists()


def test_pairs_that_were_brought_are_the_candidates(screen, places):
    app = saved(sent(screen, [*TWO, ("blocked.csv", text(PAIRS).encode())]), "with pairs")
    assert "The data set has 24 candidate pairs" in words(app)


def test_a_zip_of_the_usual_files_keeps_its_splits(screen, places):
    sample = find_sample("products").path
    content = zipped({f"inside/{path.name}": path.read_bytes() for path in sorted(sample.glob("*.csv"))})
    saved(sent(screen, [("anything.zip", content)]), "zipped")
    assert open_data(places / "data" / "zipped").fingerprint == open_data(sample).fingerprint


def test_hostile_pairs_are_shown_as_text(screen, places):
    titles = [*HOSTILE[:4], "=1+1", "plain"]
    frame = pd.DataFrame({"left_title": titles, "right_title": titles})
    app = saved(sent(screen, [("pairs.csv", frame.to_csv(index=False).encode())]), "hostile")
    assert "<script>" not in "".join(str(element.proto.body) for element in app.get("html"))
    assert all("javascript:alert" not in str(element.value) for element in app.markdown)
    assert app.dataframe[0].value["left title"].str.contains("<script>", regex=False).any()


def test_one_table_is_searched_for_duplicates(screen, places):
    rows = [["name", "town", "cluster_id"], *([f"Ann Smith {n // 2}", "Leeds", str(n // 2)] for n in range(10))]
    app = press(press(sent(screen, [("people.csv", text(rows).encode())]), "Next"), "Next")
    assert "find duplicates" in words(app) or "duplicates are searched" in words(app)
    assert "cluster\\_id" in words(app)
    app.text_input(key="bring name").set_value("people")
    press(checked(app.run()), "Save the data set")
    data = open_data(places / "data" / "people")
    assert (data.self_join, data.attributes) == (True, ("name", "town"))


def test_a_wrong_way_of_reading_is_corrected(screen):
    app = sent(screen, [("x.csv", b"a,b;c\n1,2;3\n4,5;6\n")])
    app.selectbox(key="read x.csv delimiter").set_value(";")
    app = press(checked(app.run()), "Read again")
    assert list(app.dataframe[0].value.columns) == ["a,b", "c"]


def test_problems_stop_the_set_and_block_no_name(screen, places):
    pairs = ("pairs.csv", text([*PAIRS, ["p99", "q1"]]).encode())
    app = saved(sent(screen, [*TWO, pairs]), "mine")
    assert "was not saved" in words(app)
    table = app.dataframe[len(app.dataframe) - 1].value
    assert (table["file"].tolist(), table["row"].tolist()) == (["pairs.csv"], [26])
    assert not (places / "data" / "mine").exists()
    press(app, "Start over")
    assert waiting(places) == []
    saved(sent(screen, TWO), "mine")
    assert (places / "data" / "mine").is_dir()


def test_a_name_is_taken_until_it_is_replaced(screen, places):
    saved(sent(screen, TWO), "mine")
    app = press(press(sent(screen, TWO[:1]), "Next"), "Next")
    app.text_input(key="bring name").set_value("Mine")
    app = checked(app.run())
    assert "There is a data set of this name already" in words(app)
    app.checkbox(key="bring replace").set_value(True)
    press(checked(app.run()), "Save the data set")
    assert open_data(places / "data" / "mine").self_join


@pytest.mark.parametrize("content", [b"not a zip", zipped({"../up.csv": b"id\n1"}), zipped({"notes.md": b"x"})])
def test_a_bad_archive_leaves_nothing(screen, places, content):
    app = sent(screen, [("x.zip", content)])
    assert "This did not work" in words(app)
    assert waiting(places) == []
    assert [path for path in places.rglob("*") if "up.csv" in path.name] == []


class Sent:
    def __init__(self, name: str, content: bytes) -> None:
        self.name, self._content = name, content

    def getvalue(self) -> bytes:
        return self._content


def test_files_that_cannot_be_kept_are_told(places):
    with pytest.raises(ConfigError, match="two files have this name"):
        staging.stage([Sent("a.csv", b"id"), Sent("a.csv", b"id")])
    with pytest.raises(DataFormatError):
        staging.stage([Sent("a.zip", b"no")])
    folder, paths = staging.stage([Sent("../../up.csv", b"id\n1")])
    assert paths == [folder / "up.csv"]
    assert waiting(places) == [folder.name]


def test_a_data_folder_that_cannot_be_written_is_told(places):
    (places / "data").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match="cannot be written"):
        staging.stage([Sent("a.csv", b"id")])


def scores() -> pd.DataFrame:
    """Splink's columns for the products' validation and test pairs, but for the last two."""
    folder = find_sample("products").path
    pairs = pd.concat([pd.read_csv(folder / f"{name}.csv", dtype=str) for name in ("valid", "test")])[:-2]
    return pd.DataFrame(
        {"match_probability": 0.5, "unique_id_l": pairs["ltable_id"], "unique_id_r": pairs["rtable_id"]}
    )


def test_scores_of_another_matcher_start_a_run(screen, places, runs, monkeypatch):
    monkeypatch.setattr(run_start, "start", lambda store, run: None)
    app = sent(screen, [("splink.csv", scores().to_csv(index=False).encode())], "scores", "Read the scores")
    assert app.selectbox(key="score left splink.csv").value == "unique_id_l"
    app.selectbox(key="scores target").set_value(str(find_sample("products").path))
    app = checked(app.run())
    assert "1,198 of the data set's 1,200 pairs are scored" in words(app)
    start = next(button for button in app.button if button.label == "Start")
    assert start.disabled  # until it is said what the two others have
    app.checkbox[0].set_value(True)
    press(checked(app.run()), "Start")
    (record,) = RunStore(runs).list()
    assert (record.config.matcher.kind, record.config.source) == ("external", "")
    assert record.config.matcher.score_columns is not None
    assert record.config.matcher.score_columns.endswith("missing=0")
    assert pd.read_csv(record.config.matcher.scores).shape == (1198, 3)
    assert waiting(places) == []


def test_scores_brought_with_the_tables_are_used_at_the_end(screen, places):
    frame = pd.DataFrame(PAIRS[1:], columns=["unique_id_l", "unique_id_r"]).assign(match_probability=0.25)
    app = saved(sent(screen, [*TWO, ("splink.csv", frame.to_csv(index=False).encode())]), "mine")
    app = press(press(app, "Next"), "Use these scores")
    assert app.selectbox(key="scores target").value == str(places / "data" / "mine")
    assert "the 24 scored pairs will be these" in words(app)


def test_a_set_without_labels_leads_to_a_draft(screen, places, runs, monkeypatch):
    monkeypatch.setattr(run_start, "start", lambda store, run: None)
    app = saved(sent(screen, [*TWO, ("blocked.csv", text(PAIRS).encode())]), "mine")
    press(press(app, "Next"), "Label about a hundred pairs")
    (record,) = RunStore(runs).list()
    assert (record.config.target, record.config.source) == (str(places / "data" / "mine"), "")
    assert (record.config.matcher.kind, record.config.methods) == ("similarity", ("tradition", "risk"))


def test_scores_of_other_data_are_told(screen):
    other = scores().assign(unique_id_l="nobody" + scores()["unique_id_l"])
    app = sent(screen, [("s.csv", other.to_csv(index=False).encode())], "scores", "Read the scores")
    app.selectbox(key="scores target").set_value(str(find_sample("products").path))
    assert "None of the data set's pairs is scored" in words(checked(app.run()))
