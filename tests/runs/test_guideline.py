"""The guideline of a run, and how the next run takes it over."""

import pytest

from riskcore.config import RunConfig
from riskcore.errors import ConfigError
from riskcore.runs.folder import RunFolder
from riskcore.runs.guideline import MAX_CHARS, Guideline, inherit_guideline, read_guideline, write_guideline


@pytest.fixture
def made(store):
    """A new run on a target, by its name."""
    return lambda target: store.create(RunConfig(source="", target=target), None)


def text_of(record):
    return read_guideline(RunFolder(record.folder)).text


def test_a_guideline_is_written_and_read(made):
    folder = RunFolder(made("b").folder)
    assert read_guideline(folder) == Guideline()
    written = write_guideline(folder, " Same model, same product.\n", "Ann")
    assert read_guideline(folder) == written
    assert (written.text, written.who) == ("Same model, same product.", "Ann")


def test_a_pasted_file_is_refused(made):
    folder = RunFolder(made("b").folder)
    with pytest.raises(ConfigError, match="Shorten it to 10,000"):
        write_guideline(folder, "x" * (MAX_CHARS + 1))
    assert not folder.guideline_file.exists()


def test_a_new_run_takes_over_the_newest_on_its_data(store, made):
    old, other, new = made("b"), made("c"), made("b")
    write_guideline(RunFolder(old.folder), "of b")
    write_guideline(RunFolder(other.folder), "of c")
    inherit_guideline(store, new)
    assert text_of(new) == "of b"


def test_the_run_that_it_is_made_from_comes_first(store, made):
    first, newest, new = made("b"), made("b"), made("b")
    write_guideline(RunFolder(first.folder), "first", "Ann")
    write_guideline(RunFolder(newest.folder), "newest")
    inherit_guideline(store, new, RunFolder(first.folder))
    assert read_guideline(RunFolder(new.folder)) == read_guideline(RunFolder(first.folder))


def test_without_any_nothing_is_written(store, made):
    made("b")
    new = made("b")
    inherit_guideline(store, new)
    assert not RunFolder(new.folder).guideline_file.exists()
