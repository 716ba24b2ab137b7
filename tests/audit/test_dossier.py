"""A dossier is one file that shows what was done, hides what is masked, and does not hide that it was altered."""

import base64
import html
import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit import ExportError, VerdictLog, decisions
from riskcore.audit.dossier import dossier_content, render, verify_dossier, write_dossier
from riskcore.audit.dossier.examples import EXAMPLES, RISKIEST, chosen
from riskcore.audit.dossier.figures import figures_html
from riskcore.audit.dossier.masking import BLOCK, Finder, Mask, blocks, mask_of
from riskcore.audit.dossier.page import CONTENT_PLACE, DIGEST_PLACE, digest_of
from riskcore.audit.dossier.verify import verify_file
from riskcore.audit.sign_off import sign
from riskcore.errors import ConfigError
from riskcore.runs import RunFolder, RunStore
from riskcore.runs.guideline import write_guideline
from riskcore.storage.files import write_json, write_parquet
from tests.audit.example_runs import finished, run, store, unpacked

__all__ = ["finished", "run", "store", "unpacked"]

ESTIMATE = {"f1": {"value": 0.9, "low": 0.8, "high": 0.95}, "verdicts": 40}
HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(1)>&lt;<!-- " \' \u202e\x00 <code id="digest">'
HOSTILE += "0" * 64 + "</code>"
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "header", "p", "h1", "h2", "h3", "div", "strong", "ul", "li"),
    *("b", "span", "nav", "a", "section", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("small", "mark", "code", "blockquote", "br", "footer", "script"),
}


def riskiest(folder):
    frame = decisions(folder, reasons=False, values=False)
    return list(frame[frame["part"] == "target"].sort_values("risk", ascending=False)["pair_id"][:6])


@pytest.fixture(scope="module")
def prepared(unpacked, tmp_path_factory):
    """A folder of runs with verdicts of two people and a sign-off, which no test changes."""
    root = shutil.copytree(unpacked, tmp_path_factory.mktemp("signed") / "runs")
    store, folder = RunStore(root), RunFolder(root / "example")
    log, pairs = VerdictLog(store), riskiest(folder)
    for place, pair in enumerate(pairs):
        log.add("example", pair, "match" if place % 2 else "non-match", f"note {place}", "ann")
    log.add("example", pairs[0], "unsure", who="bob")
    sign(folder, store, "cas", "I accept this result.", ESTIMATE)
    return root


@pytest.fixture
def signed(prepared, tmp_path):
    """A copy of it to change: the run's folder and the store."""
    root = shutil.copytree(prepared, tmp_path / "signed")
    return RunFolder(root / "example"), RunStore(root)


@pytest.fixture(scope="module")
def content(prepared):
    figures = {"kappa": {"kappa": 0.7, "low": 0.5, "high": 0.9}}
    return dossier_content(RunFolder(prepared / "example"), RunStore(prepared), agreement=figures)


@pytest.fixture
def judged(content):
    """Pairs that have a verdict."""
    return [one["pair_id"] for one in content["verdicts"][:-1]]


@pytest.fixture(scope="module")
def sealed(unpacked):
    """The bytes of a dossier that no test changes."""
    return render(dossier_content(RunFolder(unpacked / "example"), RunStore(unpacked)))


def problems(content):
    """What a check finds in a document whose page and digest fit it."""
    return verify_file(render(content)).problems


class Reader(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data):
        self.texts.append(data)


# ---- what it shows


