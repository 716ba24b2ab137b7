"""The files for containers and systemd: as far as they can be checked without a container engine, and what they start,
started as they do: by a user without rights, whose home and working folder cannot be written to."""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from pathlib import Path

import pytest
import sqlalchemy as sa
import typer.main
import yaml

from riskcore import cli

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
UNITS = ("riskcore.service", "riskcore-worker@.service")
ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
COMMANDS = set(typer.main.get_command(cli.app).commands)
NOBODY = 65534


# ---- the Containerfile


def instructions() -> list[tuple[str, str]]:
    """The Containerfile as (instruction, rest), comments and line ends removed."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines()) if word]


FILE = instructions()
LAST = FILE[max(place for place, (word, _) in enumerate(FILE) if word == "FROM") :]


def one(word: str) -> str:
    (found,) = [rest for name, rest in LAST if name == word]
    return found


def health_command() -> list[str]:
    command: list[str] = json.loads(one("HEALTHCHECK").partition("CMD ")[2])
    return command


def test_every_instruction_is_one_that_builders_know():
    assert {word for word, _ in FILE} == {
        *("ARG", "FROM", "ENV", "RUN", "COPY", "WORKDIR", "VOLUME", "USER", "EXPOSE", "HEALTHCHECK", "CMD"),
    }
    images = [rest.split()[0] for word, rest in FILE if word == "FROM"]
    assert images == ["${PYTHON_IMAGE}"] * 2
    assert ("ARG", "PYTHON_IMAGE=python:3.11-slim-bookworm") in FILE


def test_the_image_is_for_a_user_without_rights():
    user, group = one("USER").split(":")
    assert int(user) > 1000
    assert int(group) > 1000
    assert not any(word in ("ADD", "ENTRYPOINT") for word, _ in LAST)
    assert [rest for word, rest in LAST if word == "COPY"] == ["--from=build /opt/riskcore /opt/riskcore"]
    settings = dict(part.split("=", 1) for part in one("ENV").split())
    volumes = json.loads(one("VOLUME"))
    for name in ("RISKCORE_RUNS", "RISKCORE_DATA", "RISKCORE_SEAL"):
        assert any(settings[name].startswith(f"{volume}/") for volume in volumes), name
    assert not Path(settings["RISKCORE_SEAL"]).is_relative_to(Path(settings["RISKCORE_RUNS"]).parent)
    assert not re.search(r"(?i)password|secret|token", " ".join(rest for word, rest in FILE if word in ("ARG", "ENV")))


def test_what_is_installed_is_what_is_pinned():
    runs = " ".join(rest for word, rest in FILE if word == "RUN")
    assert "--require-hashes -r requirements.lock" in runs
    pinned = dict(re.findall(r"([\w-]+)==([\w.]+)", (ROOT / "requirements.txt").read_text(encoding="utf-8")))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = " ".join(project["project"]["optional-dependencies"]["dev"]).replace("[binary]", "")
    pinned |= dict(re.findall(r"([\w-]+)==([\w.]+)", extras))
    pinned["psycopg-binary"] = pinned["psycopg"]
    named = dict(re.findall(r"([\w-]+)==([\w.]+)", runs))
    assert {"torch", "psycopg", "build", "hatchling"} <= set(named)
    assert {name: pinned[name] for name in named} == named


def test_the_build_takes_what_the_wheel_needs_and_nothing_else():
    lines = (DEPLOY / "Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line[1:] for line in lines if line.startswith("!")}
    assert "*" in lines
    assert all((ROOT / name).exists() for name in allowed)
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    target = wheel["targets"]["wheel"]
    needed = {*target["only-include"], target["hooks"]["custom"]["path"], "app.py"}
    assert needed | {"requirements.txt", "requirements.lock", "pyproject.toml", "README.md", "LICENSE"} == allowed


@pytest.mark.parametrize(("body", "code"), [(b"ok", 0), (b"<html>Streamlit</html>", 1)])
def test_the_health_check_compares_the_body(body, code):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert healthy(server.server_port) == code
        server.shutdown()


def healthy(port: int) -> int:
    """The exit code of the Containerfile's own health check."""
    command = [word.replace(":8501", f":{port}") for word in health_command()]
    return subprocess.run([sys.executable, *command[1:]], stderr=subprocess.DEVNULL, check=False).returncode


