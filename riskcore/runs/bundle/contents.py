"""The files of a bundle, and what bundle.json holds. A bundle of a later format is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NotRequired, TypedDict

from riskcore.storage.files import read_json

FORMAT = 1  # to be raised whenever what is kept, or what it means to those who read it, changes

ABOUT = "bundle.json"
RULES = "rules.json"
WORDS = "words.parquet"  # how often each word occurs, by space and attribute
LEARNERS = "learners.safetensors"
RECORDS = "records.parquet"
KNOWN_PAIRS = "known_pairs.parquet"  # only where competing candidates count
MATCHERS = "matchers"  # a file of weights for each state of the matcher
MODELS = "models"  # the risk model of each kept iteration, for reasons

START, FINE_TUNED = "start", "fine-tuned"  # states of the matcher that no method answers with itself
WHOLE_RECORD = ""  # in the place of an attribute: the words of whole records
SPACE, ATTRIBUTE, WORD, COUNT = "space", "attribute", "word", "count"
KNOWN_LABEL = "label"
BEFORE_COMPETITION = "before_"  # in front of a method's name: its stacked probability of a target pair


class AttributeFacts(TypedDict):
    """An attribute of the run's tables."""

    name: str
    type: str
    column: str  # its name in the target's own files
    target_only: bool


class SpaceDocument(TypedDict):
    """A metric space without its words."""

    attributes: list[str]
    documents: list[int]  # values that the words of each attribute were counted in
    years: list[bool]  # how the numbers of each attribute are read
    durations: list[bool]
    record_attributes: list[str]
    record_documents: int
    leads: bool
    record_name: str


class MethodFacts(TypedDict):
    """How one method answers."""

    iteration: int | None  # the kept one; None where the method has none
    labels_used: list[str]
    weights: str  # the state of the matcher that answers
    stacked: bool
    ranked_with_start: bool
    ranked_by: str | None
    ranking: dict[str, Any] | None


class BundleFacts(TypedDict):
    """bundle.json."""

    format: int
    run: str
    name: str
    answer: str  # the method whose answer is the run's
    methods: dict[str, MethodFacts]
    config: dict[str, Any]
    attributes: list[AttributeFacts]
    self_join: bool
    sampled: NotRequired[bool]  # the run's target pairs are a sample: others that compete were not among them
    spaces: list[SpaceDocument]
    learners: list[dict[str, Any]] | None
    version: str
    versions: dict[str, str]


def read_facts(bundle: Path) -> BundleFacts | None:
    """bundle.json; None where there is no bundle. Reading it needs no engine."""
    file = bundle / ABOUT
    if not file.is_file():
        return None
    facts: BundleFacts = read_json(file, "Run again to have a bundle.")
    return facts
