"""The sample data that ships with the project: where it is, and what to say about it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from riskcore.errors import ConfigError
from riskcore.paths import app_folder

SAMPLE_FOLDER = app_folder() / "sample_data"


@dataclasses.dataclass(frozen=True)
class Sample:
    """One bundled data set."""

    name: str
    title: str
    description: str
    path: Path


_SAMPLES = (
    ("bibliography_clean", "Bibliography, curated", "Papers from two well-edited catalogues: a source to learn from."),
    (
        "bibliography_scraped",
        "Bibliography, scraped",
        "The same kind of papers as scraped from the web, with abbreviations, typos and gaps: a target to adapt to.",
    ),
    ("products", "Products", "Offers of two shops with model numbers, where one digit makes another product."),
)


def list_samples(folder: Path = SAMPLE_FOLDER) -> tuple[Sample, ...]:
    """The bundled data sets that are there."""
    samples = (Sample(name, title, text, folder / name) for name, title, text in _SAMPLES)
    return tuple(sample for sample in samples if sample.path.is_dir())


def find_sample(name: str, folder: Path = SAMPLE_FOLDER) -> Sample:
    """The bundled data set of that name."""
    samples = {sample.name: sample for sample in list_samples(folder)}
    if name not in samples:
        raise ConfigError(f"There is no sample data called {name!r}. There are: {', '.join(samples) or 'none'}.")
    return samples[name]
