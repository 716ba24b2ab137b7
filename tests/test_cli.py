import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from riskcore import __version__, cli
from riskcore.errors import DownloadError
from tests.data.folders import PAIR_HEADER, TABLE_A, write_file, write_folder


@pytest.fixture
def run():
    def invoke(*arguments):
        return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])

    return invoke


def test_check_tells_what_the_data_is(run, tmp_path):
    result = run("data", "check", write_folder(tmp_path / "set"))
    assert result.exit_code == 0
    assert "tableA 12, tableB 12" in result.stdout
    assert "title" in result.stdout
    assert "50.0%" in result.stdout
    assert "fingerprint: a391476b" in result.stdout
    assert "can be used: 0 errors, 0 warnings" in result.stdout
    assert "It can be a source: 12 labelled pairs, 6 of them matches." in result.stdout


def test_check_tells_what_tables_without_pairs_need(run, tmp_path):
    folder = write_folder(tmp_path / "set", dict.fromkeys(("train", "valid", "test")))
    result = run("data", "check", folder)
    assert result.exit_code == 0
    assert "Find candidates first" in result.stdout
    uses = {one["kind"]: one["possible"] for one in json.loads(run("data", "check", folder, "--json").stdout)["uses"]}
    assert uses == dict.fromkeys(("candidates", "target", "labels", "source", "alone"), False)


def test_check_as_json_is_one_document(run, tmp_path):
    result = run("data", "check", write_folder(tmp_path / "set"), "--json")
    document = json.loads(result.stdout)
    assert document["usable"] is True
    assert (document["errors"], document["warnings"], document["problems"]) == (0, 0, [])
    assert document["data"]["records"] == {"tableA": 12, "tableB": 12}
    assert document["data"]["splits"][0] == {
        "name": "train",
        "pairs": 6,
        "matches": 3,
        "non_matches": 3,
        "unlabelled": 0,
        "match_rate": 0.5,
    }


def test_profile_shows_the_figures_alone(run, tmp_path):
    folder = write_folder(tmp_path / "set")
    result = run("data", "profile", folder)
    assert result.exit_code == 0
    assert "tableA 12, tableB 12" in result.stdout
    assert "can be used" not in result.stdout
    document = json.loads(run("data", "profile", folder, "--json").stdout)
    checked = json.loads(run("data", "check", folder, "--json").stdout)
    assert document == {"path": str(folder), **checked["data"]}


def test_profile_refuses_data_that_cannot_be_used(run, tmp_path):
    result = run("data", "profile", write_folder(tmp_path / "set", {"train": [PAIR_HEADER]}))
    assert result.exit_code == 2
    assert "There is no pair in it" in result.stderr
    assert result.stdout == ""


def test_warnings_do_not_fail_the_check(run, tmp_path):
    folder = write_folder(tmp_path / "set", {"valid": [PAIR_HEADER, ["a6", "b6", "1"], ["a6", "b6", "1"]]})
    result = run("data", "check", folder)
    assert result.exit_code == 0
    assert "warning [duplicate_pair] valid.csv, row 3" in result.stdout


def test_errors_fail_the_check(run, tmp_path):
    result = run("data", "check", write_folder(tmp_path / "set", {"train": [PAIR_HEADER]}))
    assert result.exit_code == 1
    assert "error [empty_split] train.csv" in result.stdout
    assert "cannot be used: 1 error, 0 warnings" in result.stdout


def test_a_file_of_pairs_can_be_checked(run, tmp_path):
    write_file(tmp_path / "pairs.csv", [["left_a", "right_a", "label"], ["x", "y", "1"], ["x", "z", "0"]])
    assert run("data", "check", tmp_path / "pairs.csv").exit_code == 0


@pytest.mark.parametrize("name", ["nowhere", "notes.txt"])
def test_a_wrong_path_is_bad_usage(run, tmp_path, name):
    (tmp_path / "notes.txt").write_text("hello")
    result = run("data", "check", tmp_path / name, "--json")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert str(tmp_path / name) in result.stderr
    assert "Traceback" not in result.stderr


