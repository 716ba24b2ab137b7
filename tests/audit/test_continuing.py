"""Continuing a run: its matcher after any iteration, the labels and verdicts since, and what that changed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from riskcore.audit.continuing import (
    compare_with_parent,
    continuing_config,
    create_continued,
    with_decided_rules,
    with_verdicts,
)
from riskcore.audit.draws import draw_pairs, drawn_pairs
from riskcore.audit.feedback import keep_current
from riskcore.audit.verdicts import VerdictLog
from riskcore.cli import app
from riskcore.columns import PAIR_ID
from riskcore.config import RuleConfig, RunConfig
from riskcore.errors import ConfigError, StorageError
from riskcore.risk.log_odds import log_odds
from riskcore.rules.rule import RuleFormatError
from riskcore.runs.bundle.read import Bundle
from riskcore.runs.feedback_files import clear_rules, decide_rule, read_ranking
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids, read_scores
from riskcore.runs.readers.label_rankings import read_columns, read_risks
from riskcore.runs.readers.rule_shift import rule_shift
from riskcore.runs.starts import iterations_to_continue, parse_start, read_start, start_facts, store_start
from riskcore.runs.store.run_store import RunStore
from riskcore.runs.worker.execute import execute, load_data
from riskcore.training.experiment import run_experiment
from riskcore.training.fitted_learners import ScoredPart
from riskcore.training.listeners import Listener
from tests.apply.finished import QUICK, finished
from tests.data.folders import small_sample


@pytest.fixture(scope="module")
def parent(tmp_path_factory) -> RunFolder:
    data = tmp_path_factory.mktemp("data")
    source, target = (small_sample(f"bibliography_{name}", data / name) for name in ("clean", "scraped"))
    adapt = dataclasses.replace(QUICK.adapt, iterations=2)
    config = dataclasses.replace(QUICK, source=source, target=target, adapt=adapt)
    return finished(tmp_path_factory.mktemp("runs"), config)


@pytest.fixture(scope="module")
def store(parent) -> RunStore:
    return RunStore(parent.path.parent)


@pytest.fixture(scope="module")
def child(parent, store) -> RunFolder:
    """A run that continues from the first iteration of `risk`, with verdicts on drawn and on other pairs."""
    draw_pairs(parent, 30)
    log, drawn = VerdictLog(store), list(drawn_pairs(parent)[PAIR_ID])
    truth = dict(zip(ids_of(parent), read_scores(parent.truth_file, ("label",))["label"], strict=True))
    others = [pair for pair in ids_of(parent) if pair not in drawn][:5]
    for pair in (*drawn, *others):
        log.add(parent.path.name, pair, "match" if truth[pair] else "non-match", note="seen", who="Ann")
    record = create_continued(store, with_verdicts(continuing_config(parent, "risk", 1), parent))
    execute(store, record.id)
    return RunFolder(record.folder)


def ids_of(folder: RunFolder) -> list[str]:
    return read_pair_ids(folder.pairs_file).column(PAIR_ID).to_pylist()


def probability(folder: RunFolder, iteration: int) -> np.ndarray:
    return read_scores(folder.scores_file("risk", iteration), ("probability",))["probability"]


def answers(folder: RunFolder) -> np.ndarray:
    """The labels that the run ended with."""
    return read_columns(folder.final_file)["risk+"] >= 0.5


def digest(folder: RunFolder) -> str:
    files = sorted((folder.path / "scores").rglob("*.parquet"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def test_the_matcher_of_every_iteration_is_stored(parent):
    assert iterations_to_continue(parent, "risk") == [0, 1, 2]
    assert iterations_to_continue(parent, "risk+") == parent.iterations("risk+")
    kept = store_start(parent, "risk")
    weights = Bundle(parent.bundle).answer_model("risk").learned
    assert all((read_start(kept)[name] == values).all() for name, values in weights.items())


def test_a_stored_matcher_names_its_run_and_is_stored_once(parent):
    path = store_start(parent, "risk", 1)
    assert path == store_start(parent, "risk", 1)
    assert path != store_start(parent, "risk", 2)
    facts = start_facts(path)
    assert (facts["run"], facts["method"], facts["iteration"]) == (parent.path.name, "risk", 1)


def test_where_states_take_too_much_space_only_the_kept_one_is_there(parent, tmp_path):
    copied = RunFolder(shutil.copytree(parent.path, tmp_path / parent.path.name))
    for file in (copied.path / "states").rglob("*.safetensors"):
        file.unlink()
    kept = copied.kept("risk")
    assert iterations_to_continue(copied, "risk") == [kept]
    assert store_start(copied, "risk").is_file()
    other = next(one for one in copied.iterations("risk") if one != kept)
    with pytest.raises(StorageError, match=f"has not stored the matcher of iteration {other}.*continued from: {kept}"):
        store_start(copied, "risk", other)


def test_training_begins_with_that_matcher_and_ends_elsewhere(parent, child):
    about = child.run()
    assert about["continues"] == start_facts(about["config"]["start"])
    assert any("continues from run" in notice for notice in about["notices"])
    assert about["name"].endswith("from iteration 1")
    before = dict(zip(ids_of(parent), probability(parent, 1), strict=True))
    after = dict(zip(ids_of(child), read_columns(child.final_file)["tradition"], strict=True))
    assert [after[pair] for pair in after] == pytest.approx([before[pair] for pair in after], abs=1e-6)
    start, last = probability(child, 0), probability(child, 2)
    assert start == pytest.approx(list(after.values()), abs=1e-6)
    assert (start != last).any()


def test_verdicts_on_drawn_pairs_are_labels_and_all_are_carried_over(parent, child, store):
    drawn = set(drawn_pairs(parent)[PAIR_ID])
    assert not drawn & set(ids_of(child))  # labels leave the target
    assert child.run()["counts"]["validation"] == parent.run()["counts"]["validation"] + 30
    found = VerdictLog(store).current(child.path.name)
    assert len(found) == 35
    assert {one.who for one in found.values()} == {"Ann"}
    assert {one.note for one in found.values()} == {f"seen (given in run {parent.path.name})"}


def test_before_and_after(parent, child):
    found = compare_with_parent(child)
    old, new = (dict(zip(ids_of(one), answers(one).tolist(), strict=True)) for one in (parent, child))
    changed = [pair for pair in new if old[pair] != new[pair]]
    assert (found.parent, found.iteration, found.pairs) == (parent.path.name, 1, len(new))
    assert found.changed == len(changed)
    assert found.to_match == sum(new[pair] for pair in changed)
    assert 0 < found.f1_before <= 1
    assert 0 < found.f1_after <= 1
    assert found.estimate_before is None
    assert compare_with_parent(parent) is None


@pytest.mark.parametrize("text", ["", ":3", "run:", "run:x", "run:risk:x", "a:b:c:1", "run:-1"])
def test_what_cannot_be_continued_is_refused(text):
    with pytest.raises(ConfigError, match="is not RUN"):
        parse_start(text)


def test_what_to_continue_from_is_read():
    assert parse_start("run") == ("run", None, None)
    assert parse_start("run:3") == ("run", None, 3)
    assert parse_start("run:risk+:3") == ("run", "risk+", 3)


def test_the_command(parent, child):
    def called(*words):
        return CliRunner().invoke(app, [*words, "--runs", str(parent.path.parent)])

    shown = called("runs", "show", child.path.name).stdout
    assert f"continues {parent.path.name} from iteration 1 of risk" in shown
    assert "labels differ" in shown
    assert json.loads(called("runs", "show", child.path.name, "--json").stdout)["continues"]["iteration"] == 1
    refused = called("run", "--from", parent.path.name, "--matcher", "hybrid", "--source", "x")
    assert refused.exit_code != 0
    assert "source, matcher.kind" in refused.output
    assert "the rules of a run" in called("run", "--decided-rules", "--source", "x").output


def test_the_same_start_labels_and_seed_give_the_same_bytes(parent, child):
    """From the command line."""
    words = ["run", "--from", f"{parent.path.name}:risk:1", "--labels", parent.path.name, "--decided-rules", "--json"]
    done = CliRunner().invoke(app, [*words, "--runs", str(parent.path.parent)])
    assert done.exit_code == 0, done.output
    made = RunFolder(parent.path.parent / json.loads(done.stdout)["run"])
    assert made.run()["continues"] == child.run()["continues"]
    assert digest(made) == digest(child)


# Muted and pinned rules: in the queue of a run, and in the next one.


def firing_rule(folder: RunFolder) -> int:
    """A rule that fires on many pairs and has weight in the rules' voice."""
    model = Bundle(folder.bundle).answer_model("risk+").learners.learners[0].model
    rules = pq.read_table(folder.fired_file, columns=["rule"]).column("rule").to_numpy()
    fired = np.bincount(rules, minlength=len(model.rules))
    return int(np.argmax(fired * (model.effective_weight > 0.01)))