def test_it_shows_what_was_done_judged_and_signed(content, unpacked, judged):
    page = render(content)
    assert problems(content) == ()
    text = " ".join(" ".join(Reader(page.decode()).texts).split())
    described = json.loads((unpacked / "example" / "run.json").read_text())
    for shown in (
        *("I accept this result.", "By cas on", "risk+, kept iteration 0", "bibliography_scraped", "note 3", "bob"),
        *(described["fingerprint"], described["code"], *described["versions"].values()),
        *("Measured against the benchmark's truth, on 600 target pairs", "96.8 %", "estimated F1, 80.0 % to 95.0 %"),
        *("3,000 pairs, 544 of them matches", "the years differ", "validation pairs (at least", "A verdict is added"),
        *judged,
        *content["files"].values(),
        *content["sign_offs"][0]["voided_by"],
        *(content["sign_offs"][0][name] for name in ("labels", "head", "digest")),
    ):
        assert shown in text
    assert json.loads(CONTENT_PLACE.findall(page)[0]) == content
    assert len(content["examples"]) == EXAMPLES


def test_examples_say_what_the_records_say(content, unpacked):
    pairs = pq.read_table(unpacked / "example" / "pairs.parquet").to_pandas().set_index("pair_id")
    for one in content["examples"]:
        row = pairs.loc[one["pair"]]
        for attribute in one["attributes"]:
            for side in ("left", "right"):
                value = row[f"{side}_{attribute['name']}"]
                assert "".join(text for text, _ in attribute[side]) == ("" if pd.isna(value) else value)
        assert one["evidence"]["total"] == pytest.approx(sum(one["evidence"]["parts"].values()), abs=0.03)
    risks = [one["risk"] for one in content["examples"][:RISKIEST]]
    assert risks == sorted(risks, reverse=True)


def test_scores_are_shown_only_where_there_is_truth(finished, store):
    finished.truth_file.unlink()
    page = render(dossier_content(finished, store)).decode()
    assert "The truth about the target pairs is not known" in page
    assert "Measured against" not in page
    assert "truth: " not in page
    assert "No estimate was made" in page
    assert "Nobody has signed off this result." in page


def test_a_run_of_another_method_without_sheets_has_a_dossier(finished, store):
    results = json.loads(finished.results_file.read_text())
    results["methods"] = {"forest": results["methods"]["forest"]}
    write_json(finished.results_file, results)
    content = dossier_content(finished, store)
    assert (content["method"]["method"], content["method"]["iteration"]) == ("forest", None)
    assert [one["evidence"] for one in content["examples"]] == [None] * EXAMPLES
    assert problems(content) == ()
    assert "does not rest on rules" in render(content).decode()


