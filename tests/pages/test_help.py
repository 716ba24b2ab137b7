"""Help: its lists are those of the documentation and of the screens, and the bound says what it says in few words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from pages.parts.audit.verdict_bar import KEYS
from pages.parts.frame.glossary import FORMULAS, WORDS, Tex
from pages.parts.frame.keys import SHORTCUTS
from pages.parts.frame.palette import SIGNS
from pages.parts.help.about import DOCS, NEVER
from pages.parts.help.bound import bound_rows, bound_words, supporters_needed
from pages.parts.help.method import STEPS
from pages.parts.help.plain_table import Html, plain_table
from pages.parts.help.words import CAPITALS, colour_word, found_words, sign_words
from riskcore.evaluation import deviation_term, theory_of
from riskcore.version import __version__
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run

PROJECT = Path(__file__).resolve().parents[2]
GUIDE = (PROJECT / "docs" / "dashboard.md").read_text(encoding="utf-8")
PARTS = ("glossary", "keys", "signs", "method", "theory", "about")


def rows_of(title: str) -> list[tuple[str, ...]]:
    """The rows of the first table below a heading of the guide, without emphasis."""
    table = re.search(rf"^## {title}\n+((?:\|.*\n)+)", GUIDE, re.MULTILINE)
    assert table is not None
    cells = [line.strip("|").split("|") for line in table[1].replace("*", "").splitlines()]
    return [tuple(cell.strip() for cell in row) for row in cells[2:]]


def test_keys_are_those_of_the_guide():
    assert rows_of("Keys") == [(", ".join(one.keys), one.where, one.does) for one in SHORTCUTS]


def test_keys_are_those_that_buttons_listen_to():
    heard = {*KEYS.values(), "?"}  # the desk listens to that one: a button cannot
    for file in (PROJECT / "pages").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "shortcut" and isinstance(node.value, ast.Constant):
                heard.add(node.value.value)
    assert {key for one in SHORTCUTS for key in one.keys} == heard


def test_signs_are_those_of_the_guide():
    assert rows_of("Signs") == [(mark.sign, sign_words(mark), colour_word(mark)) for mark in SIGNS]


def test_the_glossary_has_all_words_in_order():
    found = [word for word, _ in found_words("")]
    assert {word.lower() for word in found} == set(WORDS)
    assert found == sorted(found, key=str.lower)
    assert set(CAPITALS) <= set(WORDS)


def test_the_glossary_is_searched_in_words_and_meanings():
    assert ("rule", WORDS["rule"]) in found_words(" RULE ")
    assert ("weight", WORDS["weight"]) in found_words("rule")
    assert all("rule" in f"{word} {meaning}".lower() for word, meaning in found_words("rule"))
    assert found_words("no such word") == []


def test_searching_on_the_screen(screen):
    app = screen("help")
    assert "Harmonic mean" in words(app)
    app.text_input(key="find word").set_value("purity")
    text = words(checked(app.run()))
    assert WORDS["purity"].split(" whose ")[0] in text
    assert "Harmonic mean" not in text
    app.text_input(key="find word").set_value("<script>alert(1)</script>")
    assert "No word contains this text" in words(checked(app.run()))


def test_cells_are_escaped_unless_they_are_html():
    text = plain_table(("a & b",), [("<b>x</b>",), (Html("<kbd>O</kbd>"),)])
    assert "a &amp; b" in text
    assert "&lt;b&gt;x&lt;/b&gt;" in text
    assert "<kbd>O</kbd>" in text


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_in_the_address_and_needs_no_run(screen, part):
    text = words(screen("help", part=part))
    assert "Something unexpected" not in text
    said = {
        "glossary": WORDS["target"],
        "keys": "open the first pair",
        "signs": "non-match",
        "method": "Zhaoqiang Chen",
        "theory": "There are no runs yet",
        "about": f"Riskcore {__version__}",
    }
    assert said[part].replace("'", "&#x27;") in text or said[part] in text


def test_a_part_that_does_not_exist_opens_the_first(screen):
    assert "Harmonic mean" in words(screen("help", part="../../etc"))


def test_choosing_a_part_puts_it_into_the_address(screen):
    app = screen("help")
    app.get("button_group")[0].set_value("Keys")
    checked(app.run())
    assert app.query_params["part"] in ("keys", ["keys"])
    assert "open the first pair" in words(app)


def test_the_method_has_six_steps_and_all_its_formulas(screen):
    app = screen("help", part="method")
    assert len(STEPS) == 6
    shown = [str(element.value) for element in app.get("latex")]
    asked = [part for name in ("risk", "training") for part in FORMULAS[name] if isinstance(part, Tex)]
    assert len(shown) == len(asked)


def test_about_names_files_that_exist(screen, places):
    assert [file for file in DOCS if not (PROJECT / file).is_file()] == []
    text = words(screen("help", part="about"))
    assert str(places / "runs") in text
    assert str(places / "data") in text
    assert all(sentence in text for sentence in NEVER)


def test_theory_on_a_run_is_one_sentence_where_the_bound_says_nothing(screen, done):
    app = screen("help", part="theory", run=done.id)
    text = words(app)
    assert re.search(r"The bound says nothing about any of the \d+ wrong labels", text)
    assert f"With 8 rules it usually takes about {supporters_needed(8):,} supporting pairs" in text
    assert len(app.dataframe) == 0


def test_theory_on_a_run_without_labels_says_why_it_has_nothing(screen, runs):
    record = write_run(runs, 60, 3, truth=False)
    assert "this target has no labels" in words(screen("help", part="theory", run=record.id))


def test_theory_on_a_single_iteration_says_what_it_needs(screen, runs):
    record = write_run(runs, 60, 1)
    assert "needs two iterations" in words(screen("help", part="theory", run=record.id))


def strong_theory(rules: int = 0):
    """One match labelled non-match that 20,000 correct matches support, and one non-match labelled match."""
    truth = np.array([1, *[1] * 20_000, 0, 0])
    label = np.array([0, *[1] * 20_000, 1, 0])
    mu = np.array([0.9, *[0.95] * 20_000, 0.2, 0.1])
    return theory_of(truth, label, mu, np.full(len(mu), 0.01), rules, after=truth)


def test_the_table_has_only_pairs_about_which_the_bound_says_something():
    theory = strong_theory()
    (row,) = bound_rows(theory)
    assert (row["row"], row["wrong label"], row["flip"]) == (0, "false negative", "⇄ flipped")
    assert row["bound"] == f"at least {theory.false_negatives.bound[0]:.3f}"
    assert row["supporting pairs"] == 20_000
    assert bound_words(theory, 0) == (
        "The bound says something about **1** of 2 wrong labels. It says nothing about the other 1."
    )
    assert bound_rows(strong_theory(rules=500)) == []
    assert "nothing about any of the 2 wrong labels" in bound_words(strong_theory(500), 500)


def test_without_wrong_labels_there_is_nothing_to_bound():
    right = np.array([0, 1])
    theory = theory_of(right, right, np.array([0.1, 0.9]), np.array([0.1, 0.1]), 3)
    assert bound_rows(theory) == []
    assert "nothing to bound" in bound_words(theory, 3)


@pytest.mark.parametrize("rules", [0, 8, 130])
def test_the_supporting_pairs_needed_are_those_at_which_the_bound_passes_zero(rules):
    """Without a margin the bound is one half minus the deviation term."""
    needed = supporters_needed(rules)
    one_less, enough = deviation_term(np.array([needed - 1, needed]), rules)
    assert enough <= 0.5 < one_less
