"""How a scraper mangles a bibliography record, one attribute at a time."""

import re
from random import Random

from papers import Paper
from people import Person, without_accents

_NEARBY_KEYS = {
    "a": "sq", "c": "xv", "d": "sf", "e": "wr", "g": "fh", "i": "uo", "l": "k", "m": "n", "n": "bm",
    "o": "ip", "p": "o", "r": "et", "s": "ad", "t": "ry", "u": "yi", "v": "cb", "y": "tu",
}  # fmt: skip
_LEFTOVERS = ("[pdf] {}", "[citation] {}", "<b>{}</b>", "<i>{}</i>", "{} (extended abstract)", "&quot;{}&quot;")
_SMALL_WORDS = {"a", "an", "the", "of", "on", "in", "for", "and", "with"}


def scraped(rng: Random, paper: Paper, confusable: bool) -> tuple[str, str, str, str]:
    """The record as a scraper leaves it.

    A confusable paper keeps what distinguishes it from its relatives: the year, or else the venue and the whole title.
    Without that rule no reader could decide the pair.
    """
    year = scraped_year(rng, paper.year)
    needed = confusable and not year
    title = noisy(rng, paper.title if needed else truncated(rng, paper.title))
    venue = scraped_venue(rng, paper, required=needed)
    return title, scraped_authors(rng, paper.authors), venue, year


def typo(rng: Random, text: str) -> str:
    """One slip inside a word of five letters or more: swapped, dropped, doubled or neighbouring letter."""
    spots = [match.start() + 2 for match in re.finditer(r"[a-z]{5,}", text)]
    if not spots:
        return text
    at = rng.choice(spots)
    slip = rng.choice((text[at + 1] + text[at], text[at + 1], text[at] * 2 + text[at + 1], None))
    if slip is None:
        slip = rng.choice(_NEARBY_KEYS.get(text[at], "e")) + text[at + 1]
    return text[:at] + slip + text[at + 2 :]


def truncated(rng: Random, title: str) -> str:
    """A quarter of long titles end in dots, cut by the width of a result page rather than by words."""
    if len(title) < 40 or rng.random() > 0.32:
        return title
    cut = rng.randint(max(26, len(title) // 2), len(title) - 6)
    return title[:cut].rstrip(" :,") + rng.choice((" ...", "...", " …"))


def noisy(rng: Random, title: str) -> str:
    """Typing slips, lost small words and hyphens, and now and then what was left of the page around it."""
    if rng.random() < 0.22:
        title = typo(rng, title)
    if rng.random() < 0.15:
        title = " ".join(word for word in title.split() if word not in _SMALL_WORDS or rng.random() < 0.4)
    if rng.random() < 0.2:
        title = title.replace("-", " ").replace(":", " -")
    if rng.random() < 0.12:
        title = rng.choice(_LEFTOVERS).format(title)
    return title.replace(" and ", " &amp; ") if rng.random() < 0.15 else title


def scraped_authors(rng: Random, authors: tuple[Person, ...]) -> str:
    """Initials before or after the last name, in one style per record; long lists are cut."""
    if rng.random() < 0.03:
        return ""
    people = list(authors)
    if len(people) > 2 and rng.random() < 0.35:
        return _listed(rng, people[: rng.randint(1, 2)]) + rng.choice((" et al.", ", et al", ", …", " and others"))
    if len(people) > 1 and rng.random() < 0.08:
        people[0], people[-1] = people[-1], people[0]
    listed = _listed(rng, people)
    return typo(rng, listed) if rng.random() < 0.08 else listed


def _listed(rng: Random, people: list[Person]) -> str:
    style, separator = rng.choice((
        ("{i} {l}", ", "), ("{i} {l}", ", "), ("{d} {l}", ", "), ("{l}, {d}", "; "), ("{l}, {d}", ", "),
        ("{l} {i}", ", "), ("{d} {l}", " and "), ("{f} {l}", ", "),
    ))  # fmt: skip
    names = [
        style.format(i=person.initials, d=".".join(person.initials) + ".", f=person.first, l=person.last)
        for person in people
    ]
    joined = separator.join(names)
    return without_accents(joined) if rng.random() < 0.6 else joined


def scraped_venue(rng: Random, paper: Paper, required: bool) -> str:
    """An abbreviation, an acronym with a year, a cut long name, or nothing."""
    if not required and rng.random() < 0.22:
        return ""
    venue = rng.choice(paper.venue.scraped).format(yy=f"{paper.year % 100:02d}")
    if rng.random() < 0.08:
        venue = typo(rng, venue)
    if not required and len(venue) > 34 and rng.random() < 0.3:
        return venue[: rng.randint(26, len(venue) - 5)].rstrip() + " ..."
    return f"{venue}, {paper.year}" if "'" not in venue and rng.random() < 0.06 else venue


def scraped_year(rng: Random, year: int) -> str:
    """As printed, as a spreadsheet left it, or lost."""
    luck = rng.random()
    if luck < 0.3:
        return ""
    return f"{year}.0" if luck < 0.48 else str(year)
