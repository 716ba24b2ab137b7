"""Why one pair has its risk, as tables."""

from __future__ import annotations

import dataclasses

import pandas as pd

from riskcore.columns import BALANCE_COLUMNS, REASON_COLUMNS, RECORD_COLUMNS
from riskcore.data.html_table import html_table
from riskcore.risk import Explanation
from riskcore.risk.balance import BalanceSheet
from riskcore.runs.readers.pair_detail import PairDetail
from riskcore.runs.readers.pair_reasons import PairReason

MATCHER = "the matcher"
LEAST_WEIGHT = 0.0005  # below it every figure of a rule reads 0.000


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PairExplanation:
    """One pair: both records, the figures, and what the matcher and each fired rule add to the risk."""

    pair_id: str
    label: int  # 1 match, 0 non-match: the label whose risk is explained
    probability: float
    risk: float  # probability that the label is wrong, by all the evidence
    value_at_risk: float  # by the rules and the matcher's output alone: what the reasons add up to
    mu: float
    sigma: float
    truth: int | None  # None where it is not known
    why: str | None  # the leading reason in words; None where the pair has no balance sheet
    stability: float | None  # share of fits on resampled labels in which that reason leads
    records: pd.DataFrame  # RECORD_COLUMNS
    balance: pd.DataFrame  # BALANCE_COLUMNS, all the evidence; empty where there is no balance sheet
    reasons: pd.DataFrame  # REASON_COLUMNS, those that raise the risk most first
    history: pd.DataFrame  # a row per iteration

    @classmethod
    def of(
        cls,
        detail: PairDetail,
        found: Explanation,
        history: pd.DataFrame,
        sheet: BalanceSheet | None = None,
        reason: PairReason | None = None,
    ) -> PairExplanation:
        records = [(name, value, detail.right.get(name)) for name, value in detail.left.items()]
        reasons = [
            {**dataclasses.asdict(one), "reason": MATCHER if one.rule is None else one.rule}
            for one in found.contributions
        ]
        return cls(
            pair_id=detail.pair_id,
            label=found.label,
            probability=found.probability,
            risk=float(detail.scores["risk"]),
            value_at_risk=found.risk,
            mu=found.mu,
            sigma=found.sigma,
            truth=detail.truth,
            why=None if reason is None else reason.words,
            stability=None if sheet is None else sheet.stability,
            records=pd.DataFrame(records, columns=list(RECORD_COLUMNS)),
            balance=pd.DataFrame([] if sheet is None else sheet.rows(), columns=list(BALANCE_COLUMNS)),
            reasons=pd.DataFrame(reasons, columns=list(REASON_COLUMNS)),
            history=history,
        )

    @property
    def sentence(self) -> str:
        """Label, truth, risk and probability in one line."""
        truth = "" if self.truth is None else f" (truth: {_word(self.truth)})"
        figures = f"risk {self.risk:.3f}, probability {self.probability:.3f}"
        return f"{self.pair_id} is labelled {_word(self.label)}{truth}: {figures}"

    def __repr__(self) -> str:
        return f"PairExplanation({self.sentence})"

    def _repr_html_(self) -> str:
        heavy = self.reasons[self.reasons["weight"] >= LEAST_WEIGHT]
        title = "What adds to the value at risk by the rules"
        if len(heavy) < len(self.reasons):
            title += f" ({len(self.reasons) - len(heavy):,} more rules fire, with a weight that rounds to 0)"
        known = html_table(self.sentence, self.records)
        if self.why is not None:
            by_subject = self.balance.groupby("subject", sort=False)["contribution"].sum().reset_index()
            known += html_table(f"{self.why} (log-odds by subject)", by_subject)
        return known + html_table(title, heavy)


def _word(label: int) -> str:
    return "match" if label == 1 else "non-match"
