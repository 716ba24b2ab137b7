"""Settings of blocking: which records of two tables become candidate pairs."""

from __future__ import annotations

import dataclasses

from riskcore.config.base import Config, setting
from riskcore.errors import ConfigError

BLOCKERS = ("ngrams", "words")
DIRECTIONS = ("both", "left", "right")


@dataclasses.dataclass(frozen=True)
class BlockConfig(Config):
    """How candidate pairs are found among the records of two tables, or of one."""

    blockers: tuple[str, ...] = setting(
        BLOCKERS,
        "searches whose pairs are united: ngrams sees through typos and joined words, words is exact and sees other "
        "evidence; each finds matches that the other misses",
    )
    attributes: tuple[str, ...] = setting((), "attributes whose text is searched; none named means all of them")
    keys: tuple[str, ...] = setting(
        (), "attributes whose equal values make a pair whatever else differs, such as a product code; none by default"
    )
    top: int = setting(
        5,
        "best candidates kept for each record and search: in both directions, 5 held at least 99.7 % of the matches of "
        "four benchmark pairs of tables, and 10 found nearly none more for twice the pairs",
        1,
        1_000,
    )
    direction: str = setting(
        "both",
        "whose best candidates: of the left records, of the right ones, or of both; both found at least as much with 5 "
        "as the left alone with 20, since a record with many counterparts is found from their side",
    )
    ngram: int | None = setting(
        None,
        "characters of an n-gram; none means 3, and 4 for large tables, where too many records share three characters",
        2,
        4,
    )
    large_table: int = setting(
        50_000,
        "records of the larger table from which n-grams have 4 characters: there, 4 found more for the same reads",
        1,
    )
    max_reads: int = setting(
        300_000_000,
        "index entries read for all records together: where they are enough for every term, the search is exact; a "
        "thread reads about 80 million a second",
        1,
    )
    reads_per_record: int = setting(
        10_000,
        "index entries that may be read for a record in any case, those of its rarest terms first: large tables take "
        "time in proportion to their records, not to the square",
        1,
    )
    shortlist: int = setting(
        30,
        "records, at least twice `top`, whose whole cosine is computed: the rarest terms alone rank less well",
        1,
        10_000,
    )
    max_per_record: int = setting(
        20,
        "pairs of a left record that are kept, the best first; pairs found by a key always are, and within one table "
        "there is no such limit; on DBLP-Scholar it leaves out 43 % of the pairs and 0.2 % of the matches",
        1,
    )
    max_key_records: int = setting(
        20, "a key value that more records of a table share is skipped: it is a category, not a key", 1
    )
    threads: int = setting(2, "threads of the search; the result does not depend on it", 1, 256)
    block_records: int = setting(
        20_000, "records searched at a time: what is lost at most when the process is killed; not part of the result", 1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.blockers if name not in BLOCKERS]
        if unknown:
            raise ConfigError(f"BlockConfig.blockers has {unknown[0]!r}; known are {', '.join(BLOCKERS)}.")
        if self.direction not in DIRECTIONS:
            raise ConfigError(f"BlockConfig.direction is {self.direction!r}; it must be {', '.join(DIRECTIONS)}.")
        if not self.blockers and not self.keys:
            raise ConfigError("BlockConfig has neither blockers nor keys; name at least one.")
