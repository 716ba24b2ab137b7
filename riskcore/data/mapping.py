"""Which attributes source and target share, and under which names."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from riskcore.data.dataset import DataSet
from riskcore.data.pairs import Table
from riskcore.data.problems import DataFormatError, Problem, shown
from riskcore.errors import ConfigError


def parse_map(entries: Sequence[str]) -> dict[str, str]:
    """An attribute map from entries such as 'author=authors' (source=target)."""
    found: dict[str, str] = {}
    for entry in entries:
        source, equals, target = (part.strip() for part in entry.partition("="))
        if not (source and equals and target):
            raise ConfigError(f"The attribute map {entry!r} is not SOURCE=TARGET, such as author=authors.")
        if source in found:
            raise ConfigError(f"The attribute map names {source!r} twice.")
        found[source] = target
    return found


def shared_attributes(
    source: DataSet, target: DataSet | None, attribute_map: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Source name to target name of each attribute that both have, and a notice for each that is dropped.

    Attributes that only the target has are not dropped: see `target_only_attributes`.
    """
    if target is None and attribute_map:
        raise ConfigError("An attribute map needs a target: without one, there are no other names to map to.")
    theirs = (source if target is None else target).attributes
    _check_map(attribute_map, source.attributes, theirs)
    taken = set(attribute_map.values())
    names = {
        name: attribute_map.get(name, name)
        for name in source.attributes
        if name in attribute_map or (name in theirs and name not in taken)
    }
    if not names:
        raise DataFormatError([_nothing_shared(source.attributes, theirs)])
    return names, _dropped("source", source, names)


def target_only_attributes(target: DataSet, shared: Mapping[str, str]) -> dict[str, str]:
    """Attributes of both tables of the target that the source lacks: their names there and, where a shared attribute
    has that name already, another."""
    taken, found = set(shared), {}
    for name in target.attributes:
        if name in shared.values():
            continue
        ours = name
        while ours in taken:
            ours += "_"
        found[name] = ours
        taken.add(ours)
    return found


def _check_map(attribute_map: Mapping[str, str], ours: Sequence[str], theirs: Sequence[str]) -> None:
    for side, names, known in (("source", attribute_map, ours), ("target", attribute_map.values(), theirs)):
        for name in names:
            if name not in known:
                raise ConfigError(
                    f"The attribute map names {name!r}, which the {side} does not have. It has: {', '.join(known)}."
                )
    if len(set(attribute_map.values())) < len(attribute_map):
        raise ConfigError("The attribute map gives two attributes the same counterpart.")


def _nothing_shared(ours: Sequence[str], theirs: Sequence[str]) -> Problem:
    message = f"Source ({', '.join(ours)}) and target ({', '.join(theirs)}) share no attribute."
    return Problem("no_shared_attribute", message, "Name counterparts in an attribute map, such as author=authors.")


def one_sided_attributes(target: DataSet) -> list[str]:
    """A notice for each attribute that only one table of the target has: there is nothing to compare it with."""
    return [
        f"The target's attribute {shown(name)} is in one of its tables only and is not used."
        for name in dict.fromkeys((*target.left.attributes, *target.right.attributes))
        if name not in target.attributes
    ]


def _dropped(side: str, data: DataSet, kept: Iterable[str]) -> list[str]:
    used = set(kept)
    every = dict.fromkeys((*data.left.attributes, *data.right.attributes))
    return [
        f"The {side}'s attribute {shown(name)} has no counterpart and is not used."
        for name in every
        if name not in used
    ]


def restricted(data: DataSet, names: Mapping[str, str]) -> DataSet:
    """The data set with these attributes only (old name to new name), in the order given."""
    left = _renamed(data.left, names)
    right = left if data.self_join else _renamed(data.right, names)
    splits = {name: dataclasses.replace(pairs, left=left, right=right) for name, pairs in data.splits.items()}
    return dataclasses.replace(data, left=left, right=right, splits=splits)


def _renamed(table: Table, names: Mapping[str, str]) -> Table:
    values = table.values[list(names)].set_axis(list(names.values()), axis=1)
    return Table(table.name, np.asarray(table.ids, dtype=object), values)
