"""The shipped proxy configuration: what it lets through, and that the documentation describes it."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONFIG = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
DOCS = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def locations() -> dict[str, str]:
    found = re.findall(r"^    location ([^{]+) \{\n(.*?)^    \}", CONFIG, re.DOTALL | re.MULTILINE)
    return {name.strip(): body for name, body in found}


def test_the_documentation_names_the_headers_of_the_file():
    sent = re.findall(r"add_header (\S+) ", CONFIG)
    assert re.findall(r"^\| `([A-Z][\w-]+)` \|", DOCS, re.MULTILINE) == sent
    assert {"Strict-Transport-Security", "Content-Security-Policy", "X-Frame-Options"} <= set(sent)


def test_no_location_drops_the_headers():
    assert not any("add_header" in body for body in locations().values())


def test_nothing_reaches_the_screens_without_a_sign_in():
    behind = {name: body for name, body in locations().items() if ":8501" in body}
    assert set(behind) == {"/", "~ ^/_stcore/upload_file/"}
    assert all("auth_request " in body for body in behind.values())


def test_an_upload_may_be_as_large_as_the_screens_allow():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    allowed = re.search(r"client_max_body_size\s+(\d+)m", locations()["~ ^/_stcore/upload_file/"])
    assert allowed is not None
    assert settings["server"]["maxUploadSize"] <= int(allowed[1]) <= 1.1 * settings["server"]["maxUploadSize"]


@needs_nginx
def test_nginx_accepts_the_file(tmp_path):
    key, certificate = tmp_path / "privkey.pem", tmp_path / "fullchain.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=riskcore.example.org"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    tested = _run_nginx(tmp_path, CONFIG.replace("/etc/ssl/riskcore", str(tmp_path)), "-t")
    assert tested.wait(20) == 0, tested.stderr.read().decode()


@pytest.fixture
def proxy(tmp_path):
    """Nginx over plain HTTP before two servers that stand for the screens and the sign-in; its port, and what reaches
    the screens."""
    with _standing_in(200) as (screens, asked), _standing_in(None) as (sign_in, _):
        port = _free_port()
        text = re.sub(r"^\s*ssl_.*\n", "", CONFIG, flags=re.MULTILINE)
        text = text.replace("listen 443 ssl http2", f"listen 127.0.0.1:{port}")
        text = text.replace("listen 80", f"listen 127.0.0.1:{_free_port()}")
        text = text.replace(":8501", f":{screens}").replace(":4180", f":{sign_in}")
        server = _run_nginx(tmp_path, text, "-g", "daemon off;")
        try:
            _wait(port)
            yield port, asked
        finally:
            server.terminate()
            server.wait(20)


@needs_nginx
def test_strangers_reach_nothing_and_others_get_the_headers(proxy):
    port, asked = proxy
    upload = "/_stcore/upload_file/session/file"
    assert _ask(port, "PUT", upload, b"x" * 2_000_000).status == 401
    assert _ask(port, "GET", "/pairs").status == 302
    assert asked == []
    known = {"Cookie": "session=known"}
    assert _ask(port, "PUT", upload, b"x" * 2_000_000, known).status == 200
    assert _ask(port, "POST", "/", b"x" * 2_000_000, known).status == 413
    assert _ask(port, "GET", "/", headers={**known, "Origin": "https://evil.net"}).status == 403
    answer = _ask(port, "GET", "/pairs", headers=known)
    assert answer.status == 200
    for name, value in re.findall(r'add_header (\S+) "([^"]+)"', CONFIG):
        assert answer.headers[name] == value
    assert asked == [f"PUT {upload}", "GET /pairs"]


@contextlib.contextmanager
def _standing_in(status: int | None):
    """A server that answers so; without a status, as the sign-in: 202 to whom it knows and 401 to others."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            known = "session=known" in self.headers.get("Cookie", "")
            self.send_response(status or (202 if known else 401))
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = do_PUT = answer  # noqa: N815 - the base class's names

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        server.server_close()


def _run_nginx(folder: Path, text: str, *options: str) -> subprocess.Popen[bytes]:
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""  # who may write into the test's folder
    whole = f"{user} pid {folder}/pid; events {{}} http {{ access_log off; {paths}\n{text} }}"
    (folder / "whole.conf").write_text(whole, encoding="utf-8")
    command = [str(NGINX), "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(folder / "whole.conf")]
    return subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _ask(port: int, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has answered before all was sent
        link.request(method, path, body, {"Host": "riskcore.example.org", **(headers or {})})
    answer = link.getresponse()
    answer.read()
    link.close()
    return answer


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait(port: int) -> None:
    for _ in range(100):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("nginx did not start")