def test_nothing_refers_to_elsewhere_and_nothing_runs(sealed):
    found = Reader(sealed.decode())
    assert set(found.tags) <= TAGS
    assert [value for tag, name, value in found.attributes if tag == "script" and name == "type"] == [
        "application/json"
    ]
    assert found.tags.count("script") == 1
    links = [value for _, name, value in found.attributes if name in ("href", "src", "action", "srcset", "background")]
    assert links
    assert all(link.startswith("#") for link in links)
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name == "style"]
    page = sealed.decode().lower()
    assert not re.search(r"https?:|//[a-z]|url\(|@import|javascript:", page.split("<script")[0])
    policy = next(value for _, name, value in found.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_hostile_text_stays_text(finished, store, run, tmp_path):
    table = pq.read_table(finished.pairs_file)
    for name in ("left_title", "right_venue"):
        values = pa.array([HOSTILE] * table.num_rows, table.field(name).type)
        table = table.set_column(table.column_names.index(name), table.field(name), values)
    write_parquet(finished.pairs_file, table)
    described = json.loads(finished.run_file.read_text())
    described |= {"name": HOSTILE, "notices": [HOSTILE], "versions": {HOSTILE: HOSTILE}}
    write_json(finished.run_file, described)
    write_guideline(finished, HOSTILE, HOSTILE)
    VerdictLog(store).add(run, HOSTILE, "match", HOSTILE, HOSTILE)
    sign(finished, store, HOSTILE, HOSTILE, {HOSTILE: HOSTILE, "rows": [{HOSTILE: HOSTILE}]})
    file = tmp_path / "dossier.html"
    write_dossier(finished, store, file, agreement={HOSTILE: {HOSTILE: [HOSTILE]}})
    page = file.read_bytes().decode()
    found = Reader(page)
    assert set(found.tags) <= TAGS
    assert found.tags.count("script") == 1
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    assert "\u202e" not in page
    assert "\x00" not in page
    assert sum("alert(1)" in text for text in found.texts) > 10
    assert verify_dossier(file).problems == ()


# ---- what was altered is found


@given(st.data())
def test_any_altered_byte_is_found(sealed, data):
    place = data.draw(st.integers(0, len(sealed) - 1))
    other = bytes([sealed[place] ^ data.draw(st.integers(1, 255))])
    assert verify_file(sealed[:place] + other + sealed[place + 1 :]).problems


def test_every_altered_byte_at_the_seams_is_found(sealed):
    """Every place where a check could look past a byte: the digest and what is around it, and both ends."""
    assert verify_file(sealed).problems == ()
    match = DIGEST_PLACE.search(sealed)
    around = range(match.start() - 20, match.end() + 20)
    for place in (*range(40), *around, *range(len(sealed) - 40, len(sealed))):
        for change in (1, 32, 128):
            altered = sealed[:place] + bytes([sealed[place] ^ change]) + sealed[place + 1 :]
            places = DIGEST_PLACE.findall(altered)
            assert len(places) != 1 or digest_of(altered) != places[0].decode(), (place, change)


@given(st.data())
def test_bytes_that_are_added_or_removed_are_found(sealed, data):
    place = data.draw(st.integers(0, len(sealed)))
    added = data.draw(st.binary(min_size=1, max_size=3))
    assert verify_file(sealed[:place] + added + sealed[place:]).problems
    assert verify_file(sealed[: max(place - 1, 0)]).problems


def test_a_figure_on_the_page_that_is_not_in_the_data_is_found(content):
    page = render(content).replace(b"96.8 %", b"99.8 %")
    page = DIGEST_PLACE.sub(f'<code id="digest">{digest_of(page)}</code>'.encode(), page)
    assert verify_file(page).problems == ("The page does not show what the data at the end of the file say.",)


def test_altered_verdicts_are_found_under_a_new_digest(content):
    entries = [dict(one) for one in content["verdicts"]]
    entries[2]["verdict"] = "match"
    assert problems({**content, "verdicts": entries})[0].startswith("Entry 3 of the verdict log")
    found = problems({**content, "verdicts": content["verdicts"][:-1]})
    assert found == ("1 of the 7 signed entries of the verdict log are missing.",)


def test_altered_decisions_are_found_under_a_new_digest(content):
    pairs = {word: list(ids) for word, ids in content["decisions"]["pairs"].items()}
    pairs["match"].append(pairs["non-match"].pop())
    (found,) = problems({**content, "decisions": {**content["decisions"], "pairs": pairs}})
    assert found.startswith("The decision on at least one pair has changed")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"statement": "I reject it."}, "Sign-off 1 was altered after it was signed."),
        ({"labels": "0" * 64}, "Sign-off 1 was altered after it was signed."),
        ({"estimate": None}, "Sign-off 1 was altered after it was signed."),
        ({"before": "1"}, "Sign-off 1 does not follow from the sign-off before it: one is missing."),
    ],
)
def test_an_altered_sign_off_is_found_under_a_new_digest(content, change, says):
    assert says in problems({**content, "sign_offs": [{**content["sign_offs"][0], **change}]})


def test_a_sign_off_of_something_else_is_found(content):
    method = {**content["method"], "iteration": 2}
    assert any("iteration 2" in one for one in problems({**content, "method": method}))
    data = {**content["data"], "fingerprint": "other"}
    assert problems({**content, "data": data}) == (
        "The sign-off is about other data, code or versions than the dossier.",
    )
    files = {**content["files"], "pairs.parquet": "0"}
    assert problems({**content, "files": files}) == (
        "The files that were signed are not those that the dossier lists.",
    )
    assert problems({**content, "run": {**content["run"], "id": "other"}}) == ("The sign-off is about another run.",)


