"""A throw-away PostgreSQL server on loopback, for tests of the store that a team shares."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "postgres"
NOT_INSTALLED = 69


class Server:
    """Its files are in a folder of its own: the server's user has to get at it, which pytest's folders do not allow."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, 0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def do(self, action: str, *more: str) -> int:
        command = [str(SCRIPT), action, str(self.folder), *more]
        return subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60, check=False).returncode

    def new_database(self) -> str:
        """The URL of an empty database."""
        import psycopg

        self.made += 1
        name = f"store_{self.made}"
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._url(name).replace("postgresql:", "postgresql+psycopg:")

    def end_connections(self) -> None:
        """Break every connection of clients, as a restart does."""
        import psycopg

        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND backend_type = 'client backend'"
            )

    def _url(self, database: str) -> str:
        return f"postgresql://riskcore@127.0.0.1:{self.port}/{database}"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A running server; skipped where none is installed, which fails in continuous integration."""
    folder = Path(tempfile.mkdtemp(prefix="riskcore-postgres-"))
    folder.chmod(0o755)
    found = Server(folder)
    try:
        missing = _missing(found)
        if missing and os.environ.get("CI") == "true":
            pytest.fail(f"{missing} `.ci/postgres` installs the server, requirements-dev.txt the driver.")
        if missing:
            pytest.skip(missing)
        yield found
        found.do("stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _missing(server: Server) -> str:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed."
    code = server.do("start", str(server.port))
    assert code in (0, NOT_INSTALLED), "the server did not start"
    return "PostgreSQL is not installed." if code else ""
