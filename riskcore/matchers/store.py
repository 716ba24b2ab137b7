"""Matchers on disk: `matcher.json` says what it is and how it was made, `weights.safetensors` what it learned."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from riskcore.config import MatcherConfig
from riskcore.data.schema import Attribute, AttributeType
from riskcore.errors import MatcherError

if TYPE_CHECKING:
    from riskcore.matchers.base import Matcher

FACTS = "matcher.json"
WEIGHTS = "weights.safetensors"


def save(matcher: Matcher, folder: Path) -> None:
    """Write both files beside their place and rename them into it."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    facts = {
        "config": dataclasses.asdict(matcher.config),
        "attributes": [dataclasses.asdict(attribute) for attribute in matcher.attributes],
    }
    weights, text = folder / f"{WEIGHTS}.part", folder / f"{FACTS}.part"
    save_file(matcher.snapshot(), weights)
    text.write_text(json.dumps(facts, indent=1, sort_keys=True), encoding="utf-8")
    for part in (weights, text):
        with part.open("rb") as written:
            os.fsync(written.fileno())  # on disk before it takes the old one's place
        os.replace(part, part.with_suffix(""))


def load(folder: Path) -> Matcher:
    """The matcher that was saved there, whatever its kind."""
    from riskcore.matchers import matcher_class

    folder = Path(folder)
    try:
        told = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        arrays = load_file(folder / WEIGHTS)
    except (OSError, ValueError, SafetensorError) as error:
        raise MatcherError(f"No matcher can be read from {folder}: {error}. Save one there first.") from error
    config = MatcherConfig.from_dict(told["config"])
    attributes = tuple(Attribute(one["name"], AttributeType(one["type"])) for one in told["attributes"])
    matcher = matcher_class(config.kind)(config, attributes)
    matcher.restore(arrays)
    return matcher