@pytest.mark.parametrize("file", [b"", b"<html></html>", b'<code id="digest">' + b"0" * 64 + b"</code>"])
def test_what_is_no_dossier_is_not_intact(file):
    assert not verify_file(file).intact


@pytest.mark.parametrize("data", [b"{}", b"[]", b"nonsense", b'{"kind":"riskcore dossier"}', b"[" * 100_000])
def test_data_that_are_none_are_not_intact(data):
    page = b'<code id="digest">' + b"0" * 64 + b'</code><script type="application/json" id="content">' + data
    page += b"</script>"
    page = DIGEST_PLACE.sub(f'<code id="digest">{digest_of(page)}</code>'.encode(), page)
    (found,) = verify_file(page).problems
    assert found.startswith("The data at the end of the file")


def test_a_sign_off_that_was_void_says_so(signed, judged):
    finished, store = signed
    VerdictLog(store).add("example", judged[3], "non-match", who="dan")
    later = dossier_content(finished, store)
    page = render(later).decode()
    assert "✗ Signed off, but the sign-off no longer holds" in page
    assert "✓ Signed off" not in page
    added, changed = problems(later)
    assert "1 verdict was added, replaced or withdrawn since the sign-off, by dan." in added
    assert "The decision on at least one pair has changed" in changed


# ---- what is masked


def forms(value):
    """How a value could stand in a file: as it is, escaped for HTML and JSON, and in base64 at any offset."""
    yield value
    yield html.escape(value)
    yield json.dumps(value)[1:-1]
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + value.encode()).decode().rstrip("=")
        yield coded[4 if offset else 0 : -2]


@pytest.mark.parametrize("attribute", ["title", "authors", "venue"])
def test_masked_values_are_nowhere_in_the_file(attribute, signed, run, judged):
    finished, store = signed
    columns = pq.read_table(finished.records_file).column(f"value_{attribute}")
    values = {value for value in columns.to_pylist() if value and len(value) > 5}
    secret = max(values, key=len)
    write_guideline(finished, f"Not {secret}.", "ann")
    VerdictLog(store).add(run, judged[0], "match", f"it is {secret.upper()}!", "ann")
    VerdictLog(store).add(run, judged[1], "match", "plain", "ann")
    sign(finished, store, "ann", f"All but {secret}", {"about": secret, "rows": [{"of": secret}]})
    content = dossier_content(finished, store, [attribute], agreement={"on": [secret]})
    page = render(content)
    raw = page.decode().lower()
    readable = html.unescape(raw) + json.dumps(content, ensure_ascii=False).lower()
    for value in values:
        assert value.lower() not in readable, value
        assert not [form for form in forms(value) if len(form) > 5 and form.lower() in raw]
    assert verify_file(page).problems == ()
    shown = [row for one in content["examples"] for row in one["attributes"] if row["name"] == attribute]
    pieces = [piece for row in shown for side in ("left", "right") for piece in row[side]]
    assert {(text.strip(BLOCK), state) for text, state in pieces} == {("", "same")}
    assert content["masked"] == {"attributes": [attribute], "ids": False}
    assert BLOCK * 3 in raw


def test_no_part_of_a_masked_value_is_quoted_from_another_attribute(finished, store):
    """The titles repeat the authors. What the titles differ in is a part of the masked value."""
    table = pq.read_table(finished.pairs_file)
    written = {"left_authors": "zanzibar quux", "left_title": "zanzibar quux alpha", "right_title": "zanzibar plonk"}
    for name, value in written.items():
        values = pa.array([value] * table.num_rows, table.field(name).type)
        table = table.set_column(table.column_names.index(name), table.field(name), values)
    write_parquet(finished.pairs_file, table)
    assert "quux" in render(dossier_content(finished, store)).decode()
    content = dossier_content(finished, store, ["authors"])
    assert "quux" not in render(content).decode()
    title = content["examples"][0]["attributes"][0]
    assert "".join(text for text, _ in title["left"]) == f"{blocks('zanzibar quux')} alpha"
    assert title["words"] == "the values differ"


