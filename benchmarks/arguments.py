"""What every benchmark's command line has in common: JSON on stdout alone, or a short table."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

DataOption = Annotated[Path, typer.Option("--data", help="A workload folder or file of pairs.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout and nothing else.")]


def report(results: dict[str, Any], as_json: bool) -> None:
    """Print the results with the machine that gave them."""
    results = {**results, "machine": {"python": platform.python_version(), "processor": platform.machine()}}
    if as_json:
        print(json.dumps(results, indent=2, default=_plain))
        return
    for name, value in results.items():
        print(f"{name:>24}  {value}")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
