"""Whether every rule of a data set reads as a sentence: no name of a metric in it, at most 3 significant digits.

    python benchmarks/rule_sentences.py --data FOLDER --json

Prints how many rules there are, how many sentences are distinct, and the rules whose sentence breaks the promise.
"""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script from anywhere

from benchmarks.arguments import DataOption, JsonOption, report
from benchmarks.rules import _training_metrics
from riskcore.metrics.kinds import KINDS
from riskcore.rules.generation import generate
from riskcore.rules.rule import Rule
from riskcore.rules.sentences import rule_sentence

DIGITS = 3
NAMES = tuple(dict.fromkeys((*(kind.label for kind in KINDS.values()), *KINDS)))


def main(
    data: DataOption,
    shown: Annotated[int, typer.Option(help="Sentences to print.")] = 0,
    as_json: JsonOption = False,
) -> None:
    rules = generate(*_training_metrics(data)).rules
    sentences = [rule_sentence(rule) for rule in rules]
    broken = [rule.text for rule, sentence in zip(rules, sentences, strict=True) if not is_plain(rule, sentence)]
    for sentence in sentences[:shown]:
        print(sentence, file=sys.stderr)
    found: dict[str, Any] = {"rules": len(rules), "distinct_sentences": len(set(sentences)), "not_plain": broken}
    report(found, as_json)


def is_plain(rule: Rule, sentence: str) -> bool:
    """An attribute may itself be called like a metric: its own name does not count."""
    said = sentence
    for name in sorted({condition.attribute for condition in rule.conditions}, key=len, reverse=True):
        said = said.replace(name, "").replace(name.replace("_", " "), "")
    named = any(re.search(rf"\b{re.escape(word)}\b", said) for word in NAMES)
    numbers = re.findall(r"\d+(?:\.\d+)?", said)
    return not named and all(len(Decimal(one).normalize().as_tuple().digits) <= DIGITS for one in numbers)


if __name__ == "__main__":
    typer.run(main)