# ---- compose.yaml


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_hardened(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["user"].split(":")[0]) > 0
    assert "mem_limit" in service or name == "db"
    assert not re.search(r":latest|:\s*$", service["image"])
    assert "/tmp" in str(service.get("tmpfs", "")) or name == "sign-in"


def test_no_password_is_in_the_file():
    url = sa.make_url(SERVICES["web"]["environment"]["RISKCORE_STORE_URL"])
    assert (url.password, url.host, dict(url.query)) == (None, "db", {"passfile": "/run/secrets/db_passfile"})
    for name, service in SERVICES.items():
        named = [key for key in service.get("environment", {}) if re.search("PASSWORD|SECRET|KEY", key)]
        assert all(key.endswith("_FILE") for key in named), name


def test_what_is_named_is_there():
    for name, service in SERVICES.items():
        for secret in service.get("secrets", ()):
            assert (secret if isinstance(secret, str) else secret["source"]) in COMPOSE["secrets"], name
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            assert source in COMPOSE["volumes"] or (DEPLOY / source).is_file(), mount
        assert set(service.get("networks", ())) <= set(COMPOSE["networks"])
        assert set(service.get("depends_on", ())) <= set(SERVICES)
    assert {one["file"].split("/")[1] for one in COMPOSE["secrets"].values()} == {"secrets"}


def test_only_the_proxy_can_be_reached():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    for name in ("web", "sign-in"):  # on the proxy's loopback, as nginx.conf has it
        assert SERVICES[name]["network_mode"] == "service:proxy"
    for name in ("db", "worker"):
        assert SERVICES[name]["networks"] == ["inside"]
    assert "/var/lib/riskcore-seal" not in str(SERVICES["worker"])


def test_every_service_is_watched_and_starts_a_command_that_there_is():
    assert {name for name, service in SERVICES.items() if "healthcheck" in service} == {"db", "worker", "proxy"}
    assert SERVICES["worker"]["command"][:2] == ["riskcore", "worker"]
    started = [json.loads(one("CMD")), SERVICES["worker"]["command"], SERVICES["worker"]["healthcheck"]["test"][1:]]
    assert all(command[0] == "riskcore" and command[1] in COMMANDS for command in started)


# ---- systemd


def settings(unit: str) -> dict[str, list[str]]:
    lines = (DEPLOY / unit).read_text(encoding="utf-8").splitlines()
    found: dict[str, list[str]] = {}
    for line in lines:
        if line and not line.startswith(("#", "[")):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("unit", UNITS)
def test_units_are_closed(unit):
    found = settings(unit)
    assert found["ProtectSystem"] == ["strict"]
    assert found["NoNewPrivileges"] == ["yes"]
    assert found["CapabilityBoundingSet"] == [""]
    assert found["User"] == ["riskcore"]
    assert found["Restart"][0] in ("always", "on-failure")
    assert "MemoryMax" in found
    writable = found["ReadWritePaths"][0].split()
    places = dict(one.split("=", 1) for one in found["Environment"])
    for name in ("RISKCORE_RUNS", "RISKCORE_DATA", "RISKCORE_SEAL"):
        assert name not in places or any(places[name].startswith(f"{one}/") for one in writable)
    assert found["ExecStart"][0].split()[1] in COMMANDS