@pytest.mark.parametrize("state", ["muted", "pinned"])
def test_the_queue_moves_as_the_rules_voice_does(parent, state):
    """Against what the run would have stacked with this rule muted or pinned."""
    number = firing_rule(parent)
    key = parent.rules().rules[number].key
    bundle = Bundle(parent.bundle)
    model = bundle.answer_model("risk+")
    workload, _ = load_data(config_of(parent))
    part = bundle.evidence(workload.target)
    rules = model.learners.learners[0]
    changed = dataclasses.replace(rules, model=rules.model.with_rules(**{state: [key]}, config=model.config.risk))
    gathered = model.gather(part)
    start = read_columns(parent.final_file)["tradition"]
    other = dataclasses.replace(model.learners, learners=(changed, *model.learners.learners[1:]))
    inputs = gathered.inputs.copy()
    inputs[:, 1] = other.log_odds(ScoredPart(part, start), model.config.stack.probability_floor)[:, 0]
    stacked = (inputs - gathered.inputs) @ model.stacker.weights
    scale = model.ranking.scale * (1 if model.ranking.competition is None else model.ranking.competition[1])
    found = rule_shift(parent, "risk+", *(([key], []) if state == "muted" else ([], [key])))
    assert found == pytest.approx(scale * stacked, abs=1e-6)
    assert (np.abs(found) > 1e-3).any()
    decide_rule(parent, key, state, "Ann")
    facts = keep_current(parent, "risk+")
    assert facts[state] == [key]
    moved = log_odds(read_ranking(parent, "risk+"), 1e-9) - log_odds(read_risks(parent)["risk+"], 1e-9)
    assert moved == pytest.approx(np.where(answers(parent), -found, found), abs=1e-6)
    clear_rules(parent)
    assert keep_current(parent, "risk+") is None


