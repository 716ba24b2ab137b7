"""Which cells may be averaged: those with the same settings and data, whatever their seed. The others are named."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from riskcore.bench.run.schema import Document, GroupFields, Row
from riskcore.bench.run.stamps import restored, settings_stamp, shared_stamp
from riskcore.errors import ConfigError

GROUP = tuple(GroupFields.__annotations__)
STAMPS = ("shared_stamp", "data_stamp")
GroupKey = tuple[Any, ...]


def stamp_of(document: Document) -> str:
    """The stamp of a document's settings without its seed; recomputed for early documents, which do not hold it."""
    if "shared_stamp" in document:
        return str(document["shared_stamp"])
    with contextlib.suppress(ConfigError, TypeError):
        config = restored(document["settings"])
        if settings_stamp(config) == document["settings_stamp"]:
            return shared_stamp(config)
    # The defaults have changed since, so only the changed settings can be compared.
    return json.dumps({name: value for name, value in document["settings"].items() if name != "seed"}, sort_keys=True)


def comparable(documents: Sequence[Document]) -> tuple[list[Document], list[str]]:
    """The documents that may be averaged, the newest of each group deciding; and a notice of those left out."""
    newest: dict[GroupKey, Document] = {}
    for one in documents:
        before = newest.get(_group(one))
        if before is None or _at(one) > _at(before):
            newest[_group(one)] = one
    kept = [one for one in documents if _stamps(one) == _stamps(newest[_group(one)])]
    left = [one for one in documents if _stamps(one) != _stamps(newest[_group(one)])]
    return kept, left_out(left)


def left_out(rows: Iterable[Document | Row]) -> list[str]:
    """A sentence for each group of documents or rows that is not averaged with the others."""
    seeds: dict[GroupKey, set[int]] = {}
    for one in rows:
        seeds.setdefault((one["bench"], one["workload"], one["variant"], one["matcher"]), set()).add(one["seed"])
    return [
        f"{', '.join(part for part in group if part)}: {_seeds(sorted(some))} left out, made with other settings or "
        "other data."
        for group, some in seeds.items()
    ]


def _seeds(some: Sequence[int]) -> str:
    return f"seed{'s' * (len(some) > 1)} {', '.join(map(str, some))}"


def _group(document: Document) -> GroupKey:
    fields: dict[str, Any] = {**document}
    return tuple(fields[name] for name in GROUP)


def _stamps(document: Document) -> GroupKey:
    return stamp_of(document), document["data_stamp"]


def _at(document: Document) -> str:
    return max((result["at"] for result in document["results"]), default="")