def test_no_digest_is_left_that_masked_text_could_be_guessed_from(signed, run, judged):
    finished, store = signed
    secret = pq.read_table(finished.records_file).column("value_authors").to_pylist()[0]
    write_guideline(finished, secret)
    VerdictLog(store).add(run, judged[0], "match", f"see {secret}", "ann")
    VerdictLog(store).add(run, judged[1], "match", "plain", "ann")
    accepted = sign(finished, store, "ann", "Fine.")
    entries = VerdictLog(store).entries(run)
    content = dossier_content(finished, store, ["authors"])
    page = render(content).decode()
    assert content["verdicts_masked_from"] == len(judged) + 2
    assert [entry.digest in page for entry in entries] == [True] * (len(judged) + 1) + [False] * 2
    assert accepted.digest not in page
    hidden = [name for name, digest in content["files"].items() if not digest]
    assert hidden == ["guideline.json", "signoffs/01.json", "signoffs/02.json"]
    found = verify_file(render(content))
    assert found.intact
    assert any("left out" in one for one in found.checked)


def test_without_masked_text_a_masked_dossier_keeps_its_digests(content, prepared):
    masked = dossier_content(RunFolder(prepared / "example"), RunStore(prepared), ["authors"])
    assert masked["verdicts"] == content["verdicts"]
    assert masked["sign_offs"] == content["sign_offs"]
    assert masked["files"] == content["files"]
    assert problems(masked) == ()


def test_masked_ids_are_nowhere_and_pairs_can_still_be_told_apart(signed, judged):
    finished, store = signed
    note = f"like {judged[1]} and record {judged[2].split(':')[0]}"
    VerdictLog(store).add("example", judged[0], "match", note, "ann")
    sign(finished, store, "ann", "Fine.")
    masked = dossier_content(finished, store, mask_ids=True)
    page = render(masked).decode()
    ids = pq.read_table(finished.pairs_file).column("pair_id").to_pylist()
    assert not [pair for pair in ids if pair in page]
    assert masked["verdicts"][-1]["note"] == f"like {blocks(judged[1])} and record ███"
    assert masked["decisions"]["pairs"] is None
    names = [one["pair_id"] for one in masked["verdicts"]]
    original = [one.pair_id for one in VerdictLog(store).entries("example")]
    assert len(set(zip(names, original, strict=True))) == len(set(original)) == len(set(names))
    assert problems(masked) == ()


def test_only_attributes_of_the_run_can_be_masked(finished):
    with pytest.raises(ConfigError, match=r"no attribute 'ssn'. It has: title, authors, venue, year"):
        mask_of(finished, ["ssn"])


def test_blocks_tell_only_the_class_of_a_length():
    assert len({blocks("x" * length) for length in range(1, 5)}) == 1
    assert len({blocks("x" * length) for length in range(1, 500)}) == 4


letters = st.text("abAB -", min_size=4, max_size=6).filter(lambda text: len(text.strip()) >= 4)


@given(st.lists(letters, max_size=5), st.text("abAB -", max_size=40))
@example(["aabb", "bbaa"], "xaabbaax")
def test_no_value_is_left_in_a_text_and_the_rest_stays(values, text):
    masked = Mask(values=values).value(text)
    assert not [value for value in values if value.strip().lower() in masked.lower()]
    if not [value for value in values if value.strip().lower() in text.lower()]:
        assert masked == text
    assert "".join(char for char in masked if char != BLOCK) in _subsequences(text, masked)


def _subsequences(text, masked):
    """The text without the stretches that blocks stand for, if the masked text can be made of it."""
    pattern = re.escape(masked).replace(re.escape(BLOCK), BLOCK)
    pattern = re.sub(f"{BLOCK}+", "(?:.+?)", pattern)
    return {masked.replace(BLOCK, "")} if re.fullmatch(pattern, text, re.DOTALL) else set()


