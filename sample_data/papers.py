"""Invents papers, and the families that make matching hard: two versions of one work, sequels, series."""

import re
from dataclasses import dataclass, replace
from itertools import count
from random import Random

from paper_words import FIELDS, QUALITIES, SEQUELS, SERIES, SYSTEM_HEADS, SYSTEM_TAILS, TITLES, Field
from people import Person, make_teams
from venues import VENUES, Venue

FIRST_YEAR, LAST_YEAR = 1994, 2009

_REPEATABLE = {"the", "a", "an", "for", "of", "in", "on", "and"}


@dataclass(frozen=True)
class Paper:
    """One published work. Papers of one `family` are easily confused, and are different works all the same."""

    entity: int
    family: int
    title: str
    authors: tuple[Person, ...]
    venue: Venue
    year: int


class Press:
    """Publishes papers: keeps the teams, and the titles already taken."""

    def __init__(self, rng: Random, teams: int = 110):
        self.rng = rng
        self.teams = [(team, rng.choice(FIELDS)) for team in make_teams(rng, teams)]
        self.taken: set[str] = set()
        self.entities, self.families = count(), count()

    def single(self) -> list[Paper]:
        team, field = self.rng.choice(self.teams)
        return [self._paper(next(self.families), self.title(field), self._authors(team), field)]

    def versions(self) -> list[Paper]:
        """A conference paper and its journal version, one to three years later, the title sometimes touched up."""
        team, field = self.rng.choice(self.teams)
        early = self._paper(next(self.families), self.title(field), self._authors(team), field, journal=False)
        journal = self.rng.choice(_venues(field, early.year + 1, journal=True))
        authors = early.authors
        if len(authors) < 4 and self.rng.random() < 0.2:
            authors += tuple(person for person in team if person not in authors)[:1]
        late = replace(
            early,
            entity=next(self.entities),
            title=_touched_up(self.rng, early.title),
            authors=authors,
            venue=journal,
            year=early.year + self.rng.randint(1, 3),
        )
        return [early, late]

    def sequel(self) -> list[Paper]:
        """A paper and its follow-up by much the same authors, elsewhere or in a later year of the same venue."""
        team, field = self.rng.choice(self.teams)
        first = self._paper(next(self.families), self.title(field), self._authors(team), field)
        title = self._sequel_title(first.title)
        later = self._paper(first.family, title, first.authors, field, year=first.year + self.rng.randint(1, 4))
        return [first, later]

    def series(self) -> list[Paper]:
        """Three papers of one project, each on a different topic."""
        team, field = self.rng.choice(self.teams)
        family, system = next(self.families), self._system()
        templates = self.rng.sample(SERIES, 3)
        titles = [self._fill(template, field, system) for template in templates]
        return [self._paper(family, title, self._authors(team), field) for title in titles]

    def title(self, field: Field) -> str:
        """A title that is not used yet and does not repeat a word."""
        while True:
            title = self._fill(self.rng.choice(TITLES), field, self._system())
            words = [word for word in re.findall(r"[\w-]+", title) if word not in _REPEATABLE]
            if title not in self.taken and len(set(words)) == len(words):
                self.taken.add(title)
                return title

    def _fill(self, template: str, field: Field, system: str) -> str:
        problem, problem2 = self.rng.sample(field.problems, 2)
        technique, technique2 = self.rng.sample(field.techniques, 2)
        quality = self.rng.choice(QUALITIES)
        return template.format(
            problem=problem,
            problem2=problem2,
            technique=technique,
            technique2=technique2,
            quality=quality,
            a_quality=f"{'an' if quality[0] in 'aeio' else 'a'} {quality}",
            setting=self.rng.choice(field.settings),
            activity=self.rng.choice(field.activities),
            artifact=self.rng.choice(field.artifacts),
            system=system,
        )

    def _sequel_title(self, title: str) -> str:
        """A second colon, or "more on on the use of", would give the machine away."""
        fitting = [template for template in SEQUELS if not (":" in title and ":" in template)]
        fitting = [template for template in fitting if not (title.startswith("on ") and " on " in template)]
        return self.rng.choice(fitting).format(title=title)

    def _system(self) -> str:
        return self.rng.choice(SYSTEM_HEADS) + self.rng.choice(SYSTEM_TAILS)

    def _authors(self, team: list[Person]) -> tuple[Person, ...]:
        return tuple(self.rng.sample(team, self.rng.choices((1, 2, 3, 4, 5), (10, 30, 33, 19, 8))[0]))

    def _paper(
        self,
        family: int,
        title: str,
        authors: tuple[Person, ...],
        field: Field,
        journal: bool | None = None,
        year: int = 0,
    ) -> Paper:
        year = year or self.rng.randint(FIRST_YEAR, LAST_YEAR)
        venue = self.rng.choice(_venues(field, year, journal))
        return Paper(next(self.entities), family, title, authors, venue, year)


def _venues(field: Field, year: int, journal: bool | None) -> list[Venue]:
    open_then = [venue for venue in VENUES if field.name in venue.fields and venue.first_year <= year]
    # A conference is twice as likely as a journal, as in computer science.
    return [v for v in open_then for _ in range(1 if v.journal else 2) if journal is None or v.journal == journal]


def _touched_up(rng: Random, title: str) -> str:
    """What editors do to a title on its way into a journal; more often than not, nothing."""
    if rng.random() < 0.55:
        return title
    for old, new in (
        ("towards ", ""),
        (" using ", " with "),
        ("a framework", "a general framework"),
        (": a survey", ""),
    ):
        if old in title:
            return title.replace(old, new)
    return title if ":" in title else title + rng.choice((": an extended study", ": models and algorithms"))
