"""Both records side by side: nothing becomes markup, each kind of difference has its own mark, all text can be read."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.pairs.record_table import LONG_VALUE, LONGEST_VALUE, STYLE, has_long_values, records_table
from riskcore.data.schema import AttributeType
from tests.pages.contrast import ENOUGH, colour, contrast, mixed

VALUES = st.one_of(
    st.none(), st.text(max_size=60), st.sampled_from(["vldb <b>", "very large data bases", '"x" y', "2"])
)
RECORDS = st.dictionaries(st.text(max_size=8), VALUES, max_size=4)
# Text and ground of the two themes, and of the boxes within them.
THEMES = [("#1c2733", "#ffffff"), ("#1c2733", "#f5f7fa"), ("#e3e9f0", "#12171e"), ("#e3e9f0", "#1a212b")]


def body(out: str) -> str:
    return out.split("</style>")[1]


def cells(out: str) -> list[str]:
    """The values as they are shown, without markup."""
    found = re.findall(r'<td dir="auto">(.*?)</td>', body(out), re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in found]


def caption(out: str) -> str:
    found = re.search(r'<span class="rc-same">(.*?)</span>', out)
    assert found is not None
    return html.unescape(found[1])


def table(left: str | None, right: str | None, kind: str | None = None, name: str = "x") -> str:
    return records_table({name: left}, {name: right}, [name], types={name: kind} if kind else None)


@given(RECORDS, RECORDS)
def test_no_value_becomes_markup(left, right):
    out = body(records_table(left, right, [*left, *right]))
    tags = re.findall(r"<\s*/?\s*([a-zA-Z0-9]+)", out)
    assert set(tags) <= {"table", "thead", "tbody", "tr", "th", "td", "mark", "span", "div"}
    attributes = re.findall(r'<[a-z]+((?: [a-z]+="[^"<>]*")*)>', out)
    assert len(attributes) + out.count("</") == out.count("<")  # every tag is one of ours, closed and with clean quotes
    names = {name for text in attributes for name in re.findall(r' ([a-z]+)="', text)}
    assert names <= {"class", "dir", "title"}


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80), st.sampled_from([*AttributeType, None]))
def test_a_value_can_be_read_back(left, right, kind):
    for value, shown in zip((left, right), cells(table(left, right, kind)), strict=True):
        if value.isprintable():
            assert shown == value


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '" onmouseover="alert(1)', "'><img src=x onerror=alert(1)>", "&lt;b&gt;"]
)
def test_hostile_text_is_escaped_in_values_names_and_tooltips(hostile):
    out = body(records_table({hostile: f"proc. {hostile}"}, {hostile: f"proceedings {hostile} z"}, [hostile]))
    assert hostile not in out
    assert html.escape(hostile) in out
    for tooltip in re.findall(r'title="([^"]*)"', out):
        assert not set("<>'") & set(tooltip)


def test_what_cannot_be_seen_is_written_out():
    out = table("a\u202eb", "a\u202ec")
    assert "\u202e" not in out
    assert "\\u202e" in out
    assert 'dir="auto"' in out
    assert "unicode-bidi:isolate" in STYLE


def test_differing_words_are_marked_on_both_sides():
    out = table("deep entity matching", "Deep record matching")
    assert re.findall("<mark>(.*?)</mark>", out) == ["entity", "record"]
    assert caption(out) == "1 word only left, 1 only right"


@pytest.mark.parametrize(("left", "right"), [("Müller", "MULLER"), ("Mu\u0308ller", "müller"), ("Straße", "strasse")])
def test_words_that_the_metrics_take_for_one_are_not_marked(left, right):
    """Case and accents were marked as differences, which the metrics fold."""
    out = table(f"{left} GmbH", f"{right} AG")
    assert re.findall("<mark>(.*?)</mark>", out) == ["GmbH", "AG"]


def test_each_kind_of_difference_has_its_own_mark():
    out = body(table("fast data base proc. falilitate 2 end", "data base fast proceedings facilitate 3 end", "name"))
    assert '<span class="rc-abbreviation" title="short for proceedings">proc</span>' in out
    assert '<span class="rc-abbreviation" title="on the other side: proc">proceedings</span>' in out
    assert '<span class="rc-typo" title="≈ facilitate">falilitate</span>' in out
    assert '<span class="rc-moved" title="at another place on the other side">fast</span>' in out
    assert '<mark class="rc-number" title="against 3">2</mark>' in out


def test_what_is_left_out_says_so():
    assert 'title="left out on the other side">J</span>' in table("M. J. Kearns", "M. Kearns", "set")


def test_the_gap_of_numbers_is_told_once_beside_them():
    out = table("2007", "2006", name="year")
    assert caption(out) == "differs by 1"
    assert body(out).count("differs by 1") == 1


def test_the_type_decides_how_values_are_read():
    assert caption(table("k. wu, j. smith", "smith, j. and wu, k.", "set", "author")) == "same authors, other order"
    assert caption(table("10 100", "10100", "code")) == "same but for spaces"
    assert caption(table("10 100", "10100", "name")) == "no word in common"
    assert caption(table("1975", "'75")) == "same, written differently"  # guessed


def test_a_wrong_type_is_refused():
    with pytest.raises(ValueError, match="colour"):
        table("a", "b", "colour")


def legend(out: str) -> str:
    found = re.search(r'<div class="rc-legend">(.*)</div>', out)
    return html.unescape(re.sub(r"<[^>]*>", "", found[1])) if found else ""


def test_the_legend_explains_the_marks_that_occur_and_no_others():
    assert legend(table("a", "a")) == ""
    assert legend(table("a b", "a")) == "marked: only on this side"
    assert legend(table("vldb", "very large data bases")) == "dotted: abbreviated"
    assert legend(table("proc. colour x", "proceedings color")) == (
        "marked: only on this side · dotted: abbreviated · wavy: spelling"
    )
    assert legend(table("2007", "2006")) == "double line: another number"
    assert legend(table("data mining", "mining data")) == "thin line: at another place"


def test_every_kind_of_difference_is_told_without_colour():
    """By the form of a line, which differs from kind to kind."""
    forms = {"double", "dotted", "wavy"}
    assert set(re.findall(r"text-decoration-style:(\w+)", STYLE)) == forms
    for name in ("mark", r"rc-abbreviation,\.rc-typo,\.rc-moved"):
        assert re.search(rf"{name}{{[^}}]*text-decoration:underline", STYLE)
    for name in ("rc-abbreviation", "rc-typo", "rc-moved"):
        assert not re.search(rf"{name}{{[^}}]*background", STYLE)


def test_long_values_are_cut_and_say_how_much_is_left():
    value = "word " * 100 + "end"
    assert has_long_values({"x": value})
    assert not has_long_values({"x": "short"}, {"x": None})
    out = table(value, value + " more")
    assert cells(out) == [
        f"{value[:LONG_VALUE]} … {len(value) - LONG_VALUE:,} more characters",
        f"{value[:LONG_VALUE]} … {len(value) + 5 - LONG_VALUE:,} more characters",
    ]
    assert legend(out) == ""  # the difference is not shown
    whole = records_table({"x": value}, {"x": value + " more"}, ["x"], whole=True)
    assert cells(whole) == [value, value + " more"]
    assert "<mark>more</mark>" in whole


def test_a_huge_value_is_not_sent_as_a_whole():
    value = "ab " * LONGEST_VALUE
    out = records_table({"x": value}, {"x": value + "c"}, ["x"], whole=True)
    assert len(out) < 3 * LONGEST_VALUE


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        (None, "a", "no value on the left"),
        ("a", None, "no value on the right"),
        (None, None, "no value on either side"),
    ],
)
def test_missing_values(left, right, told):
    out = table(left, right)
    assert caption(out) == told
    assert cells(out) == [left or "no value", right or "no value"]
    assert "<mark" not in body(out)


def opacities() -> list[tuple[str, float]]:
    return [(name, float(value)) for name, value in re.findall(r"([^\n{}]+){[^}]*?opacity:([.\d]+)", STYLE)]


@pytest.mark.parametrize(("text", "ground"), THEMES)
def test_faint_text_can_be_read(text, ground):
    assert len(opacities()) == 4
    for name, opacity in opacities():
        assert contrast(mixed(colour(text), colour(ground), opacity), colour(ground)) >= ENOUGH, name


@pytest.mark.parametrize(("text", "ground"), THEMES)
def test_marked_text_can_be_read(text, ground):
    found = re.search(r"background:color-mix\(in srgb,(#\w{6}) (\d+)%,transparent\)", STYLE)
    assert found is not None
    behind = mixed(colour(found[1]), colour(ground), int(found[2]) / 100)
    assert contrast(colour(text), behind) >= ENOUGH


def test_no_faint_text_lies_in_faint_text():
    """Opacities multiply: two of .75 and .6 were 2.7:1 for the caption."""
    containers = ("td", "tr", "table", "mark", "abbreviation", "typo", "moved")
    assert not [name for name, _ in opacities() if any(part in name for part in containers)]
