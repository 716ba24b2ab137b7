"""Matchers on disk: `matcher.json` has kind and settings, `weights.safetensors` what was learned."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from safetensors import SafetensorError

from riskcore.config import MatcherConfig
from riskcore.data.schema import Attribute, AttributeType
from riskcore.errors import MatcherError
from riskcore.matchers.base import Matcher
from riskcore.registry import MATCHERS
from riskcore.storage.arrays import read_arrays, write_arrays
from riskcore.storage.files import read_text, write_json

FACTS = "matcher.json"
WEIGHTS = "weights.safetensors"


def matcher_class(kind: str) -> type[Matcher]:
    """The class behind a kind; its module is imported only now."""
    found: type[Matcher] = MATCHERS[kind].load()
    return found


def save(matcher: Matcher, folder: Path) -> None:
    """Write both files, each whole or not at all."""
    folder = Path(folder)
    facts = {
        "config": dataclasses.asdict(matcher.config),
        "attributes": [dataclasses.asdict(attribute) for attribute in matcher.attributes],
    }
    write_arrays(folder / WEIGHTS, matcher.snapshot())
    write_json(folder / FACTS, facts)


def load(folder: Path) -> Matcher:
    """The matcher that was saved there, whatever its kind."""
    folder = Path(folder)
    try:
        told = json.loads(read_text(folder / FACTS))
        arrays = read_arrays(folder / WEIGHTS)
    except (OSError, ValueError, SafetensorError) as error:
        raise MatcherError(f"No matcher can be read from {folder}: {error}. Save one there first.") from error
    config = MatcherConfig.from_dict(told["config"])
    attributes = tuple(Attribute(one["name"], AttributeType(one["type"])) for one in told["attributes"])
    matcher = matcher_class(config.kind)(config, attributes)
    matcher.restore(arrays)
    return matcher
