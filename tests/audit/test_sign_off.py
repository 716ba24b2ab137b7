"""A sign-off says what it covers, and `check` says what has changed since."""

import dataclasses
import hashlib
import json
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit import VerdictLog, decisions
from riskcore.audit.chain import chain_problems
from riskcore.audit.estimate import draw_audit
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.audit.log_entries import pairs_by_person, pairs_by_verdict, recorded_entries
from riskcore.audit.sign_off import (
    SignOff,
    SignOffError,
    altered,
    check,
    labels_digest,
    sign,
    sign_off_digest,
    sign_offs,
)
from riskcore.audit.verify import verify_run
from riskcore.errors import StorageError
from riskcore.runs.store.database import verdicts
from riskcore.storage.files import write_json, write_parquet
from tests.audit.example_runs import finished, run, store, unpacked

__all__ = ["finished", "run", "store", "unpacked"]

ESTIMATE = {"f1": 0.9, "interval": [0.8, 0.95]}


@pytest.fixture
def log(store, finished):
    return VerdictLog(store)


@pytest.fixture
def pairs(finished):
    """Target pairs by id, with what the model says of each."""
    frame = decisions(finished, reasons=False, values=False)
    return frame[frame["decided_by"] == "model"].set_index("pair_id")["decision"].to_dict()


@pytest.fixture
def signed(finished, store, log, run, pairs):
    first, second, *_ = pairs
    log.add(run, first, "match", "same", "ann")
    log.add(run, first, "non-match", "another year", "bob")
    log.add(run, second, "unsure", who="ann")
    return sign(finished, store, " ann ", "I accept this result.", ESTIMATE)


def test_it_says_what_it_covers(signed, finished, store, log, run):
    described = json.loads(finished.run_file.read_text())
    assert (signed.number, signed.run, signed.who, signed.statement) == (1, run, "ann", "I accept this result.")
    assert signed.at.endswith("+00:00")
    assert [signed.fingerprint, signed.code, signed.versions] == [
        described[name] for name in ("fingerprint", "code", "versions")
    ]
    assert (signed.method, signed.iteration) == ("risk+", finished.kept("risk+"))
    assert (signed.entries, signed.head) == (3, log.entries(run)[-1].digest)
    assert signed.verdicts == {"non-match": 1, "unsure": 1}  # of a pair that two judged, the latest
    assert signed.people == {"ann": 2, "bob": 1}
    assert signed.estimate == ESTIMATE
    frame = decisions(finished, reasons=False, values=False)
    assert (signed.pairs, signed.matches) == (len(frame), int((frame["decision"] == "match").sum()))
    lines = sorted(frame[["pair_id", "decision"]].itertuples(index=False, name=None))
    text = "".join(json.dumps(list(line)) + "\n" for line in lines)
    assert signed.labels == hashlib.sha256(text.encode()).hexdigest()
    assert check(finished, store, signed) == []
    assert sign_offs(finished) == [signed]


def test_without_an_estimate_it_says_so(finished, store):
    found = sign(finished, store, "ann", "Fine.")
    assert found.estimate is None
    assert found.estimate_note == "This sign-off states no estimate of how good the labels are."
    assert (found.entries, found.head, found.verdicts) == (0, "", {})
    assert check(finished, store, found) == []


def test_an_estimate_may_state_itself(finished, store):
    class Estimate:
        def to_json(self):
            return {"f1": float("nan"), "pairs": 3}

    assert sign(finished, store, "ann", "Fine.", Estimate()).estimate == {"f1": None, "pairs": 3}


def test_a_new_verdict_voids_it_and_says_so(signed, finished, store, log, run, pairs):
    pair = list(pairs)[5]
    log.add(run, pair, pairs[pair], who="cas")  # the decision stays the same
    assert check(finished, store, signed) == ["1 verdict was added, replaced or withdrawn since the sign-off, by cas."]
    log.add(run, pair, "match" if pairs[pair] == "non-match" else "non-match", who="cas")
    added, changed = check(finished, store, signed)
    assert added.startswith("2 verdicts were added, replaced or withdrawn")
    assert changed.startswith("The decision on at least one pair has changed since the sign-off: ")
    again = sign(finished, store, "ann", "I accept it with the new verdicts.")
    assert check(finished, store, again) == []
    assert again.before == signed.digest