@needs_systemd
@pytest.mark.parametrize("unit", UNITS)
def test_systemd_accepts_the_units(unit, tmp_path):
    file = tmp_path / unit.replace("@.", "@2.")
    text = (DEPLOY / unit).read_text(encoding="utf-8").replace("/opt/riskcore/bin/riskcore", "/bin/true")
    file.write_text(text, encoding="utf-8")
    checked = subprocess.run([str(ANALYZE), "verify", "--man=no", file], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "Unknown" not in checked.stderr
    rated = [str(ANALYZE), "security", "--offline=yes", "--threshold=25", str(file)]
    rating = subprocess.run(rated, capture_output=True, text=True, check=False)
    if "unrecognized option" in rating.stderr:
        pytest.skip("this systemd-analyze cannot rate a file")
    assert rating.returncode == 0, rating.stdout[-500:]


# ---- what they start


@pytest.fixture
def closed():
    """A home and working folder that cannot be written to, a folder for data, and how a process is started there.

    Root starts it as nobody; where nobody cannot read this Python, as root without capabilities, whom the permissions
    of files bind too.
    """
    top = Path(tempfile.mkdtemp(prefix="riskcore-deploy-"))
    top.chmod(0o755)
    for name in ("home", "work", "data", "tmp"):
        (top / name).mkdir()
    who: dict[str, object] = {}
    before: list[str] = []
    if os.geteuid() == 0 and _nobody_can(sys.executable):
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for name in ("data", "tmp"):
            os.chown(top / name, NOBODY, NOBODY)
    elif os.geteuid() == 0:
        before = [str(shutil.which("setpriv")), "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    for name in ("home", "work"):
        (top / name).chmod(0o555)
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(top / "home"),
        "TMPDIR": str(top / "tmp"),
        "NUMBA_CACHE_DIR": str(top / "tmp" / "numba"),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RISKCORE_RUNS": str(top / "data" / "runs"),
        "RISKCORE_DATA": str(top / "data" / "data"),
        "RISKCORE_SEAL": str(top / "data" / "seal"),
        "RISKCORE_LOG": "json",
        "STREAMLIT_SERVER_HEADLESS": "true",
    }
    options = {"cwd": top / "work", "env": environment, **who}
    python = [*before, sys.executable]
    refused = [*python, "-c", "open('x', 'w')"]
    if before[:1] == ["None"] or not subprocess.run(refused, capture_output=True, check=False, **options).returncode:
        shutil.rmtree(top)
        reason = "rights cannot be given up here: setpriv is not installed"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    yield top, python, options
    shutil.rmtree(top)


def _nobody_can(python: str) -> bool:
    """Whether a user without rights can start this Python with this checkout."""
    try:
        command = [python, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); import riskcore"]
        tried = subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, check=False)
    except PermissionError:
        return False
    return tried.returncode == 0


def test_the_server_needs_no_right_but_to_its_data(closed):
    top, python, options = closed
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*python, "-m", "riskcore", "serve", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options) as server:
        try:
            judge = (
                "from pathlib import Path\nfrom riskcore.audit import VerdictLog\nfrom riskcore.runs import RunStore\n"
                "from riskcore.runs.example import install_example\nfrom riskcore.paths import runs_root\n"
                "store = RunStore(runs_root()); run = install_example(store).id\n"
                "VerdictLog(store).add(run, 'a:b', 'match', 'a note', 'Ann')\n"
                "from riskcore.metrics import abbreviations\n"
            )
            subprocess.run([*python, "-c", judge], check=True, timeout=60, **options)
            checked = [*python, "-m", "riskcore", "doctor", "--json"]
            told = subprocess.run(checked, capture_output=True, timeout=60, check=False, **options)
            assert told.returncode == 0, told.stderr
            until = time.monotonic() + 60
            while healthy(port) and time.monotonic() < until:
                time.sleep(0.2)
            assert healthy(port) == 0
        finally:
            server.terminate()
            said = server.communicate(timeout=20)[1]
    events = [json.loads(line) for line in said.decode().splitlines() if line.startswith("{")]
    assert [(event["event"], event["outcome"]) for event in events[:1]] == [("server", "starting")]
    levels = {one["check"]: one["level"] for one in json.loads(told.stdout)["findings"]}
    assert levels["permissions"] == levels["store writable"] == levels["seal"] == "ok"
    assert list((top / "home").iterdir()) == list((top / "work").iterdir()) == []
    assert len(list((top / "data").rglob("*"))) > 10
