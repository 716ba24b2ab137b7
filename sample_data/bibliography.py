"""The two bibliographies: a clean pair of tables to learn from, and a scraped one to repair."""

from collections import Counter
from collections.abc import Callable
from random import Random

from papers import Paper, Press
from scrape import scraped, typo
from workload import Mixture, Record, Workload, make_workload

COLUMNS = ("title", "authors", "venue", "year")


def clean_bibliography(rng: Random) -> Workload:
    """An index with short venue names against a library with long ones; both carefully edited."""
    papers = _papers(Press(rng), singles=560, versions=60, sequels=25, series=20)
    left, right = [], []
    for paper in papers:
        place = rng.random()
        if place < 0.94:
            left.append(_record(paper, indexed(paper)))
        if place > 0.12:
            right.append(_record(paper, catalogued(rng, paper)))
    return make_workload(rng, COLUMNS, left, right, Mixture(matches=570, family=70, near=760, loose=1600))


def scraped_bibliography(rng: Random) -> Workload:
    """The same kind of index against pages scraped from the web, some works found twice or three times."""
    papers = _papers(Press(rng), singles=380, versions=165, sequels=60, series=25)
    relatives = Counter(paper.family for paper in papers)
    left, right, seen = [], [], set()
    for paper in papers:
        if rng.random() < 0.85:
            left.append(_record(paper, indexed(paper)))
        for _ in range(rng.choices((0, 1, 2, 3), (22, 55, 19, 4))[0]):
            values = _unseen(seen, lambda paper=paper: scraped(rng, paper, relatives[paper.family] > 1))
            right.append(_record(paper, values))
    return make_workload(rng, COLUMNS, left, right, Mixture(matches=540, family=460, near=700, loose=1300))


def indexed(paper: Paper) -> tuple[str, ...]:
    """Full names, short venue, year."""
    authors = ", ".join(person.full for person in paper.authors)
    return paper.title, authors, paper.venue.short, str(paper.year)


def catalogued(rng: Random, paper: Paper) -> tuple[str, ...]:
    """Full names, long venue; a rare slip of the typist, a few records with initials only or without a year."""
    title = typo(rng, paper.title) if rng.random() < 0.12 else paper.title
    if ":" in title and rng.random() < 0.15:
        title = title.replace(":", " -")
    year = "" if rng.random() < 0.05 else str(paper.year)
    venue = "" if year and rng.random() < 0.04 else paper.venue.long
    return title, _credits(rng, paper), venue, year


def _credits(rng: Random, paper: Paper) -> str:
    if rng.random() < 0.09:
        return ", ".join(f"{person.first[0]}. {person.last}" for person in paper.authors)
    return ", ".join(f"{who.first} {who.last}" if rng.random() < 0.3 else who.full for who in paper.authors)


def _papers(press: Press, singles: int, versions: int, sequels: int, series: int) -> list[Paper]:
    plan = ((press.single, singles), (press.versions, versions), (press.sequel, sequels), (press.series, series))
    return [paper for publish, times in plan for _ in range(times) for paper in publish()]


def _record(paper: Paper, values: tuple[str, ...]) -> Record:
    return Record(paper.entity, paper.family, values)


def _unseen(seen: set[tuple[str, ...]], make: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """Two identical records would make the same pair twice under different ids."""
    while (values := make()) in seen:
        pass
    seen.add(values)
    return values
