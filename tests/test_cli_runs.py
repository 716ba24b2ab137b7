"""The commands that make, steer and read runs, with the fake engine where it is about the commands."""

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from typer.testing import CliRunner

from riskcore import cli
from riskcore.audit import VerdictLog
from riskcore.runs import RunState, RunStore
from riskcore.storage.files import write_json
from tests.data.folders import PAIR_HEADER, TABLE_A, TABLE_B, write_folder
from tests.runs.conftest import small_data
from tests.runs.fake_engine import fake_engine


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def call(runs, monkeypatch):
    """Call a command with the fake engine, in a folder of runs of its own."""
    monkeypatch.setattr("riskcore.runs.worker.execute._engine", lambda *_: fake_engine)

    def invoke(*arguments):
        return CliRunner().invoke(cli.app, [*(str(argument) for argument in arguments), "--runs", str(runs)])

    return invoke


@pytest.fixture
def made(call, tmp_path):
    """A finished run's id."""
    source = small_data(tmp_path / "data")
    settings = ("--methods", "tradition,risk,forest", "--iterations", "3", "--epochs", "2")
    result = call("run", "--source", source, *settings, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["run"]


def test_run_prints_one_document(call, tmp_path, runs):
    source, target = small_data(tmp_path / "one"), small_data(tmp_path / "two", words="other ")
    result = call("run", "--source", source, "--target", target, "--methods", "tradition,risk", "--seed", 7, "--json")
    document = json.loads(result.stdout)
    assert set(document["methods"]) == {"tradition", "risk"}
    assert document == json.loads((runs / document["run"] / "results.json").read_text())
    record = RunStore(runs).get(document["run"])
    assert (record.config.seed, record.config.matcher.kind, record.config.matcher.wide) == (7, "hybrid", False)
    assert "risk took" in result.stderr
    assert "left" in result.stderr


def test_settings_by_group_and_field(call, tmp_path, runs):
    (tmp_path / "settings.json").write_text(json.dumps({"tune": {"epochs": 9, "smoothing": 0.2}}))
    settings = ["risk.confidence=0.95", "rule.min_support=7", "metric.differences=false", "matcher.dropout=none"]
    settings += ["data.missing_words=null, ?", "tune.epochs=8", "tune.epochs=5", "adapt.iterations=4"]
    given = [part for one in settings for part in ("--set", one)]
    files = ("--source", small_data(tmp_path / "data"), "--config", tmp_path / "settings.json")
    result = call("run", *files, *given, "--iterations", 2, "--methods", "tradition", "--json")
    assert result.exit_code == 0, result.stderr
    config = RunStore(runs).get(json.loads(result.stdout)["run"]).config
    assert (config.risk.confidence, config.rule.min_support, config.metric.differences) == (0.95, 7, False)
    assert (config.matcher.dropout, config.data.missing_words) == (None, ("null", "?"))
    assert (config.tune.epochs, config.tune.smoothing) == (5, 0.2)  # the last --set, and beside it the file
    assert config.adapt.iterations == 2  # an option of its own wins


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("confidence=0.9", "'confidence=0.9' is not GROUP.FIELD=VALUE"),
        ("risk.confidence", "is not GROUP.FIELD=VALUE"),
        ("riks.confidence=0.9", "no group of settings called 'riks'. Did you mean risk?"),
        ("seed.x=1", "no group of settings called 'seed'. Known: data, metric"),
        ("risk.confidnce=0.9", "The group risk has no setting called 'confidnce'. Did you mean confidence?"),
        ("rule.depth=two", "--set rule.depth must be a whole number, not 'two'"),
        ("rule.depth=none", "--set rule.depth must be a whole number, not 'none'"),
        ("tune.rate=fast", "--set tune.rate must be a number, or none, not 'fast'"),
        ("matcher.wide=maybe", "--set matcher.wide must be true or false, not 'maybe'"),
        ("risk.confidence=2", "RiskConfig.confidence is 2.0; it must lie between 0.5 and 0.999"),
    ],
)
def test_settings_that_cannot_be(call, tmp_path, runs, entry, says):
    result = call("run", "--source", small_data(tmp_path / "data"), "--set", entry)
    assert result.exit_code == 2
    assert says in result.stderr
    assert not runs.exists()


