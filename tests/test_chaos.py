"""The attacks of `make chaos` at their smallest: they find what they look for, and tell it when it is missed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from benchmarks.chaos import doors
from benchmarks.chaos.__main__ import ATTACKS, attack
from benchmarks.chaos.adversity import clock_back, store_locked
from benchmarks.chaos.fuzz import fuzzed_inputs
from benchmarks.chaos.inputs import inputs_of
from benchmarks.chaos.limited import FINE, REFUSED, TOO_LARGE, Limited
from benchmarks.chaos.run_folders import cut, exchange, flip, remove
from benchmarks.chaos.site import Figure, Site, Sizes, share
from benchmarks.chaos.table import BEGIN, END, write_table
from benchmarks.chaos.verdict_writers import killed_writers

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reliability.md"
SMALLEST = Sizes(inputs=30, flips=2, spoilt=3, writer_kills=1, concurrent=2, workers=1)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    worker = (sys.executable, "-m", "tests.runs.fake_worker")
    return Site(tmp_path_factory.mktemp("chaos"), sizes=SMALLEST, worker=worker)


def test_spoilt_inputs_go_through_the_doors(site):
    (figure,) = fuzzed_inputs(site)
    assert figure.met, figure.details
    assert figure.tried.startswith("30 files and texts of")


def test_every_input_is_sound_before_it_is_spoilt(site, tmp_path):
    for kind in inputs_of(site):
        path = tmp_path / Path(kind.file).name
        path.write_bytes(kind.sound[0])
        if kind.file.startswith("set/"):
            path = site.data
        doors.DOORS[kind.door](str(path), *kind.more)


def test_the_child_tells_memory_and_refusals_apart(tmp_path):
    (tmp_path / "set.txt").write_text("risk.confidence=2")
    with Limited(tmp_path) as child:
        assert child.ask("change_settings", str(tmp_path / "set.txt")).kind == REFUSED
        assert child.ask("take_memory", str(3 * 2**30)).kind == TOO_LARGE
        assert child.ask("peak_megabytes").kind == FINE


def test_a_killed_writer_loses_nothing(site):
    (figure,) = killed_writers(site)
    assert figure.met, figure.details
    assert figure.tried.startswith("1 kills")


def test_what_a_machine_does_to_a_store(site):
    for one in (store_locked, clock_back):
        (figure,) = one(site)
        assert figure.met, figure.details


def test_damage_is_done_to_the_file_it_is_meant_for(site, tmp_path):
    one, other = tmp_path / "a.json", tmp_path / "b.json"
    for damage in (flip, cut, exchange, remove):
        one.write_bytes(b"one"), other.write_bytes(b"other")
        damage(one, [one, other], site.chance(damage.__name__))
        assert other.read_bytes() == b"other"
        assert not one.exists() or one.read_bytes() != b"one"


def test_an_attack_that_fails_is_a_missed_bar(site, monkeypatch, capsys):
    monkeypatch.setitem(ATTACKS, "bit_flips", lambda _: 1 / 0)
    (figure,) = attack(site, "bit_flips")
    assert figure.met is False
    assert "MISSED" in capsys.readouterr().err


def test_the_table_replaces_what_stands_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    figures = [Figure("a", "1 | 2", "0", "0", True), Figure("b", "1", "1", "0", False), Figure("c", "", "", "", None)]
    write_table(page, figures, "Measured today.")
    lines = page.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("above", "below")
    assert [line.split("|")[-2].strip() for line in lines if line.startswith("| ")][2:] == [
        "met",
        "**missed**",
        "not run",
    ]
    assert "old" not in lines


def test_the_page_tells_what_each_attack_does():
    assert re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE) == list(ATTACKS)


def test_a_share_is_never_rounded_up():
    assert share(9_999, 10_000) == "9,999 of 10,000 (99.9 %)"
