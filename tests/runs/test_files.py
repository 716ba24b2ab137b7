import errno
import os

import pyarrow as pa
import pytest

from riskcore.errors import StorageError
from riskcore.storage.files import folder_in_place, read_json, remove_parts, write_json, write_parquet, write_text


def test_a_file_is_replaced_whole(tmp_path):
    write_text(tmp_path / "deep" / "note.txt", "one")
    write_text(tmp_path / "deep" / "note.txt", "two")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["note.txt"]
    assert (tmp_path / "deep" / "note.txt").read_text() == "two"


@pytest.mark.parametrize(
    ("code", "words"),
    [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "read-only"), (errno.EACCES, "permission is denied")],
)
def test_what_the_disk_refuses_is_one_clear_error(tmp_path, monkeypatch, code, words):
    write_json(tmp_path / "facts.json", {"kept": 1})

    def refuse(_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("riskcore.storage.files.os.fsync", refuse)
    with pytest.raises(StorageError, match=words) as caught:
        write_json(tmp_path / "facts.json", {"kept": 2})
    assert str(tmp_path / "facts.json") in str(caught.value)
    assert read_json(tmp_path / "facts.json") == {"kept": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["facts.json"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="permission is denied"):
        write_text(tmp_path / "note.txt", "one")


def test_a_writer_that_fails_midway_leaves_what_was_there(tmp_path):
    path = tmp_path / "table.parquet"
    write_parquet(path, pa.table({"row": [1, 2]}))
    before = path.read_bytes()
    with pytest.raises(AttributeError):
        write_parquet(path, None)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_parts_of_a_killed_writer_are_taken_away(tmp_path):
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / ".iteration-01.parquet.part").write_text("half")
    (tmp_path / "scores" / "iteration-00.parquet").write_text("whole")
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "risk.safetensors").write_text("whole")
    remove_parts(tmp_path)
    assert [path.name for path in (tmp_path / "checkpoint").iterdir()] == ["risk.safetensors"]
    assert [path.name for path in (tmp_path / "scores").iterdir()] == ["iteration-00.parquet"]


def test_a_broken_json_file_is_an_error_with_its_name(tmp_path):
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(StorageError, match=r"run\.json"):
        read_json(tmp_path / "run.json")


def test_a_replaced_folder_is_never_the_only_copy_that_is_removed(tmp_path, monkeypatch):
    """The new folder cannot be moved into place, and then the old one cannot be moved back."""
    folder = tmp_path / "set"
    write_text(folder / "tableA.csv", "old")
    rename = os.rename

    def only_away(source, target):
        if str(target) == str(folder):
            raise OSError(errno.EACCES, "Permission denied")
        rename(source, target)

    monkeypatch.setattr(os, "rename", only_away)
    with pytest.raises(StorageError, match="Rename that folder to set") as told, folder_in_place(folder, True) as new:
        write_text(new / "tableA.csv", "new")
    (kept,) = tmp_path.iterdir()
    assert str(kept) in str(told.value)
    assert (kept / "tableA.csv").read_text() == "old"


def test_a_folder_is_replaced_whole_and_nothing_else_is_left(tmp_path):
    folder = tmp_path / "set"
    write_text(folder / "tableA.csv", "old")
    with pytest.raises(ValueError, match="midway"), folder_in_place(folder, replace=True):
        raise ValueError("midway")
    assert (folder / "tableA.csv").read_text() == "old"
    with folder_in_place(folder, replace=True) as new:
        write_text(new / "tableA.csv", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    assert (folder / "tableA.csv").read_text() == "new"
