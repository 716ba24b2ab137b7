"""Rules that a person muted or pinned before the run: they keep the weight that was decided, whatever is learned."""

from __future__ import annotations

from riskcore.config import RunConfig
from riskcore.risk import RiskModel
from riskcore.rules.rule import Rule


def with_decided_rules(model: RiskModel, config: RunConfig) -> RiskModel:
    """The model with the rules of the settings muted and pinned. A rule that it does not have changes nothing: other
    data may have taught other rules. A text that is no rule is refused."""
    muted, pinned = (
        [key for key in dict.fromkeys(Rule.parse(text).key for text in texts) if key in model.rules]
        for texts in (config.rule.muted, config.rule.pinned)
    )
    return model.with_rules(muted=muted, pinned=pinned, config=config.risk) if muted or pinned else model
