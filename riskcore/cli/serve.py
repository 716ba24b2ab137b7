"""`serve`: the screens."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from riskcore.errors import ConfigError

APP_SCRIPT = Path(__file__).resolve().parents[2] / "app.py"


def serve(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="8501 unless Streamlit is told otherwise.")] = None,
) -> None:
    """Start the screens in a browser, on this machine only unless Streamlit's own settings say otherwise."""
    if not APP_SCRIPT.is_file():
        raise ConfigError(f"{APP_SCRIPT} is not there: the screens start from a copy of the project.")
    # The address comes from the environment, so that the server stays private whatever folder it is started in.
    os.environ.setdefault("STREAMLIT_SERVER_ADDRESS", "localhost")
    os.environ.setdefault("STREAMLIT_SERVER_SHOW_EMAIL_PROMPT", "false")
    os.environ.setdefault("STREAMLIT_BROWSER_GATHER_USAGE_STATS", "false")
    command = [sys.executable, "-m", "streamlit", "run", str(APP_SCRIPT)]
    os.execv(sys.executable, command + (["--server.port", str(port)] if port else []))
