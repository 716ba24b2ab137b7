"""`serve`: the screens."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from riskcore import logs
from riskcore.errors import ConfigError
from riskcore.paths import app_folder, child_environment
from riskcore.version import __version__


def serve(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="8501 unless Streamlit's settings name another.")
    ] = None,
) -> None:
    """Start the screens in a browser, on this machine only unless Streamlit's own settings say otherwise."""
    command, environment = serve_command(port), serve_environment()
    logs.set_up(server=True)
    logs.event("server", outcome="starting", version=__version__, pid=os.getpid())
    os.execve(command[0], command, environment)


def serve_command(port: int | None = None) -> list[str]:
    """The server's command. Streamlit reads `.streamlit/config.toml` beside the script, whatever folder it starts in.

    With -P nothing is imported from the working folder, where a `pages` or a `numpy` may happen to be.
    """
    script = app_folder() / "app.py"
    if not script.is_file():
        raise ConfigError(f"{script} is missing, so there are no screens to start. Install riskcore again.")
    options = ["--server.port", str(port)] if port else []
    return [sys.executable, "-P", "-m", "streamlit", "run", str(script), *options]


def serve_environment() -> dict[str, str]:
    """Private settings that hold even if the settings file should be missing; what the user has set comes first."""
    private = {
        "STREAMLIT_SERVER_ADDRESS": "localhost",
        "STREAMLIT_SERVER_SHOW_EMAIL_PROMPT": "false",
        "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
    }
    return {**private, **child_environment()}
