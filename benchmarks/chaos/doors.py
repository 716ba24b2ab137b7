"""What the outside can hand to Riskcore: each door is what a command or a screen does with a file or a text.

A door raises `RiskcoreError` for what it refuses. Whatever else it raises is a defect.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import resource
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from typer.testing import CliRunner

from riskcore.audit.assigned import lists_of
from riskcore.audit.decisions import decisions
from riskcore.audit.dossier import verify_dossier
from riskcore.audit.estimate.runs import estimate_run
from riskcore.audit.exchange import bring_verdicts
from riskcore.audit.exchange.bring import pairs_in, preview_import
from riskcore.audit.result import export_result
from riskcore.cli import app
from riskcore.cli.run import settings_of
from riskcore.cli.settings import with_settings
from riskcore.config import RunConfig
from riskcore.data import DataSet, inspect_data, open_data, profile
from riskcore.data.bring.arrange import assemble
from riskcore.data.bring.files import read_brought, unpacked
from riskcore.data.bring.plan import suggest
from riskcore.data.bring.scores import read_scores
from riskcore.data.label_file import read_label_file
from riskcore.data.uses import possible_uses
from riskcore.runs import PairQuery, RunFolder, pair_detail, pair_history, query_pairs, rule_table


def check_data(path: str) -> None:
    """`data check`, and the screen Data sets."""
    data, problems = inspect_data(path)
    for problem in problems:
        str(problem)
    if data is not None:
        profile(data).to_dict()
        possible_uses(data)


def bring_file(path: str) -> None:
    """`data bring --dry-run`."""
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as inside:
        brought = read_brought(unpacked([Path(path)], Path(inside)))
        assemble(brought, suggest(brought))


def check_labels(path: str, data: str) -> None:
    """`run --labels`."""
    read_label_file(path, _data(data))


def check_scores(path: str) -> None:
    """`run --scores`."""
    read_scores(Path(path))


def import_verdicts(path: str, folder: str) -> None:
    """`audit import`, up to the question on screen whether to record them."""
    run = RunFolder(folder)
    preview_import(run, bring_verdicts(run, path))


def assign_pairs(path: str, folder: str) -> None:
    """`audit assign --pairs`."""
    pairs_in(RunFolder(folder), Path(path))


def read_settings(path: str) -> None:
    """`run --config`."""
    settings_of(Path(path)).to_json()


def change_settings(path: str) -> None:
    """`run --set`: what the shell hands over."""
    with_settings(RunConfig(), [_typed(path)])


def show_pair(path: str, folder: str) -> None:
    """`explain RUN PAIR`, and `?pair=` in an address."""
    pair_detail(RunFolder(folder), _typed(path))


def check_dossier(path: str) -> None:
    """`audit verify FILE`."""
    str(verify_dossier(Path(path)).problems)


def read_run(folder: str, out: str) -> dict[str, str]:
    """What screens and exports show of a run: a digest of each answer."""
    run = RunFolder(folder)
    page = query_pairs(run, PairQuery(page_size=10_000)).rows
    pair = str(page["pair_id"].iloc[0])
    result = export_result(run, Path(out) / "result.csv", clusters=True, all_columns=True, truth=run.has_truth)
    answers: dict[str, Any] = {
        "run.json": run.run(),
        "results.json": run.results(),
        "lists": lists_of(run),
        "pairs": page,
        "pair": dataclasses.astuple(pair_detail(run, pair)),
        "history": [pair_history(run, pair, method) for method in run.methods()],
        "rules": rule_table(run),
        "decisions": decisions(run),
        "estimate": dataclasses.asdict(estimate_run(run)),
        "export": [Path(file).read_bytes() for file in result.files.values()],
    }
    return {name: _digest(value) for name, value in answers.items()}


def check_run(root: str, run: str) -> list[Any]:
    """`riskcore runs check`: the exit code and what it says; a code of -1 if there is no such command."""
    found = CliRunner().invoke(app, ["runs", "check", run, "--runs", root])
    if found.exit_code == 2 and "No such command" in found.output:
        return [-1, ""]
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return [found.exit_code, found.output]


def peak_megabytes() -> int:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def take_memory(size: str) -> int:
    """No door of Riskcore: shows that the limit holds."""
    return len(bytearray(int(size)))


def _digest(value: Any) -> str:
    return hashlib.sha256(_text(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _text(value: Any) -> str:
    """All of a value, also of a long table."""
    if isinstance(value, pd.DataFrame):
        return str(value.to_csv(index=False))
    if isinstance(value, dict):
        return "".join(f"{name}:{_text(one)};" for name, one in value.items())
    if isinstance(value, list | tuple):
        return "".join(f"{_text(one)};" for one in value)
    if hasattr(value, "tolist"):
        return str(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _text({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    return repr(value)


def _typed(path: str) -> str:
    """Bytes as a program gets them from the shell."""
    return os.fsdecode(Path(path).read_bytes().replace(b"\0", b""))


@cache
def _data(path: str) -> DataSet:
    return open_data(path)


DOORS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        check_data, bring_file, check_labels, check_scores, import_verdicts, assign_pairs, read_settings,
        change_settings, show_pair, check_dossier, read_run, check_run,
        peak_megabytes, take_memory,
    )
}  # fmt: skip
