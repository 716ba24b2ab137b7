"""Damage to the files of a run: noticed by whoever reads them, named, and repaired where they can be computed again."""

import dataclasses
import os
import random
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from riskcore.audit.verdicts import VerdictLog
from riskcore.cli import app
from riskcore.config import AdaptConfig
from riskcore.errors import DamagedFileError, RiskcoreError
from riskcore.runs import PairQuery, RunFolder, RunStateError, RunStore, all_pairs, pair_detail, query_pairs
from riskcore.runs.bundle.read import open_bundle
from riskcore.runs.readers.method_comparison import compare_methods
from riskcore.runs.readers.pair_sheet import count_leading
from riskcore.runs.starts import read_start
from riskcore.runs.worker.execute import execute
from riskcore.runs.worker.repair import methods_of, repair_run
from riskcore.storage import checksums
from riskcore.storage.checksums import LIST, check_folder, checked, keep_checksums, read_list
from riskcore.storage.files import folder_in_place, read_json, remove_file, remove_folder, write_json, write_parquet
from riskcore.storage.parquet import load_columns
from tests.runs.conftest import small_config, small_data

FLIPS = 120
PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished run of the real engine with a verdict, which no test changes."""
    root = tmp_path_factory.mktemp("made")
    store = RunStore(root / "runs")
    adapt = AdaptConfig(iterations=2, stacking_iterations=1)
    config = small_config(small_data(root / "data"), adapt=adapt, methods=("tradition", "risk", "risk+", "forest"))
    run = store.create(config).id
    execute(store, run)
    VerdictLog(store).add(run, "a1:b1", "match", "certain", "ann")
    return store, run


@pytest.fixture
def copied(made, tmp_path):
    """A copy of it with its store."""
    store, run = made
    root = shutil.copytree(store.root, tmp_path / "runs")
    return RunStore(root), RunFolder(root / run)


def flip(file, chance):
    """Flip one bit. The time stays, as it does where a disk rots."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    place = chance.randrange(8 * len(content))
    content[place // 8] ^= 1 << place % 8
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def readers(folder):
    """What screens and commands read of a run, as text."""
    bundle = open_bundle(folder)
    pairs = all_pairs(folder, PairQuery())
    return repr(
        [
            folder.run(), folder.results(), folder.summary_rows(), folder.comparison(), bundle.facts,
            pairs.to_csv(), *(all_pairs(folder, PairQuery(method="risk+", iteration=one)).to_csv() for one in (0, 1)),
            *(all_pairs(folder, PairQuery(iteration=one)).to_csv() for one in (0, 1, 2)),
            dataclasses.asdict(pair_detail(folder, pairs["pair_id"][0])).keys(),
            [folder.model(method, 1).to_json() for method in ("risk", "risk+")],
            [read_start(folder.state_file("risk", one)) for one in (0, 1, 2)],
            compare_methods(folder, {}, {}), count_leading(folder, "risk"),
            bundle.answer_model("risk+"), bundle.rules.to_json(),
        ]
    )  # fmt: skip


def answered(folder):
    """All scores of the run, or what is wrong with it."""
    try:
        return all_pairs(folder, PairQuery()).to_csv()
    except RiskcoreError as error:
        return str(error)


def test_every_flipped_bit_is_noticed(copied, monkeypatch):
    """Page checksums of Parquet would not have covered footers, and DuckDB does not look at them."""
    store, folder = copied
    chance = random.Random(0)
    files = sorted(one for one in folder.path.rglob("*") if one.is_file() and one.suffix not in (".lock", ".log"))
    command = ["runs", "check", folder.path.name, "--runs", str(store.root)]
    assert CliRunner().invoke(app, command).exit_code == 0
    expected = answered(folder)
    monkeypatch.setattr(checksums, "RECHECK_SECONDS", -1.0)
    noticed = 0
    for number in range(FLIPS):
        file = files[number % len(files)] if number < len(files) else chance.choice(files)
        sound = file.read_bytes()
        flip(file, chance)
        name = file.relative_to(folder.path).as_posix()
        found = check_folder(folder.path)
        if file.suffix == ".jsonl":
            noticed += CliRunner().invoke(app, command).exit_code == 1
        else:
            noticed += found.damaged == (name,) or (name == LIST and not found.sound)
        answer = answered(folder)  # the numbers of a damaged run are right, or there are none
        assert answer == expected or f"{file} is damaged" in answer
        file.write_bytes(sound)
    assert noticed == FLIPS
    assert CliRunner().invoke(app, command).exit_code == 0


@pytest.mark.parametrize(
    "name",
    [
        "scores/iteration-01.parquet", "scores/risk+/iteration-00.parquet", "pairs.parquet", "truth.parquet",
        "run.json", "results.json", "summary.json", "comparison.json", "rules.json", "models/iteration-01.json",
        "states/risk/iteration-01.safetensors", "bundle/bundle.json", "bundle/learners.safetensors",
        "bundle/matchers/start.safetensors", "fired.parquet", "scores/final.parquet", "sheets/risk.parquet",
    ],
)  # fmt: skip
def test_whoever_reads_a_damaged_file_names_it(copied, name):
    _, folder = copied
    readers(folder)
    flip(folder.path / name, random.Random(1))
    os.utime(folder.path / name)  # a copy or an editor did it: no need to wait for the next look
    with pytest.raises(DamagedFileError, match=r"is damaged: its content is not .* `riskcore runs repair") as caught:
        readers(folder)
    assert str(folder.path / name) in str(caught.value)


def test_rot_that_leaves_the_time_is_noticed_some_minutes_later(copied, monkeypatch):
    _, folder = copied
    query_pairs(folder, PairQuery())
    flip(folder.scores_file("risk", 2), random.Random(2))
    now = checksums.time.monotonic()
    monkeypatch.setattr(checksums.time, "monotonic", lambda: now + checksums.RECHECK_SECONDS)
    with pytest.raises(DamagedFileError):
        all_pairs(folder, PairQuery(iteration=2))


def test_a_file_is_read_for_its_checksum_once(copied, monkeypatch):
    _, folder = copied
    query_pairs(folder, PairQuery())
    monkeypatch.setattr(checksums, "_hash", lambda _: pytest.fail("read again"))
    query_pairs(folder, PairQuery(page_size=5, page=2))


def test_repaired_files_are_the_same_to_the_byte(copied):
    store, folder = copied
    names = ["scores/iteration-01.parquet", "models/risk+/iteration-01.json", "results.json", "summary.json",
             "bundle/learners.safetensors", "pairs.parquet", "metrics.parquet"]  # fmt: skip
    before = {name: (folder.path / name).read_bytes() for name in names}
    for name in names[1:]:
        flip(folder.path / name, random.Random(3))
    (folder.path / names[0]).unlink()
    flip(folder.checkpoints / "risk.safetensors", random.Random(3))
    write_json(folder.guideline_file, {"text": "ours"})
    flip(folder.guideline_file, random.Random(3))
    found = repair_run(store, folder.path.name)
    assert sorted(found.repaired) == sorted(names)
    assert found.removed == ("checkpoint/risk.safetensors",)
    assert set(found.left) == {"guideline.json"}
    assert {name: (folder.path / name).read_bytes() for name in names} == before
    assert check_folder(folder.path).damaged == ("guideline.json",)
    assert not list(folder.path.glob(".repair-*"))


def test_what_cannot_be_computed_again_stays_as_it_is(copied, made):
    store, folder = copied
    file = folder.scores_file("risk", 1)
    flip(file, random.Random(4))
    damaged = file.read_bytes()
    table = made[0].root.parent / "data" / "tableA.csv"
    text = table.read_text()
    try:
        table.write_text(text.replace("left title 1", "another title"))
        answer = CliRunner().invoke(app, ["runs", "repair", folder.path.name, "--runs", str(store.root)])
    finally:
        table.write_text(text)
    assert answer.exit_code == 3
    assert "still damaged: scores/iteration-01.parquet." in " ".join(answer.output.split())
    assert file.read_bytes() == damaged


def test_runs_without_checksums_are_read_as_before(copied):
    store, folder = copied
    (folder.path / LIST).unlink()
    assert len(query_pairs(folder, PairQuery()).rows)
    answer = CliRunner().invoke(app, ["runs", "check", folder.path.name, "--runs", str(store.root)])
    assert answer.exit_code == 0
    assert "cannot be checked" in " ".join(answer.output.split())
    answer = CliRunner().invoke(app, ["runs", "repair", folder.path.name, "--runs", str(store.root)])
    assert answer.exit_code == 2
    assert "before files had checksums" in " ".join(answer.output.split())


def test_only_a_finished_run_is_repaired(store, waiting):
    with pytest.raises(RunStateError, match="only a finished run"):
        repair_run(store, waiting.id)


def test_a_line_that_is_lost_is_found_again(copied):
    store, folder = copied
    file = folder.path / LIST
    lines = file.read_bytes().split(b"\n")
    place = next(number for number, line in enumerate(lines) if line.endswith(b" truth.parquet"))
    lines[place] = lines[place].replace(b"truth", b"trutj")
    file.write_bytes(b"\n".join(lines))
    found = check_folder(folder.path)
    assert (found.damaged_lines, found.unlisted) == ((place + 1,), ("truth.parquet",))
    answer = CliRunner().invoke(app, ["runs", "check", folder.path.name, "--runs", str(store.root)])
    assert (answer.exit_code, LIST in answer.output) == (1, True)
    repair_run(store, folder.path.name)
    assert check_folder(folder.path).sound
    assert "truth.parquet" in read_list(folder.path).digests


# The list itself.


@pytest.fixture
def listed(tmp_path):
    keep_checksums(tmp_path)
    return tmp_path


def test_a_kill_between_the_line_and_the_file_leaves_a_sound_file(listed, monkeypatch):
    write_json(listed / "a.json", 1)
    monkeypatch.setattr("riskcore.storage.files.os.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_json(listed / "a.json", 2)
    monkeypatch.undo()
    assert read_json(listed / "a.json") == 1
    assert check_folder(listed).sound
    write_json(listed / "a.json", 3)
    assert read_json(listed / "a.json") == 3


def test_a_line_that_was_cut_off_does_not_spoil_the_next(listed):
    write_json(listed / "a.json", 1)
    with (listed / LIST).open("ab") as stream:
        stream.write(b"0badc0de abc")
    write_json(listed / "b.json", 2)
    assert set(read_list(listed).digests) == {"a.json", "b.json"}
    assert check_folder(listed).damaged_lines == (2,)


def test_what_is_removed_on_purpose_is_not_missing(listed):
    write_parquet(listed / "deep" / "a.parquet", pa.table({"x": [1]}))
    write_json(listed / "b.json", 1)
    remove_folder(listed / "deep")
    remove_file(listed / "b.json")
    assert check_folder(listed).sound
    write_json(listed / "c.json", 1)
    (listed / "c.json").unlink()
    assert check_folder(listed).missing == ("c.json",)


def test_a_folder_that_is_put_in_place_is_listed(listed):
    with folder_in_place(listed / "bundle") as place:
        write_parquet(place / "a.parquet", pa.table({"x": [1, 2]}))
    assert set(read_list(listed).digests) == {"bundle/a.parquet"}
    flip(listed / "bundle" / "a.parquet", random.Random(5))
    with pytest.raises(DamagedFileError):
        load_columns(listed / "bundle" / "a.parquet")


def test_a_folder_without_a_list_is_not_checked(tmp_path):
    write_json(tmp_path / "a.json", 1)
    assert checked(tmp_path / "a.json") == tmp_path / "a.json"
    assert check_folder(tmp_path).listed is None


def test_methods_of_files():
    names = ["scores/iteration-00.parquet", "models/risk+/iteration-01.json", "scores/final.parquet", "truth.parquet"]
    assert methods_of(names) == {"risk", "risk+"}


def test_no_file_of_a_run_is_read_past_its_checksum():
    """Reading goes through `riskcore.storage`. Files that are not of a run, or check themselves, are named here."""
    direct = re.compile(r"pq\.(read_table|read_schema|read_metadata|ParquetFile)|load_file\(|safe_open\(|\.read_text\(")
    exempt = {
        "runs/example.py",  # a file that is being packed or unpacked
        "runs/store/liveness.py", "runs/worker/results.py",  # /proc
        "audit/seal.py",  # the key
        "apply/jobs.py",  # a process's number
    }  # fmt: skip
    for part in ("runs", "audit", "apply", "api"):
        for file in (PROJECT / "riskcore" / part).rglob("*.py"):
            name = file.relative_to(PROJECT / "riskcore").as_posix()
            assert name in exempt or not direct.search(file.read_text()), name