def test_a_changed_label_voids_it(signed, finished, store):

    file = finished.scores_file("risk+", signed.iteration)
    table = pq.read_table(file)
    place = table.column_names.index("label")
    flipped = [1 - label if row == 7 else label for row, label in enumerate(table.column("label").to_pylist())]
    table = table.set_column(place, table.field("label"), pa.array(flipped, table.field("label").type))
    write_parquet(file, table)  # with its checksum
    changed, replaced = check(finished, store, signed)
    assert changed.startswith("The decision on at least one pair has changed")
    name = file.relative_to(finished.path).as_posix()
    assert replaced == f"The file {name} was replaced or altered since the sign-off."


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("fingerprint", "other", "The run's data are not the data that were signed"),
        ("code", "other", "other code"),
        ("versions", {"riskcore": "9.9"}, "The run was made with other versions: riskcore was"),
    ],
)
def test_another_description_voids_it(signed, finished, store, field, value, says):
    write_json(finished.run_file, {**json.loads(finished.run_file.read_text()), field: value})
    problems = check(finished, store, signed)
    assert any(says in one for one in problems)
    assert "The file run.json was replaced or altered since the sign-off." in problems


def test_another_kept_iteration_voids_it(signed, finished, store):
    results = json.loads(finished.results_file.read_text())
    other = next(one for one in finished.iterations("risk+") if one != signed.iteration)
    results["methods"]["risk+"]["best_iteration"] = other
    write_json(finished.results_file, results)
    says = f"The result is now that of risk+, iteration {other}, and risk+, iteration {signed.iteration} was signed."
    assert says in check(finished, store, signed)


def test_a_damaged_file_voids_it(signed, finished, store):
    file = finished.scores_file("risk+", signed.iteration)
    content = bytearray(file.read_bytes())
    content[200] ^= 1
    file.write_bytes(content)
    damaged, altered_file = check(finished, store, signed)
    assert f"{file} is damaged" in damaged
    assert altered_file.endswith("was replaced or altered since the sign-off.")


def test_it_is_about_one_run(signed, finished, store):
    other = dataclasses.replace(signed, run="another")
    assert check(finished, store, other) == [f"Sign-off 1 is about run another, and this is run {finished.path.name}."]


def test_an_altered_log_is_found_and_is_not_signed(signed, finished, store):
    with store.database.write() as tx:
        tx.execute(sa.update(verdicts).where(verdicts.c.number == 3).values(verdict="match"))
    problems = check(finished, store, signed)
    assert any(one.startswith("Entry 3 of the verdict log") for one in problems)
    with pytest.raises(SignOffError, match="not intact"):
        sign(finished, store, "ann", "Fine.")
    with store.database.write() as tx:
        tx.execute(sa.delete(verdicts).where(verdicts.c.number == 3))
    assert "1 of the 3 signed entries of the verdict log are missing." in check(finished, store, signed)


def test_every_field_of_an_altered_sign_off_shows(signed, finished, store):
    for field in dataclasses.fields(SignOff):
        value = getattr(signed, field.name)
        other = value + 1 if isinstance(value, int) else "other"
        assert altered([dataclasses.replace(signed, **{field.name: other})]), field.name
    file = finished.path / "signoffs" / "01.json"
    file.write_text(file.read_text().replace("I accept", "I reject"))
    assert check(finished, store, sign_offs(finished)[0]) == ["Sign-off 1 was altered after it was signed."]


def test_a_sign_off_that_was_removed_shows(finished, store):
    for number in (1, 2, 3):
        assert sign(finished, store, "ann", "Fine.").number == number
    assert altered(sign_offs(finished)) == []
    (finished.path / "signoffs" / "02.json").unlink()
    assert altered(sign_offs(finished)) == ["Sign-off 3 does not follow from the sign-off before it: one is missing."]
    assert sign(finished, store, "ann", "Fine.").number == 4


