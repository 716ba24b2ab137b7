"""The short phrases about two compared lists: a caption, and the difference and agreement a person names first."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from riskcore.metrics.differences.alike import same_phrase
from riskcore.metrics.differences.captions import only_caption, same_caption, spelling_caption
from riskcore.metrics.differences.comparison import Relation
from riskcore.metrics.differences.decisive import spelling_decisive
from riskcore.metrics.differences.entries import Entry
from riskcore.metrics.differences.side import Side
from riskcore.metrics.differences.wording import UNNAMED, counted, cut, plural, quoted


@dataclasses.dataclass(frozen=True)
class ListPhrases:
    """Two lists whose entries have been aligned; `noun` is what one entry is called."""

    left: Side
    right: Side
    ours: Sequence[Entry]
    theirs: Sequence[Entry]
    relation: Relation
    noun: str
    people: bool

    @property
    def caption(self) -> str:
        """The relation of the lists in a few words."""
        order = ", other order" if any(entry.moved for entry in self.ours) else ""
        if self.relation is Relation.SAME:
            return same_caption(self.left.value, self.right.value)
        if self.relation is Relation.REORDERED:
            return f"same {plural(self.noun)}{order}"
        if self.relation is Relation.ABBREVIATED:
            return f"abbreviated{order}"
        if self.relation is Relation.NEAR:
            return f"{spelling_caption(self.left, self.right)}{order}"
        if not any(entry.fit for entry in self.ours):
            return f"no {self.noun} in common"
        return only_caption(len(_alone(self.ours)), len(_alone(self.theirs)), self.noun)

    @property
    def decisive(self) -> str | None:
        """The difference a person names first."""
        if self.relation is Relation.NEAR:
            return spelling_decisive(self.left)
        ours, theirs = _alone(self.ours), _alone(self.theirs)
        if ours and theirs:
            return self._decisive_of_both(ours, theirs)
        found = ours or theirs
        if not found:
            return None
        others = f" and {counted(len(found) - 1, 'other')}" if len(found) > 1 else ""
        return f"no counterpart for {quoted(found[0].text)}{others}"

    def _decisive_of_both(self, ours: Sequence[Entry], theirs: Sequence[Entry]) -> str:
        one, other = ours[0], theirs[0]
        if len(self.ours) == len(self.theirs) == 1:
            return f"{quoted(one.text)} against {quoted(other.text)}"
        if self.people and one is self.ours[0] and other is self.theirs[0]:
            return f"first {self.noun} {cut(one.text)} against {cut(other.text)}"
        for entry in ours:
            if entry.partner is not None:  # the same family name with another given name
                return f"{quoted(entry.text)} against {quoted(entry.partner.text)}"
        return f"{quoted(one.text)} only on the left, {quoted(other.text)} on the right"

    @property
    def alike(self) -> str | None:
        """The agreement a person names first: "2 of 3 authors agree"."""
        most = max(len(self.ours), len(self.theirs))
        agreeing = min(sum(entry.agrees for entry in entries) for entries in (self.ours, self.theirs))
        if not agreeing:
            return None
        if most == 1:
            return same_phrase(self.relation, "" if self.noun == UNNAMED else self.noun)
        if not _alone(self.ours) and not _alone(self.theirs):
            return f"{'both' if most == 2 else f'all {most:,}'} {plural(self.noun)} agree"
        return f"{agreeing} of {counted(most, self.noun)} agree"


def _alone(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if not entry.agrees]
