"""Which cells may be averaged: those of one settings and one data, whatever their seed. The others are named."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from riskcore.bench.run.documents import Document
from riskcore.bench.run.stamps import restored, settings_stamp, shared_stamp
from riskcore.errors import ConfigError

GROUP = ("bench", "workload", "variant", "matcher", "split", "train_fraction", "validation_size")
STAMPS = ("shared_stamp", "data_stamp")
Key = tuple[Any, ...]


def stamp_of(document: Document) -> str:
    """The stamp of a document's settings without its seed; worked out where the document is too old to say it."""
    if "shared_stamp" in document:
        return str(document["shared_stamp"])
    with contextlib.suppress(ConfigError, TypeError):
        config = restored(document["settings"])
        if settings_stamp(config) == document["settings_stamp"]:
            return shared_stamp(config)
    # The defaults were others then: what was changed of them is all there is to go by.
    return json.dumps({name: value for name, value in document["settings"].items() if name != "seed"}, sort_keys=True)


def agreeing(documents: Sequence[Document]) -> tuple[list[Document], list[str]]:
    """The documents that go together, the newest deciding for each group; and a notice of each that is left out."""
    newest: dict[Key, Document] = {}
    for one in documents:
        before = newest.get(_group(one))
        if before is None or _at(one) > _at(before):
            newest[_group(one)] = one
    kept = [one for one in documents if _stamps(one) == _stamps(newest[_group(one)])]
    left = [one for one in documents if _stamps(one) != _stamps(newest[_group(one)])]
    return kept, left_out(left)


def left_out(rows: Iterable[dict[str, Any]]) -> list[str]:
    """A sentence for each group of documents or rows that is not averaged with the others."""
    seeds: dict[Key, set[int]] = {}
    for one in rows:
        seeds.setdefault(tuple(one[name] for name in ("bench", "workload", "variant", "matcher")), set()).add(
            one["seed"]
        )
    return [
        f"{', '.join(part for part in group if part)}: {_seeds(sorted(some))} left out, made with other settings or "
        "other data."
        for group, some in seeds.items()
    ]


def _seeds(some: Sequence[int]) -> str:
    return f"seed{'s' * (len(some) > 1)} {', '.join(map(str, some))}"


def _group(document: Document) -> Key:
    return tuple(document[name] for name in GROUP)


def _stamps(document: Document) -> Key:
    return stamp_of(document), document["data_stamp"]


def _at(document: Document) -> str:
    return max((result["at"] for result in document["results"]), default="")
