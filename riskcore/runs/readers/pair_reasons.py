"""Why a pair probably is, or is not, a match, in a sentence that an expert would say: the subject that speaks most for
it, the one that speaks most against it, and in each the difference or the agreement that a person names first."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pandas as pd

from riskcore.data.schema import AttributeType
from riskcore.metrics.differences import Relation, ValueComparison, compare_values
from riskcore.risk.balance import BROUGHT, OTHER_CANDIDATES, WHOLE_RECORD, BalanceSheet
from riskcore.runs.folder import RunFolder
from riskcore.runs.readers.pair_detail import PairDetail
from riskcore.runs.sheet_files import AGAINST, LEADING, SAYS, STABILITY

STEADY = 0.5  # share of resampled fits from which a leading subject is called the reason
MASKED = "masked"
TOO_LONG = 20_000  # characters of a value that are compared for a phrase
Record = Mapping[str, str | None]

_OTHERS = {
    (WHOLE_RECORD, True): "the records share most of their words",
    (WHOLE_RECORD, False): "the records share few of their words",
    (OTHER_CANDIDATES, True): "no other candidate fits as well",
    (OTHER_CANDIDATES, False): "another candidate fits better",
    (BROUGHT, True): "the scores brought say so",
    (BROUGHT, False): "the scores brought say so",
}


@dataclasses.dataclass(frozen=True)
class PairReason:
    """What the evidence says of a pair, and why. All texts are plain: whoever shows them escapes them."""

    says_match: bool
    because: str  # the phrase of the leading subject; "" where nothing speaks clearly
    although: str  # the phrase of what speaks most against it; "" where nothing does
    difference: str  # the one decisive difference, with its attribute; "" where the values do not differ
    steady: bool  # False: in most resampled fits another subject leads

    @property
    def words(self) -> str:
        """The reason in one sentence, without what the evidence says."""
        if not self.because:
            too_little = f"{self.although}, but that is too little, since most pairs are no matches"
            return too_little if self.although and not self.says_match else "nothing speaks clearly for either"
        reason = self.because if self.steady else f"no single reason; among others, {self.because}"
        return f"{reason}, although {self.although}" if self.although else reason


def attribute_types(folder: RunFolder) -> dict[str, AttributeType]:
    """The types of the target's attributes."""
    return {one["name"]: AttributeType(one["type"]) for one in folder.run()["attributes"]}


def pair_reason(
    left: Record,
    right: Record,
    types: Mapping[str, AttributeType],
    says_match: bool,
    leading: str,
    against: str,
    stability: float | None,
) -> PairReason:
    """The reason of one pair, from the subjects that its balance sheet names."""
    because = subject_phrase(left, right, types, leading, says_match) if leading else ""
    although = ""
    if against and _is_sensible(left, right, types, against, not says_match):
        although = subject_phrase(left, right, types, against, not says_match)
    differing = against if says_match else leading
    difference = _difference(left, right, types, differing)
    if not difference and not says_match:
        found = (_difference(left, right, types, name) for name in types)
        difference = next((one for one in found if one), "")
    return PairReason(says_match, because, although, difference, stability is None or stability >= STEADY)


def reason_of_sheet(detail: PairDetail, types: Mapping[str, AttributeType], sheet: BalanceSheet) -> PairReason:
    """The reason of one pair, from its balance sheet."""
    known = (sheet.says_match, sheet.leading, sheet.against, sheet.stability)
    return pair_reason(detail.left, detail.right, types, *known)


def reason_of_row(page_row: Mapping[str, object], types: Mapping[str, AttributeType], told: pd.Series) -> PairReason:
    """The reason of a row of the queue, which has both records, and of what its sheet tells."""
    left, right = ({name: _text(page_row.get(f"{side}_{name}")) for name in types} for side in ("left", "right"))
    stability = None if pd.isna(told[STABILITY]) else float(told[STABILITY])
    return pair_reason(left, right, types, bool(told[SAYS]), told[LEADING], told[AGAINST], stability)


def subject_phrase(
    left: Record, right: Record, types: Mapping[str, AttributeType], subject: str, towards_match: bool
) -> str:
    """What a subject says, towards a match or a non-match, in the words of these two records; of an attribute without a
    type, which is how masked ones are given, only its name."""
    if subject not in types:
        return _OTHERS.get((subject, towards_match), f"{_name(subject)} ({MASKED})")
    found = _compared(left, right, types, subject)
    if found.relation in (Relation.MISSING, Relation.BOTH_MISSING):
        return f"{_name(subject)}: {found.words}"
    if towards_match:
        return found.alike or f"{_name(subject)}: {found.words}"
    return f"{_name(subject)}: {found.decisive or found.words}"


def _is_sensible(
    left: Record, right: Record, types: Mapping[str, AttributeType], subject: str, towards_match: bool
) -> bool:
    """Whether a person would see why: values that only differ are no sign of a match, nor equal ones of a non-match,
    whatever a model makes of them."""
    if subject not in types:
        return True
    found = _compared(left, right, types, subject)
    return (found.alike if towards_match else found.decisive) is not None


def _difference(left: Record, right: Record, types: Mapping[str, AttributeType], subject: str) -> str:
    """The decisive difference of an attribute."""
    if subject not in types:
        return ""
    decisive = _compared(left, right, types, subject).decisive
    return f"{_name(subject)}: {decisive}" if decisive else ""


def _compared(left: Record, right: Record, types: Mapping[str, AttributeType], name: str) -> ValueComparison:
    ours, theirs = (None if value is None else value[:TOO_LONG] for value in (left.get(name), right.get(name)))
    return compare_values(ours, theirs, types[name], name)


def _name(attribute: str) -> str:
    return attribute.replace("_", " ")


def _text(value: object) -> str | None:
    return None if value is None or value != value else str(value)
