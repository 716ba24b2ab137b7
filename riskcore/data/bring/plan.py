"""What is to be made of the files brought: the suggestion, which a person corrects, and which `arrange` writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from riskcore.data.bring.columns import ColumnFacts, answer_reason, id_reason, plain_name
from riskcore.data.bring.counterparts import Counterpart, counterparts
from riskcore.data.bring.files import BroughtFile
from riskcore.data.bring.roles import Recognised, Role, id_column, recognise
from riskcore.data.bring.sides import sides_of
from riskcore.data.text_file import ID

NO_COUNTERPART = "the other table has no counterpart"


@dataclasses.dataclass(frozen=True)
class Attribute:
    """One attribute of the data set: its name, and the columns it comes from. In a self-join both are the same."""

    name: str
    left: str
    right: str
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """A column that is not used, and why."""

    file: str
    column: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Plan:
    """The files' roles, the ids of the tables (None numbers the rows), the attributes, and what is left out."""

    roles: tuple[Recognised, ...]
    left_id: str | None = None
    right_id: str | None = None
    attributes: tuple[Attribute, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def of_role(self, *roles: Role) -> tuple[Recognised, ...]:
        return tuple(one for one in self.roles if one.role in roles)

    @property
    def left(self) -> str | None:
        return next((one.file for one in self.of_role(Role.LEFT)), None)

    @property
    def right(self) -> str | None:
        return next((one.file for one in self.of_role(Role.RIGHT)), None)

    @property
    def record_pairs(self) -> str | None:
        return next((one.file for one in self.of_role(Role.RECORD_PAIRS)), None)

    @property
    def has_pairs(self) -> bool:
        """Whether candidate pairs were brought, labelled or not."""
        candidates = (Role.CANDIDATES, Role.TRAIN, Role.VALID, Role.TEST, Role.RECORD_PAIRS)
        return bool(self.of_role(*candidates))


def suggest(files: Sequence[BroughtFile]) -> Plan:
    """What the files seem to be."""
    return replan(files, recognise(files))


def replan(
    files: Sequence[BroughtFile],
    roles: Sequence[Recognised],
    ids: tuple[str | None, str | None] | None = None,
) -> Plan:
    """The plan for these roles. `ids` are the tables' columns of ids, which are suggested unless given."""
    by_name = {file.name: file for file in files}
    plan = Plan(tuple(roles))
    if plan.left is None and plan.record_pairs is not None:
        return _of_record_pairs(plan, by_name[plan.record_pairs])
    if plan.left is None:
        return plan
    left = by_name[plan.left]
    right = by_name[plan.right] if plan.right is not None else None
    chosen = ids or (id_column(left), None if right is None else id_column(right))
    ours, left_out = usable_columns(left, chosen[0])
    if right is None:
        attributes = tuple(Attribute(column.name, column.name, column.name) for column in ours)
        return dataclasses.replace(plan, left_id=chosen[0], attributes=named(attributes), left_out=left_out)
    theirs, more = usable_columns(right, chosen[1])
    pairs = counterparts(ours, theirs)
    attributes = named(tuple(Attribute(one.left, one.left, one.right, one.reason) for one in pairs))
    lonely = _without_counterpart(left, ours, right, theirs, pairs)
    return dataclasses.replace(
        plan, left_id=chosen[0], right_id=chosen[1], attributes=attributes, left_out=(*left_out, *more, *lonely)
    )


def usable_columns(file: BroughtFile, id_name: str | None) -> tuple[list[ColumnFacts], tuple[LeftOut, ...]]:
    """The columns to compare, and those that look like ids or like the answer or have no value."""
    kept, out = [], []
    for column in file.columns:
        if column.name == id_name:
            continue
        reason = "it has no value" if not column.filled else answer_reason(column) or id_reason(column)
        if reason is None:
            kept.append(column)
        else:
            out.append(LeftOut(file.name, column.name, reason))
    return kept, tuple(out)


def _without_counterpart(
    left: BroughtFile,
    ours: Sequence[ColumnFacts],
    right: BroughtFile,
    theirs: Sequence[ColumnFacts],
    pairs: Sequence[Counterpart],
) -> list[LeftOut]:
    used = {one.left for one in pairs}, {one.right for one in pairs}
    sides = ((left, ours, used[0]), (right, theirs, used[1]))
    return [
        LeftOut(file.name, column.name, NO_COUNTERPART)
        for file, columns, taken in sides
        for column in columns
        if column.name not in taken
    ]


def _of_record_pairs(plan: Plan, file: BroughtFile) -> Plan:
    """Attributes of a file with both records in one row."""
    sides = sides_of(file.columns)
    facts = {column.name: column for column in file.columns}
    kept, out = [], []
    for name, left, right in sides.attributes:
        empty = not facts[left].filled and not facts[right].filled
        reason = "it has no value" if empty else answer_reason(dataclasses.replace(facts[left], name=name))
        if reason is None:
            kept.append(Attribute(name, left, right))
        else:
            out += [LeftOut(file.name, left, reason), LeftOut(file.name, right, reason)]
    return dataclasses.replace(plan, attributes=named(tuple(kept)), left_out=tuple(out))


def named(attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """The attributes under names that the format allows: none is called id, and none twice."""
    taken, found = {ID}, []
    for one in attributes:
        name = one.name
        while name in taken or plain_name(name) == ID:
            name += "_value"
        taken.add(name)
        found.append(dataclasses.replace(one, name=name))
    return tuple(found)
