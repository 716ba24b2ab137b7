"""Downloads against a server on loopback: sound archives, hostile ones, and networks that fail."""

import contextlib
import http.server
import io
import json
import socket
import stat
import struct
import threading
import zipfile
from hashlib import sha256

import pytest

from riskcore.data import open_data
from riskcore.data.archive import FILES
from riskcore.data.download import BASE_URL_VARIABLE, NAMES, DownloadConfig, download, known_name
from riskcore.errors import DownloadError
from tests.data.folders import write_folder

PATH = "/Structured/Beer/beer_exp_data.zip"


class Server(http.server.ThreadingHTTPServer):
    """Answers each path with what the test put there: bytes, or a function of the request handler."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answer = self.server.answers.get(self.path)
        if callable(answer):
            answer(self)
        elif answer is None:
            self.send_error(404)
        else:
            self.send_body(answer)

    def send_body(self, body, length=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def files(tmp_path):
    folder = write_folder(tmp_path / "made")
    return {f"exp_data/{name}": (folder / name).read_bytes() for name in FILES}


def packed(members, method=zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return stream.getvalue()


def fetch(server, to, **given):
    return download("beer", to, base_url=server.url, **given)


def assert_refused(server, to, says, **given):
    with pytest.raises(DownloadError, match=says):
        fetch(server, to, **given)
    assert not to.exists() or list(to.iterdir()) == []


def test_a_set_is_fetched_unpacked_and_usable(server, files, tmp_path):
    litter = {"exp_data/": "", "__MACOSX/exp_data/._tableA.csv": "x", "exp_data/README.md": "hello"}
    body = server.answers[PATH] = packed({**litter, **files})
    seen = []
    folder = fetch(server, tmp_path / "to", progress=lambda done, total: seen.append((done, total)))
    assert folder == tmp_path / "to" / "Beer"
    assert {path.name for path in folder.iterdir()} == {*FILES, "source.json"}
    assert len(open_data(folder)) == 12
    source = json.loads((folder / "source.json").read_text())
    assert source["sha256"] == sha256(body).hexdigest()
    assert source["url"] == server.url + PATH
    assert seen[-1] == (len(body), len(body))
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["Beer"]


def test_the_base_url_may_come_from_the_environment(server, files, tmp_path, monkeypatch):
    server.answers[PATH] = packed(files)
    monkeypatch.setenv(BASE_URL_VARIABLE, server.url + "/")
    assert download("Beer", tmp_path / "to").is_dir()


def test_redirects_are_followed(server, files, tmp_path):
    def move(handler):
        handler.send_response(302)
        handler.send_header("Location", "/moved.zip")
        handler.end_headers()

    server.answers.update({PATH: move, "/moved.zip": packed(files)})
    assert fetch(server, tmp_path / "to").is_dir()


def test_a_demanded_checksum(server, files, tmp_path):
    body = server.answers[PATH] = packed(files)
    assert_refused(server, tmp_path / "to", "SHA-256", sha256="0" * 64)
    assert fetch(server, tmp_path / "to", sha256=sha256(body).hexdigest().upper()).is_dir()


def test_what_is_there_is_not_overwritten(server, files, tmp_path):
    server.answers[PATH] = packed(files)
    (tmp_path / "Beer").mkdir()
    (tmp_path / "Beer" / "mine.txt").write_text("keep")
    with pytest.raises(DownloadError, match="already exists"):
        fetch(server, tmp_path)
    assert (tmp_path / "Beer" / "mine.txt").read_text() == "keep"


@pytest.mark.parametrize("name", ["../evil.csv", "/etc/evil.csv", "a/../../evil.csv", "..\\evil.csv", "C:\\evil.csv"])
def test_paths_that_leave_the_folder(server, files, tmp_path, name):
    server.answers[PATH] = packed({**files, name: "x"})
    assert_refused(server, tmp_path / "to", "unsafe path")
    assert not (tmp_path / "evil.csv").exists()


def test_links(server, files, tmp_path):
    link = zipfile.ZipInfo("exp_data/tableA.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    del files["exp_data/tableA.csv"]
    server.answers[PATH] = packed({**files, link: "/etc/passwd"})
    assert_refused(server, tmp_path / "to", "link")


def test_a_bomb(server, files, tmp_path):
    server.answers[PATH] = packed({**files, "exp_data/tableA.csv": b"0" * 50_000_000})
    assert_refused(server, tmp_path / "to", "impossible compression")


def test_too_much(server, files, tmp_path):
    server.answers[PATH] = packed(files)
    assert_refused(server, tmp_path / "to", "max_unpacked_bytes", config=DownloadConfig(max_unpacked_bytes=100))
    assert_refused(server, tmp_path / "to", "more than 100 bytes", config=DownloadConfig(max_download_bytes=100))
    assert_refused(server, tmp_path / "to", "5 files", config=DownloadConfig(max_archive_files=4))


def test_a_file_that_lies_about_its_size(server, files, tmp_path):
    body = bytearray(packed(files, zipfile.ZIP_STORED))
    entry = body.index(b"PK\x01\x02")  # the directory's entry of the first file: its size is 24 bytes on
    struct.pack_into("<I", body, entry + 24, 3)
    server.answers[PATH] = bytes(body)
    assert_refused(server, tmp_path / "to", "damaged|larger")


def test_a_wrong_crc(server, files, tmp_path):
    body = packed(files, zipfile.ZIP_STORED)
    server.answers[PATH] = body.replace(b"left title 3", b"left title X")
    assert_refused(server, tmp_path / "to", "damaged")


def test_missing_and_repeated_files(server, files, tmp_path):
    del files["exp_data/test.csv"]
    server.answers[PATH] = packed(files)
    assert_refused(server, tmp_path / "to", r"lacks test\.csv")
    server.answers[PATH] = packed({**files, "test.csv": "x", "other/test.csv": "y"})
    assert_refused(server, tmp_path / "to", "twice")


@pytest.mark.parametrize("body", [b"", b"<html>Not here</html>", b"PK\x03\x04 and nothing"])
def test_what_is_no_archive(server, tmp_path, body):
    server.answers[PATH] = body
    assert_refused(server, tmp_path / "to", "not a zip file")


def test_a_body_that_ends_early(server, files, tmp_path):
    body = packed(files)
    server.answers[PATH] = lambda handler: handler.send_body(body[:100], length=len(body))
    assert_refused(server, tmp_path / "to", "Only 100 of|was lost")


def test_a_server_that_falls_silent(server, tmp_path):
    done = threading.Event()
    server.answers[PATH] = lambda handler: done.wait(10)
    try:
        assert_refused(server, tmp_path / "to", "was lost|No connection", config=DownloadConfig(timeout_seconds=0.2))
    finally:
        done.set()


def test_a_file_that_is_not_on_the_server(server, tmp_path):
    assert_refused(server, tmp_path / "to", "404")


def test_no_network(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(DownloadError, match="Check the network"):
        download("Beer", tmp_path / "to", base_url=url)


def test_only_web_addresses(tmp_path):
    with pytest.raises(DownloadError, match="web address"):
        download("Beer", tmp_path / "to", base_url="file:///etc")


def test_a_place_that_cannot_be_written(server, files, tmp_path):
    server.answers[PATH] = packed(files)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DownloadError, match="cannot be written"):
        fetch(server, tmp_path / "file")


def test_names():
    assert known_name("dblp-acm") == "DBLP-ACM"
    assert {"DBLP-ACM", "DBLP-GoogleScholar", "Abt-Buy", "iTunes-Amazon", "Walmart-Amazon"} <= set(NAMES)
    with pytest.raises(DownloadError, match="Did you mean DBLP-GoogleScholar"):
        known_name("dblp-googlscholar")