def test_run_as_text(call, tmp_path):
    result = call("run", "--source", small_data(tmp_path / "data"), "--methods", "tradition,risk", "--name", "mine")
    assert result.exit_code == 0
    assert "tradition" in result.stdout
    assert "AUROC" in result.stdout


def test_settings_come_from_a_file_and_options_win(call, tmp_path, runs):
    source = small_data(tmp_path / "data")
    settings = {"source": str(source), "seed": 3, "methods": ["tradition"], "tune": {"epochs": 9}}
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    result = call("run", "--config", tmp_path / "settings.json", "--seed", 4, "--json")
    config = RunStore(runs).get(json.loads(result.stdout)["run"]).config
    assert (config.seed, config.tune.epochs, config.methods) == (4, 9, ("tradition",))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "needs --source"),
        (("--source", "nowhere"), "There is nothing here"),
        (("--source", "DATA", "--matcher", "oracle"), "no matcher named 'oracle'"),
        (("--source", "DATA", "--methods", "magic"), "no method named 'magic'"),
        (("--source", "DATA", "--split", "a:b"), "a:b"),
        (("--source", "DATA", "--map", "title=name"), "needs a target"),
        (("--source", "DATA", "--train-fraction", "2"), "train_fraction"),
        (("--source", "DATA", "--config", "nowhere.json"), "not a file of settings"),
        (("--source", "DATA", "--seed", "many"), "--seed"),
        (("--source", "DATA", "--matcher", "external"), "--scores FILE"),
        (("--source", "DATA", "--scores", "nowhere.csv"), "nowhere.csv does not exist"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(call, tmp_path, runs, arguments, words):
    source = str(small_data(tmp_path / "data"))
    result = call("run", *(source if argument == "DATA" else argument for argument in arguments), "--json")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert not runs.exists()


def test_a_failed_run_exits_with_three(call, tmp_path, monkeypatch, runs):
    def broken(*_, **__):
        raise ValueError("oops")

    monkeypatch.setattr("riskcore.runs.worker.execute._engine", lambda *_: broken)
    result = call("run", "--source", small_data(tmp_path / "data"), "--json")
    assert result.exit_code == 3
    assert result.stdout == ""
    assert "unexpected ValueError (oops)" in result.stderr
    assert RunStore(runs).list()[0].state is RunState.FAILED
    monkeypatch.setattr("riskcore.runs.worker.execute._engine", lambda *_: fake_engine)
    result = call("runs", "resume", RunStore(runs).list()[0].id, "--json")
    assert json.loads(result.stdout)["methods"]


def test_list_and_show(call, made, runs):
    listed = json.loads(call("runs", "list", "--json").stdout)["runs"]
    assert [(one["run"], one["state"]) for one in listed] == [(made, "done")]
    assert made in call("runs", "list").stdout
    shown = json.loads(call("runs", "show", made, "--json").stdout)
    assert shown["results"]["run"] == made
    assert shown["events"] == len(RunStore(runs).events(made))
    assert "tradition" in call("runs", "show", runs / made).stdout


def test_no_runs_yet(call, runs):
    assert json.loads(call("runs", "list", "--json").stdout) == {"runs": []}
    assert "no runs" in call("runs", "list").stdout
    assert not runs.exists()


@pytest.mark.parametrize("command", ["show", "cancel", "resume", "delete"])
def test_an_unknown_run(call, command):
    result = call("runs", command, "nowhere", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no run 'nowhere'" in result.stderr


def test_a_finished_run_is_neither_cancelled_nor_resumed_but_deleted(call, made, runs):
    assert call("runs", "cancel", made).exit_code == 2
    assert call("runs", "resume", made).exit_code == 2
    assert json.loads(call("runs", "delete", made, "--json").stdout) == {"run": made, "deleted": True}
    assert not (runs / made).exists()


def test_a_waiting_run_is_cancelled(call, runs, tmp_path):
    from tests.runs.conftest import small_config

    record = RunStore(runs).create(small_config(small_data(tmp_path / "data")))
    result = call("runs", "cancel", record.id, "--json")
    assert json.loads(result.stdout)["state"] == "cancelled"


def test_top(call, made, runs, tmp_path):
    document = json.loads(call("top", made, "--n", 5, "--json").stdout)
    risks = [pair["risk"] for pair in document["pairs"]]
    assert risks == sorted(risks, reverse=True)
    assert len(risks) == 5
    flipped = json.loads(call("top", runs / made, "--flipped", "--json").stdout)["pairs"]
    assert flipped
    assert all(pair["flipped"] for pair in flipped)
    for name in ("top.csv", "top.parquet"):
        assert call("top", made, "--n", 3, "--out", tmp_path / name).exit_code == 0
    assert len(pd.read_csv(tmp_path / "top.csv")) == len(pd.read_parquet(tmp_path / "top.parquet")) == 3
    assert "left title" in call("top", made, "--n", 3).stdout
    assert call("top", made, "--out", tmp_path / "top.doc").exit_code == 2


def test_top_in_other_orders(call, made):
    by = {order: json.loads(call("top", made, "--by", order, "--json").stdout)["pairs"] for order in ("gain", "random")}
    ids = {order: [pair["pair_id"] for pair in pairs] for order, pairs in by.items()}
    assert sorted(ids["gain"]) == sorted(ids["random"])
    assert ids["gain"] != ids["random"]
    assert call("top", made, "--by", "mood").exit_code == 2


def test_top_has_the_verdicts(call, made, runs, tmp_path):
    first = json.loads(call("top", made, "--json").stdout)["pairs"][0]
    assert first["verdict"] is None
    VerdictLog(RunStore(runs)).add(made, first["pair_id"], "unsure", who="Ann")
    assert json.loads(call("top", made, "--json").stdout)["pairs"][0]["verdict"] == "unsure"
    call("top", made, "--out", tmp_path / "top.csv")
    assert pd.read_csv(tmp_path / "top.csv")["verdict"][0] == "unsure"
    for file in runs.glob("riskcore.sqlite*"):  # its write-ahead log too
        file.unlink()
    (runs / "riskcore.sqlite").write_text("damaged" * 200)
    result = call("top", made, "--json")
    assert json.loads(result.stdout)["pairs"][0]["verdict"] is None
    assert "Verdicts are left out" in result.stderr


def test_a_run_goes_by_its_id_inside_its_folder(call, made, runs, monkeypatch):
    monkeypatch.chdir(runs / made)
    assert json.loads(call("top", ".", "--json").stdout)["run"] == made


def test_what_is_shown_is_what_was_kept(call, made, runs, tmp_path):
    """As `compare` and the screens do; another iteration where it is named."""
    file = runs / made / "results.json"
    document = json.loads(file.read_text())
    document["methods"]["risk"]["best_iteration"] = 1
    write_json(file, document)

    def answers(command, *more):
        return json.loads(call(*command, "--json", *more).stdout)

    for command in (("top", made), ("rules", made), ("explain", made, "a0:b2")):
        first, last = answers(command, "--iteration", 1), answers(command, "--iteration", 3)
        assert answers(command) == first
        assert first != last or command[0] == "rules"  # the fake engine's models are all alike
    told = answers(("top", made), "--out", str(tmp_path / "top.csv"))
    assert told == {"file": str(tmp_path / "top.csv"), "rows": len(pd.read_csv(tmp_path / "top.csv"))}


def test_rules_and_explain(call, made):
    rules = json.loads(call("rules", made, "--json").stdout)["rules"]
    assert [rule["rule"] for rule in rules] == [0, 1, 2]
    assert "-> non-match" in call("rules", made).stdout
    pair = json.loads(call("explain", made, "a0:b2", "--json").stdout)
    assert len(pair["history"]) == 4
    assert sum(one["mu_share"] for one in pair["contributions"]) == pytest.approx(pair["mu"])
    assert "the matcher" in call("explain", made, "a0:b2").stdout
    assert call("explain", made, "a99:b0").exit_code == 2
    assert call("explain", made, "a0:b2", "--iteration", 99).exit_code == 2


def test_compare(call, made, tmp_path):
    source = small_data(tmp_path / "data")
    other = json.loads(call("run", "--source", source, "--seed", 1, "--methods", "tradition,risk", "--json").stdout)
    document = json.loads(call("compare", made, other["run"], "--json").stdout)
    scores = [one["methods"]["risk"]["f1"] for one in document["runs"]]
    assert document["methods"]["risk"]["f1_mean"] == pytest.approx(sum(scores) / 2)
    assert document["methods"]["forest"]["runs"] == 1
    risk = document["runs"][0]["methods"]["risk"]
    assert risk["flipped"] >= risk["fixed"] + risk["broken"] > 0
    assert "mean F1" in call("compare", made, other["run"]).stdout


def test_hostile_records_are_shown_as_text(call, tmp_path):
    wild = "=[bold red]x[/bold red]\x1b[2J\u202e"
    tables = {
        "tableA": [TABLE_A[0], *([row[0], wild, row[2]] for row in TABLE_A[1:])],
        "tableB": TABLE_B,
    }
    pairs = [
        [left[0], right[0], str(int(left[0][1:] == right[0][1:]))] for left in TABLE_A[1:] for right in TABLE_B[1:]
    ]
    splits = {name: [PAIR_HEADER, *pairs[start::3]] for start, name in enumerate(("train", "valid", "test"))}
    source = write_folder(tmp_path / "wild", {**tables, **splits})
    made = json.loads(call("run", "--source", source, "--methods", "tradition,risk", "--json").stdout)["run"]
    for command in (("top", made), ("explain", made, "a0:b2")):
        text = call(*command).stdout
        assert "[bold red]x[/bold red]\\x1b[2J\\u202e" in text
        assert not set("\x1b\u202e") & set(text)
    call("top", made, "--out", tmp_path / "wild.csv")
    assert pd.read_csv(tmp_path / "wild.csv")["left_title"].str.startswith("'=").all()


def test_ctrl_c_cancels_and_a_resume_goes_on(tmp_path):
    """The real thing: a process, the toy matcher, the project's own engine."""
    source, runs = small_data(tmp_path / "data"), tmp_path / "runs"
    base = [sys.executable, "-m", "riskcore"]
    options = ["--methods", "tradition,risk", "--matcher", "toy", "--epochs", "4", "--iterations", "30", "--json"]
    command = [*base, "run", "--source", str(source), *options, "--runs", str(runs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(runs.glob("*/scores/iteration-00.parquet")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, ""), errors
    assert "was cancelled" in errors
    run = next(path.name for path in runs.iterdir() if path.is_dir())
    again = subprocess.run(
        [*base, "runs", "resume", run, "--runs", str(runs), "--json"], capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr
    assert len(json.loads(again.stdout)["iterations"]) == 31
    assert os.listdir(runs / run / "scores")


TAKE_A_RUN = [
    *(("runs", verb) for verb in ("show", "cancel", "resume", "delete")),
    *((verb,) for verb in ("top", "rules", "compare", "export")),
    *(("audit", verb) for verb in ("verify", "estimate")),
]


@pytest.mark.parametrize("command", TAKE_A_RUN, ids=" ".join)
def test_a_name_that_no_file_can_have_is_one_message(tmp_path, command):
    result = CliRunner().invoke(cli.app, [*command, "x" * 5_000, "--runs", str(tmp_path)])
    assert result.exit_code == 2, result.exception
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr) < 500


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "://",
        "no-such-database://host/db",
        "postgresql+psycopg://user:pass-word@host:port/db",
        "postgresql+psycopg://user:pass-word@[::1/db",
        "sqlite:////nowhere/at/all/store.db",
        "x" * 5_000,
    ],
)
def test_a_store_url_that_cannot_be_used_is_one_message(tmp_path, monkeypatch, url):
    monkeypatch.setenv("RISKCORE_STORE_URL", url)
    result = CliRunner().invoke(cli.app, ["runs", "list", "--runs", str(tmp_path)])
    assert result.exit_code == 2, result.exception
    assert result.stderr.startswith("Error: The store")
    assert "pass-word" not in result.stderr
    assert result.stderr.count("\n") == 1