def config_of(folder: RunFolder) -> RunConfig:
    return RunConfig.from_stored(dict(folder.run()["config"]))


def test_decided_rules_go_into_the_next_run(parent):
    muted, pinned = (parent.rules().rules[one].key for one in (0, 1))
    decide_rule(parent, muted, "muted")
    decide_rule(parent, pinned, "pinned")
    config = with_decided_rules(config_of(parent), parent)
    clear_rules(parent)
    assert (config.rule.muted, config.rule.pinned) == ((muted,), (pinned,))
    adapt = dataclasses.replace(config.adapt, iterations=0)
    config = dataclasses.replace(config, methods=("tradition", "risk"), adapt=adapt)

    class Seen(Listener):
        def on_iteration_end(self, scores):
            self.model = scores.model

    seen = Seen()
    workload, _ = load_data(config)
    run_experiment(workload, config, [seen], rank=False)
    states = dict(zip(seen.model.rules, seen.model.states, strict=True))
    assert (states[muted], states[pinned]) == ("muted", "pinned")
    assert sum(state != "learned" for state in states.values()) == 2


def test_a_text_that_is_no_rule_is_refused(parent):
    config = config_of(parent)
    config = dataclasses.replace(config, rule=RuleConfig(muted=("nonsense",)))
    workload, _ = load_data(config)
    with pytest.raises(RuleFormatError, match="nonsense"):
        run_experiment(workload, config)
    with pytest.raises(ConfigError, match="either muted or pinned"):
        RuleConfig(muted=("a",), pinned=("a",))