def test_people_who_sign_at_once_overwrite_nothing(finished, store):
    def accept(who):
        sign(finished, store, who, f"Signed by {who}.")

    threads = [threading.Thread(target=accept, args=(who,)) for who in ("ann", "bob", "cas", "dan")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = sign_offs(finished)
    assert sorted(one.who for one in found) == ["ann", "bob", "cas", "dan"]
    assert altered(found) == []


def test_a_file_of_that_name_is_never_overwritten(finished, store):
    folder = finished.path / "signoffs"
    folder.mkdir()
    (folder / "01.json").mkdir()  # read by nobody, and in the way
    with pytest.raises(StorageError):
        sign(finished, store, "ann", "Fine.")


@pytest.mark.parametrize(("who", "statement"), [("", "Fine."), ("ann", " \n"), ("a" * 201, "x"), ("a", "x" * 10_001)])
def test_a_name_and_a_statement_are_needed(finished, store, who, statement):
    with pytest.raises(SignOffError, match="A sign-off needs"):
        sign(finished, store, who, statement)
    assert sign_offs(finished) == []


def test_a_run_that_is_not_done_is_not_signed(finished, store):
    finished.results_file.unlink()
    with pytest.raises(StorageError, match="is not done"):
        sign(finished, store, "ann", "Fine.")
    assert not (finished.path / "signoffs").exists()


def test_a_file_that_is_no_sign_off_is_an_error(finished, store):
    (finished.path / "signoffs").mkdir()
    (finished.path / "signoffs" / "01.json").write_text("{}")
    with pytest.raises(StorageError, match="is not a sign-off"):
        sign_offs(finished)


decided = st.dictionaries(st.text(max_size=5), st.sampled_from(["match", "non-match"]), min_size=1, max_size=6)


@given(decided, st.randoms(use_true_random=False), st.data())
def test_the_digest_of_labels_depends_on_every_label_and_not_on_their_order(labels, random, data):
    shuffled = list(labels.items())
    random.shuffle(shuffled)
    assert labels_digest(shuffled) == labels_digest(labels.items())
    pair = data.draw(st.sampled_from(sorted(labels)))
    other = "match" if labels[pair] == "non-match" else "non-match"
    assert labels_digest({**labels, pair: other}.items()) != labels_digest(labels.items())
    rest = {one: label for one, label in labels.items() if one != pair}
    assert labels_digest(rest.items()) != labels_digest(labels.items())


def test_entries_as_recorded_count_and_verify_as_the_log_does(store, log, run):
    log.add(run, "a:b", "match", "ä☃", "ann")
    log.add(run, "a:c", "match", who="ann")
    log.add(run, "a:b", "unsure", who="bob")
    log.undo(run, "a:b", "bob")
    log.add(run, "a:d", "non-match", who="")
    entries = json.loads(json.dumps(recorded_entries(store, run)))  # also after a trip through JSON
    assert chain_problems(entries) == log.problems(run) == []
    current = log.current(run)
    counts = [one.verdict for one in current.values()]
    assert pairs_by_verdict(entries) == {word: counts.count(word) for word in set(counts)}
    assert pairs_by_person(entries) == {who: len(log.current(run, who)) for who in ("", "ann")}
    for place, name in ((0, "note"), (1, "who"), (2, "verdict"), (3, "pair_id"), (4, "at")):
        other = [{**one, name: one[name] * 2} if at == place else one for at, one in enumerate(entries)]
        assert chain_problems(other)[0].startswith(f"Entry {place + 1} of the verdict log")
    assert chain_problems(entries[1:]) == ["Entry 1 of the verdict log is missing."]


def test_a_run_is_verified(signed, finished, store, log, run):
    assert verify_run(finished, store).intact
    log.add(run, "a:b", "match", who="cas")
    found = verify_run(finished, store)
    assert found.problems == ("1 verdict was added, replaced or withdrawn since the sign-off, by cas.",)
    assert found.checked[0].startswith("The verdict log has 4 entries; its head is ")


@pytest.fixture
def call(store):
    def invoke(*arguments):
        return CliRunner().invoke(cli.app, ["audit", *map(str, arguments), "--runs", str(store.root)])

    return invoke


def test_commands_sign_and_verify(call, finished, store, run, tmp_path):
    assert call("verify", run).exit_code == 0
    assert call("sign", run, "--who", "ann").exit_code == 2
    assert call("sign", run, "--who", " ", "--statement", "x").exit_code == 2
    file = tmp_path / "estimate.json"
    file.write_text(json.dumps(ESTIMATE))
    result = call("sign", run, "--who", "ann", "--statement", "Fine.", "--estimate", file)
    assert result.exit_code == 0, result.output
    (found,) = sign_offs(finished)
    assert found.estimate == ESTIMATE
    assert found.digest in result.stdout
    file.write_text("[1]")
    assert call("sign", run, "--who", "ann", "--statement", "x", "--estimate", file).exit_code == 2
    assert "Intact." in call("verify", run).stdout
    VerdictLog(store).add(run, "a:b", "match", who="bob")
    result = call("verify", run, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"] == [
        "1 verdict was added, replaced or withdrawn since the sign-off, by bob."
    ]
    assert call("verify", "no such run").exit_code == 2


def test_the_command_signs_the_estimate_of_the_runs_own_audit(call, finished, store, run):
    draw_audit(finished, 12)
    truth = decisions(finished, reasons=False, values=False, truth=True).set_index("pair_id")["truth"]
    for pair in audited_pairs(finished)["pair_id"]:
        VerdictLog(store).add(run, pair, "match" if truth[pair] == 1 else "non-match", who="ann")
    assert call("sign", run, "--who", "ann", "--statement", "Fine.").exit_code == 0
    (found,) = sign_offs(finished)
    assert found.estimate["verdicts"] == 12
    assert found.estimate["f1"]["low"] < found.estimate["f1"]["value"] <= 1
    assert found.estimate["sentence"].startswith("F1 is about")


def test_the_digest_is_that_of_the_stored_document(signed, finished):
    stored = json.loads((finished.path / "signoffs" / "01.json").read_text())
    digest = stored.pop("digest")
    text = json.dumps(stored, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == digest == sign_off_digest(signed)
