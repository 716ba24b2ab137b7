"""`audit sign`, `audit dossier` and `audit verify`: accept a result, hand it over, and check what was handed over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riskcore.cli.console import FOUND_ERRORS, RUNS, AsJson, RunName, Runs, print_json, say
from riskcore.cli.pairs import folder_of

if TYPE_CHECKING:
    from riskcore.runs import RunFolder, RunStore

EstimateFile = Annotated[
    Path | None, typer.Option(help="A JSON file with an estimate; by default that of the run's own audit.")
]


def sign(
    run: RunName,
    who: Annotated[str, typer.Option(help="The signer's name.")],
    statement: Annotated[str, typer.Option(help="What is accepted, in the signer's own words.")],
    estimate: EstimateFile = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Sign off a run's result as it is now: its decisions, its verdicts and its data."""
    from riskcore.audit import sign_off
    from riskcore.runs import RunStore

    folder = folder_of(run, runs)
    store = RunStore(folder.path.absolute().parent)
    found = sign_off.sign(folder, store, who, statement, _estimate(folder, estimate))
    if as_json:
        print_json(found.to_json())
        return
    covered = f"{found.matches:,} matches of {found.pairs:,} pairs"
    say(f"Sign-off {found.number} of run {found.run} by {found.who}: {covered}.")
    say(found.estimate_note)
    say(f"Digest: {found.digest}")


def verify(
    what: Annotated[str, typer.Argument(metavar="FILE_OR_RUN", help="A dossier, or a run's id or folder.")],
    expect: Annotated[
        str | None, typer.Option(metavar="HEAD", help="A head of the verdict log that was written down earlier.")
    ] = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Check that a dossier, or the verdict log and the sign-offs of a run, are as they were recorded."""
    from riskcore.audit.dossier import verify_dossier
    from riskcore.audit.verify import verify_run
    from riskcore.runs import RunStore

    if Path(what).is_file():
        found = verify_dossier(Path(what))
    else:
        folder = folder_of(what, runs, figures=True)
        found = verify_run(folder, RunStore(folder.path.absolute().parent), expect)
    if as_json:
        print_json({"intact": found.intact, "checked": list(found.checked), "problems": list(found.problems)})
    else:
        for sentence in found.checked:
            say(sentence)
        for sentence in found.problems:
            say(f"Problem: {sentence}")
        say("Intact." if found.intact else f"Not intact: problems found: {len(found.problems):,}.")
    if not found.intact:
        raise typer.Exit(FOUND_ERRORS)


def dossier(
    run: RunName,
    out: Annotated[Path, typer.Option(help="The .html file to write.")],
    mask: Annotated[list[str] | None, typer.Option(help="An attribute whose values are hidden; repeat it.")] = None,
    mask_ids: Annotated[bool, typer.Option("--mask-ids", help="Hide the ids of records and pairs too.")] = False,
    estimate: EstimateFile = None,
    agreement: Annotated[
        Path | None, typer.Option(help="A JSON file with the agreement of reviewers; by default it is measured.")
    ] = None,
    runs: Runs = RUNS,
    as_json: AsJson = False,
) -> None:
    """Write one HTML file that documents the run, its verdicts and its sign-off, and that `audit verify` checks."""
    from riskcore.audit.dossier import write_dossier
    from riskcore.runs import RunStore

    folder = folder_of(run, runs)
    store = RunStore(folder.path.absolute().parent)
    digest = write_dossier(
        folder,
        store,
        out,
        mask=mask or (),
        mask_ids=mask_ids,
        estimate=_estimate(folder, estimate),
        agreement=_agreement(folder, store, agreement),
    )
    if as_json:
        print_json({"run": folder.path.name, "file": str(out), "digest": digest})
        return
    say(f"The dossier of run {folder.path.name} is in {out}.")
    say(f"Digest: {digest}")
    say("Keep the digest apart from the file: whoever alters the file could compute a new one.")


def _estimate(folder: RunFolder, file: Path | None) -> Any:
    """The estimate in a file, or else from the run's audit; None where it has none."""
    from riskcore.audit.estimate import audits_of, estimate_run

    if file is not None:
        return _figures(file)
    return estimate_run(folder) if audits_of(folder) else None


def _agreement(folder: RunFolder, store: RunStore, file: Path | None) -> Any:
    """The agreement in a file, or else of all verdicts; None where there are none."""
    from riskcore.audit import VerdictLog
    from riskcore.audit.agreement import agreement

    if file is not None:
        return _figures(file)
    entries = VerdictLog(store).entries(folder.path.name)
    return agreement(entries) if entries else None


def _figures(file: Path) -> dict[str, Any]:
    """The figures in a JSON file."""
    from riskcore.errors import ConfigError
    from riskcore.storage.files import read_json

    found = read_json(file, "Give a JSON file.")
    if not isinstance(found, dict):
        raise ConfigError(f"{file} does not hold a JSON object. Give a file such as `--json` writes.")
    return found
