"""`data bring`: files of any name and form as a data set."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from riskcore.cli.console import AsJson, print_json, say
from riskcore.cli.data import print_uses
from riskcore.errors import ConfigError

if TYPE_CHECKING:
    from riskcore.data.bring.files import BroughtFile
    from riskcore.data.bring.plan import Plan
    from riskcore.data.uses import Use

NONE = "none"
_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}


def bring(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="csv, xlsx, parquet or zip of any name, or a folder of these."),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write the data set to.")],
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE=ROLE", help="What a file is, such as 'shop.csv=left table'; repeatable."),
    ] = None,
    left_id: Annotated[str | None, typer.Option(help="The left table's id column; none numbers the rows.")] = None,
    right_id: Annotated[str | None, typer.Option(help="The right table's id column; none numbers the rows.")] = None,
    attribute_map: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="LEFT=RIGHT", help="Columns that hold the same thing; repeatable."),
    ] = None,
    leave_out: Annotated[
        list[str] | None, typer.Option(metavar="ATTRIBUTE", help="An attribute not to compare; repeatable.")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="comma, semicolon, tab, pipe or a character; by default detected.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Such as cp1252; by default detected.")] = None,
    sheet: Annotated[str | None, typer.Option(help="The sheet of a workbook; by default the first.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a data set of that name.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read tables, pairs and labels of any name and form, and write them as a data set."""
    from riskcore.data.bring.arrange import arrange, assemble
    from riskcore.data.bring.files import ReadOptions, read_brought, unpacked
    from riskcore.data.problems import DataFormatError
    from riskcore.data.uses import possible_uses

    files = [inside for path in files for inside in _within(path)]
    options = ReadOptions(_DELIMITERS.get(delimiter or "", delimiter), encoding, sheet)
    with tempfile.TemporaryDirectory() as inside:
        paths = unpacked(files, Path(inside))
        brought = read_brought(paths, {path.name: options for path in paths})
        plan = _planned(brought, role or (), (left_id, right_id), attribute_map or (), leave_out or ())
        if not as_json:
            _print(brought, plan)
        if dry_run:
            found = assemble(brought, plan)
            if found.data is None:
                raise DataFormatError(found.errors)
            data = found.data
        else:
            data = arrange(brought, plan, out, replace=replace)
    uses = possible_uses(data)
    if as_json:
        print_json(_document(brought, plan, None if dry_run else out, uses))
    else:
        print_uses(uses)
        say(Text("Nothing was written." if dry_run else f"The data set is in {out}.", style="bold"))


def _within(path: Path) -> list[Path]:
    """The file itself, or the tables in a folder."""
    from riskcore.data.bring.files import UPLOADS

    if path.is_dir():
        found = sorted(one for one in path.iterdir() if one.suffix.lower().removeprefix(".") in UPLOADS)
        if not found:
            raise ConfigError(f"The folder {path} has no csv, xlsx, parquet or zip file.")
        return found
    if not path.is_file():
        raise ConfigError(f"There is no file {path}. Check the path.")
    return [path]


def _planned(
    files: Sequence[BroughtFile],
    given: Sequence[str],
    ids: tuple[str | None, str | None],
    maps: Sequence[str],
    leave_out: Sequence[str],
) -> Plan:
    """The suggestion with what was given on top."""
    from riskcore.data.bring.plan import Attribute, named, replan, suggest
    from riskcore.data.mapping import parse_map

    plan = suggest(files)
    roles = _roles(plan, given)
    plan = replan(files, roles) if given else plan
    if any(ids):
        chosen = [_id(files, name, text, old) for name, text, old in zip(
            (plan.left, plan.right), ids, (plan.left_id, plan.right_id), strict=True
        )]  # fmt: skip
        plan = replan(files, plan.roles, (chosen[0], chosen[1]))
    kept = [one for one in plan.attributes if one.name not in leave_out]
    for left, right in parse_map(maps).items():
        _require(files, plan.left, left)
        _require(files, plan.right or plan.left, right)
        kept = [one for one in kept if left != one.left and right != one.right] + [
            Attribute(left, left, right, "given")
        ]
    used = {one.left for one in kept}, {one.right for one in kept}
    out = tuple(one for one in plan.left_out if one.column not in used[0 if one.file == plan.left else 1])
    return dataclasses.replace(plan, attributes=named(kept), left_out=out)


def _roles(plan: Plan, given: Sequence[str]) -> list[Any]:
    from riskcore.data.bring.roles import Role

    roles = {one.file: one for one in plan.roles}
    for entry in given:
        name, _, text = entry.partition("=")
        if name not in roles or text not in list(Role):
            known = ", ".join(Role)
            raise ConfigError(f"--role {entry!r} is not FILE=ROLE. Files: {', '.join(roles)}. Roles: {known}.")
        roles[name] = dataclasses.replace(roles[name], role=Role(text), reason="given")
    return list(roles.values())


def _id(files: Sequence[BroughtFile], file: str | None, given: str | None, suggested: str | None) -> str | None:
    if given is None or given.lower() == NONE:
        return suggested if given is None else None
    _require(files, file, given)
    return given


def _require(files: Sequence[BroughtFile], name: str | None, column: str) -> None:
    file = next((one for one in files if one.name == name), None)
    names = [] if file is None else [one.name for one in file.columns]
    if column not in names:
        raise ConfigError(
            f"{name or 'The right table'} has no column {column!r}. It has: {', '.join(names) or 'none'}."
        )


def _print(files: Sequence[BroughtFile], plan: Plan) -> None:
    from riskcore.data.problems import visible

    roles = {one.file: one for one in plan.roles}
    for file in files:
        rows = 0 if file.text is None else len(file.text)
        role = roles[file.name]
        say(visible(f"{file.name} ({file.form.words}, {rows:,} rows): {role.role}, because {role.reason}"))
    for side, name in (("left", plan.left_id), ("right", plan.right_id if plan.right else NONE)):
        if name != NONE and plan.left is not None:
            say(visible(f"id of the {side} table: {name or 'the number of the row'}"))
    for one in plan.attributes:
        pair = one.left if one.left == one.right else f"{one.left} = {one.right}"
        say(visible(f"attribute {one.name}: {pair}{f', {one.reason}' if one.reason else ''}"))
    for out in plan.left_out:
        say(visible(f"left out: {out.column} of {out.file}, because {out.reason}"))


def _document(files: Sequence[BroughtFile], plan: Plan, out: Path | None, uses: Sequence[Use]) -> dict[str, Any]:
    return {
        "out": None if out is None else str(out),
        "files": [{"file": file.name, **dataclasses.asdict(file.form)} for file in files],
        "plan": dataclasses.asdict(plan),
        "uses": [one.to_dict() for one in uses],
    }