def test_short_values_are_found_as_whole_words():
    found = Finder(["ab", "7"])
    assert found.spans("ab, cab (AB) 7 77 7%") == [(0, 2), (9, 11), (13, 14), (18, 19)]
    assert Finder([]).spans("ab") == []
    assert Finder(["straße i"]).spans("İ STRASSE STRAßE I") == [(10, 18)]


# ---- its parts


@given(st.integers(0, 40), st.randoms(use_true_random=False))
def test_examples_are_the_riskiest_and_a_spread_of_the_rest(count, random):
    rows = list(range(count))
    frame = pd.DataFrame(
        {
            "part": "target",
            "decision": [random.choice(["match", "non-match"]) for _ in rows],
            "probability": [random.random() for _ in rows],
            "risk": [random.choice([0.1, 0.2, random.random(), np.nan]) for _ in rows],
        },
        index=rows,
    )
    found = chosen(frame)
    assert len(found) == len(set(found)) == min(count, EXAMPLES)
    known = frame["risk"].fillna(-(frame["probability"].sub(0.5).abs()))
    assert sorted(known[found[:RISKIEST]], reverse=True) == sorted(known, reverse=True)[:RISKIEST]
    rest = frame.loc[found[RISKIEST:], "decision"].value_counts()
    left = frame.drop(index=found[:RISKIEST])["decision"].value_counts()
    if left.get("match", 0) >= 6 and left.get("non-match", 0) >= 6:
        assert dict(rest) == {"match": 6, "non-match": 6}


def test_figures_of_any_form_are_shown():
    figures = {
        "sentence": "All is <well>.",
        "f1": {"value": 0.5, "low": 0.25, "high": 0.75},
        "pooled": {"kappa": 0.7, "low": 0.5, "high": None, "pairs": 1200},
        "bounds": {"recall": [0.1, 0.2]},
        "strata": [{"pairs": 3, "rate": 0.5}],
        "done": True,
    }
    text = " ".join(Reader(figures_html(figures)).texts)
    assert text.startswith("All is <well>.")
    for shown in ("50.0 %", "25.0 % to 75.0 %", "0.5 to unknown", "1,200", "10.0 % to 20.0 %", "Strata", "yes"):
        assert shown in text


# ---- commands and files


@pytest.fixture
def call(store):
    def invoke(*arguments):
        return CliRunner().invoke(cli.app, ["audit", *map(str, arguments), "--runs", str(store.root)])

    return invoke


def test_commands_write_and_verify(call, run, tmp_path):
    file = tmp_path / "dossier.html"
    (tmp_path / "figures.json").write_text(json.dumps(ESTIMATE))
    figures = ("--estimate", tmp_path / "figures.json", "--agreement", tmp_path / "figures.json")
    result = call("dossier", run, "--out", file, "--mask", "title", "--mask", "venue", "--mask-ids", *figures, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["digest"] in file.read_text()
    assert json.loads(CONTENT_PLACE.findall(file.read_bytes())[0])["masked"] == {
        "attributes": ["title", "venue"],
        "ids": True,
    }
    result = CliRunner().invoke(cli.app, ["audit", "verify", str(file)])
    assert (result.exit_code, "Intact." in result.stdout) == (0, True)
    file.write_bytes(file.read_bytes().replace(b"candidate pairs", b"candidate Pairs"))
    result = call("verify", file)
    assert result.exit_code == 1
    assert "Problem: The file was altered after it was made" in result.stdout
    assert call("dossier", run, "--out", file, "--mask", "ssn").exit_code == 2
    assert call("dossier", run, "--out", tmp_path / "dossier.pdf").exit_code == 2
    assert call("dossier", "none", "--out", file).exit_code == 2


def test_a_dossier_needs_a_folder(finished, store, tmp_path):
    with pytest.raises(ExportError, match="does not exist"):
        write_dossier(finished, store, tmp_path / "nowhere" / "dossier.html")
