"""Bringing data through the screen: one file, several, a zip; types and counterparts; hostile content."""

from __future__ import annotations

import io
import zipfile

import pytest

from pages.parts.data import known_sets as registry
from pages.parts.data.set_view import _guess, map_problem
from pages.parts.runs import run_form
from riskcore.data import find_sample
from riskcore.runs import RunStore
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import HOSTILE
from tests.pages.test_actions import sample_files

MIME = "application/octet-stream"


def upload(screen, name: str, files: list[tuple[str, bytes]]):
    """Fill the upload form and send it."""
    app = screen("data_sets")
    app.file_uploader[0].set_value([(file, content, MIME) for file, content in files])
    next(field for field in app.text_input if field.label == "Name").set_value(name)
    return checked(next(button for button in app.button if button.label == "Upload and check").click().run())


def pairs_file(*titles: str) -> bytes:
    lines = ["id,left_title,right_title,label,split"]
    for split in ("train", "valid", "test"):
        for place, title in enumerate(titles):
            quoted = title.replace('"', '""')
            lines.append(f'{split}{place},"{quoted}","{quoted} again",{place % 2},{split}')
    return "\n".join(lines).encode()


def test_several_files_make_a_set(screen, places):
    app = upload(screen, "Own products", [(file.name, file.getvalue()) for file in sample_files()])
    assert app.query_params["set"] == str(places / "data" / "own_products")
    assert "Every row was read. No problems were found." in words(app)


def test_a_zip_makes_a_set(screen, places):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for file in sample_files():
            archive.writestr(f"inside/{file.name}", file.getvalue())
    app = upload(screen, "zipped", [("anything.zip", stream.getvalue())])
    assert "Every row was read. No problems were found." in words(app)
    assert (places / "data" / "zipped" / "tableA.csv").is_file()


def test_one_file_of_hostile_pairs_is_shown_as_text(screen, places):
    app = upload(screen, "hostile", [("pairs.csv", pairs_file(*HOSTILE[:4], "=1+1", "plain"))])
    text = words(app)
    assert "cannot be used" not in text
    assert "<script>" not in "".join(str(element.proto.body) for element in app.get("html"))
    assert all("javascript:alert" not in str(element.value) for element in app.markdown)
    preview = app.dataframe[-1].value
    assert preview["left title"].str.contains("<script>", regex=False).any()


def test_an_upload_without_a_name_says_so(screen):
    app = upload(screen, " ", [("pairs.csv", pairs_file("a", "b"))])
    assert "enter a name for the data set" in words(app)


def test_a_zip_that_is_none_is_refused_with_a_sentence(screen, places):
    app = upload(screen, "broken", [("x.zip", b"not a zip")])
    assert "This did not work" in words(app)
    assert not (places / "data" / "broken").exists()


def test_corrected_types_go_into_the_next_run(screen, runs, monkeypatch):
    monkeypatch.setattr(run_form, "start", lambda store, run: None)
    sample = str(find_sample("bibliography_clean").path)
    registry.register(sample, types={"venue": "text"})
    app = screen("fine_tuning")
    app = checked(app.selectbox(key="form source").set_value(sample).run())
    checked(next(button for button in app.button if button.label == "Start").click().run())
    (record,) = RunStore(runs).list()
    assert record.config.types == ("venue=text",)


def test_counterparts_are_guessed_by_name_and_checked():
    theirs = ["title", "writers", "published_year"]
    assert _guess("title", theirs, {}) == "title"
    assert _guess("writer", theirs, {}) == "writers"
    assert _guess("price", theirs, {}) == "(not used)"
    assert map_problem({"author": "writers"}) is None
    assert "No attribute is mapped" in map_problem({})
    assert "is mapped twice" in map_problem({"author": "writers", "editor": "writers"})


@pytest.mark.parametrize("path", ["/nowhere/at/all", "relative/nothing"])
def test_a_folder_that_is_not_there_is_named(screen, path):
    app = screen("data_sets")
    next(field for field in app.text_input if field.label == "Folder, or file of pairs").set_value(path)
    app = checked(next(button for button in app.button if button.label == "Open").click().run())
    assert "There is no file or folder at" in words(app)