def test_record_text_is_neither_markup_nor_terminal_control(run, tmp_path):
    wild = "=[bold red]x[/bold red] :smile: \x1b[2J\u202e"
    rows = [["id", "[link=evil]t[/link]\x07", "title"], *([row[0], wild, row[1]] for row in TABLE_A[1:])]
    result = run("data", "check", write_folder(tmp_path / "set", {"tableA": rows}))
    assert result.exit_code == 0
    assert "[bold red]x[/bold red] :smile: \\x1b[2J\\u202e" in result.stdout
    assert "[link=evil]t[/link]\\x07" in result.stdout
    assert not set("\x1b\x07\u202e") & set(result.stdout)


def test_usage_errors_exit_with_two(run):
    assert run("data", "check").exit_code == 2
    assert run("nonsense").exit_code == 2


def test_version(run):
    assert run("--version").stdout.strip() == __version__


def test_download_says_where_the_data_is(run, tmp_path, monkeypatch):
    def pretend(name, to, *, base_url, sha256, progress):
        assert (base_url, sha256) == ("http://127.0.0.1:1", "ab")
        progress(1, 2)
        folder = to / name
        folder.mkdir(parents=True)
        (folder / "source.json").write_text('{"name": "Beer", "sha256": "ab"}')
        return folder

    monkeypatch.setattr("riskcore.data.download.download", pretend)
    options = ("--base-url", "http://127.0.0.1:1", "--sha256", "ab")
    result = run("data", "download", "Beer", "--to", tmp_path / "one", *options)
    assert result.exit_code == 0
    assert f"data check {tmp_path / 'one' / 'Beer'}" in result.stdout
    result = run("data", "download", "Beer", "--to", tmp_path / "two", "--json", *options)
    assert json.loads(result.stdout) == {"folder": str(tmp_path / "two" / "Beer"), "name": "Beer", "sha256": "ab"}


def test_errors_are_one_message_and_no_traceback(run, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise DownloadError("No connection to [nowhere]. Check the network.")

    monkeypatch.setattr("riskcore.data.download.download", fail)
    result = run("data", "download", "Beer", "--to", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.strip() == "Error: No connection to [nowhere]. Check the network."
    assert result.stdout == ""


def test_serve_hands_over_to_streamlit_on_this_machine_only(run, tmp_path, monkeypatch):
    calls = []
    monkeypatch.delenv("STREAMLIT_SERVER_ADDRESS", raising=False)
    monkeypatch.setenv("STREAMLIT_BROWSER_GATHER_USAGE_STATS", "true")
    monkeypatch.setattr("os.execve", lambda *handed: calls.append(handed))
    monkeypatch.setattr(cli.serve, "app_folder", lambda: tmp_path)
    assert run("serve").exit_code == 2
    (tmp_path / "app.py").touch()
    assert run("serve", "--port", "9000").exit_code == 0
    ((program, command, environment),) = calls
    # -P: a `pages` or a `numpy` in the folder it is started from is not imported
    base = [sys.executable, "-P", "-m", "streamlit", "run", str(tmp_path / "app.py")]
    assert (program, command) == (sys.executable, [*base, "--server.port", "9000"])
    assert environment["STREAMLIT_SERVER_ADDRESS"] == "localhost"
    assert environment["STREAMLIT_BROWSER_GATHER_USAGE_STATS"] == "true"


def test_as_a_module_and_light_until_a_command_runs(tmp_path):
    heavy = "{'pandas', 'numpy', 'torch', 'streamlit', 'pyarrow'}"
    code = f"import sys, riskcore.cli; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    command = [sys.executable, "-m", "riskcore", "data", "check", str(tmp_path / "nowhere")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "There is nothing here." in result.stderr
