"""Blocking as a list of steps, each a search for a block of records, that can be done and kept one by one.

`block` keeps their results in memory, `block_to_file` on disk. A blocker's matrices are built when its first step that
is still to be done is reached, and dropped after its last.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from scipy import sparse

from riskcore.blocking.candidates import KEY, Candidates, Found, trimmed, union
from riskcore.blocking.keys import equal_values
from riskcore.blocking.nearest import Nearest
from riskcore.blocking.terms import ngram_incidence, weighted, word_incidence
from riskcore.blocking.texts import text_chunks
from riskcore.config import BlockConfig
from riskcore.data.pairs import Table
from riskcore.errors import ConfigError

LEFT, RIGHT = "left", "right"
_SEARCH_EFFORT = 4  # a record's search takes about this many times as long as reading its text

OnProgress = Callable[[str, float], None]  # what is being done, and the share of the whole that is over


@dataclasses.dataclass(frozen=True)
class Step:
    """A block of records of one side, searched by one blocker; a key is one step."""

    blocker: str
    number: int  # of the blocker
    side: str
    start: int
    stop: int

    @property
    def name(self) -> str:
        """Unique among the steps, and fit for a file's name."""
        return f"{self.number}-{self.side}-{self.start:010}"


@dataclasses.dataclass(frozen=True, eq=False)
class Work:
    """The tables and settings of one blocking; `right` is None in a self-join."""

    left: Table
    right: Table | None
    config: BlockConfig

    def __post_init__(self) -> None:
        for table in (self.left, self.left if self.right is None else self.right):
            for name in (*self.config.attributes, *self.config.keys):
                if name not in table.attributes:
                    raise ConfigError(
                        f"{table.name} has no attribute {name!r}. It has: {', '.join(table.attributes) or 'none'}."
                    )

    @property
    def blockers(self) -> tuple[str, ...]:
        return (*self.config.blockers, *(KEY + name for name in self.config.keys))

    @property
    def tables(self) -> list[Table]:
        return [self.left] if self.right is None else [self.left, self.right]

    def steps(self) -> list[Step]:
        """Everything to be done, in order."""
        found: list[Step] = []
        for number, blocker in enumerate(self.blockers):
            if blocker.startswith(KEY):
                found.append(Step(blocker, number, LEFT, 0, len(self.left)))
                continue
            for side, table in self._queries():
                size = self.config.block_records
                found += [
                    Step(blocker, number, side, start, min(start + size, len(table)))
                    for start in range(0, len(table), size)
                ]
        return found

    def _queries(self) -> list[tuple[str, Table]]:
        """The tables whose records are searched for. Within one table both directions are the same."""
        if self.right is None:
            return [(LEFT, self.left)]
        sides = [(LEFT, self.left), (RIGHT, self.right)]
        return [one for one in sides if self.config.direction in ("both", one[0])]

    def matrices(self, blocker: str) -> list[sparse.csr_matrix]:
        """The tables as the blocker sees them."""
        chunks = [self._chunks(table) for table in self.tables]
        if blocker == "words":
            return weighted(*word_incidence(chunks))
        return weighted(*ngram_incidence(chunks, self.ngram))

    def _chunks(self, table: Table) -> Callable[[], Iterator[list[str]]]:
        return lambda: text_chunks(table, self.config.attributes or table.attributes)

    @property
    def ngram(self) -> int:
        """Characters of an n-gram, by the size of the larger table where the settings leave it open."""
        if self.config.ngram is not None:
            return self.config.ngram
        return 3 if max(map(len, self.tables)) < self.config.large_table else 4

    def run(self, steps: Sequence[Step], on_progress: OnProgress | None) -> Iterator[tuple[Step, Found]]:
        """Does the steps, which are in the order of `steps()`, and yields what each found."""
        tell = _Progress(self, steps, on_progress)
        for blocker in self.blockers:
            own = [step for step in steps if step.blocker == blocker]
            if not own:
                continue
            tell(blocker)
            for step, found in self._key(own) if blocker.startswith(KEY) else self._search(own, tell):
                yield step, found if self.right is not None else found.once()
                tell(blocker, step)

    def candidates(self, found: Sequence[tuple[int, Found]]) -> Candidates:
        """What all steps found, each named by its blocker's number, as candidates."""
        united = union(found, self.blockers)
        return united if self.right is None else trimmed(united, self.config.max_per_record)

    def _key(self, steps: Sequence[Step]) -> Iterator[tuple[Step, Found]]:
        for step in steps:
            attribute = step.blocker.removeprefix(KEY)
            yield step, equal_values(self.left, self.right, attribute, self.config.max_key_records)

    def _search(self, steps: Sequence[Step], tell: _Progress) -> Iterator[tuple[Step, Found]]:
        matrices = self.matrices(steps[0].blocker)
        tell.prepared(steps[0].blocker)
        for side in (LEFT, RIGHT):
            own = [step for step in steps if step.side == side]
            if not own:
                continue
            queries, searched = (matrices[0], matrices[-1]) if side == LEFT else (matrices[-1], matrices[0])
            nearest = Nearest(queries, searched, self.config, same=self.right is None)
            for step in own:
                rows, columns, score = nearest.find(step.start, step.stop)
                yield step, Found(rows, columns, score) if side == LEFT else Found(columns, rows, score)


class _Progress:
    """The share of the work that is over, in records read and searched."""

    def __init__(self, work: Work, steps: Sequence[Step], on_progress: OnProgress | None) -> None:
        self.on_progress, self.done = on_progress, 0
        self.reading = sum(map(len, work.tables))
        searches = {step.blocker for step in steps if not step.blocker.startswith(KEY)}
        self.total = max(self.reading * len(searches) + sum(map(_effort, steps)), 1)

    def __call__(self, blocker: str, step: Step | None = None) -> None:
        self.done += 0 if step is None else _effort(step)
        if self.on_progress is not None:
            self.on_progress(blocker, min(self.done / self.total, 1.0))

    def prepared(self, blocker: str) -> None:
        self.done += self.reading
        self(blocker)


def _effort(step: Step) -> int:
    return (step.stop - step.start) * (1 if step.blocker.startswith(KEY) else _SEARCH_EFFORT)
