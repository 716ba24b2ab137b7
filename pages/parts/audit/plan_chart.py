"""The chart of a review plan: errors expected by the number of pairs reviewed, with the interval of the risk's line."""

from __future__ import annotations

import altair as alt
import pandas as pd

from pages.parts.frame.charts import legend, sized
from pages.parts.frame.palette import NEUTRAL, ranking_colour
from riskcore.audit.estimate import RunPlan
from riskcore.audit.estimate.planner import RANDOM, RISK

PLAN_HEIGHT = 280


def plan_rows(plan: RunPlan) -> pd.DataFrame:
    """A row for each ranking and size."""
    return pd.DataFrame(
        [
            {
                "ranking": one.ranking,
                "reviewed": one.reviewed,
                "expected": one.errors.value,
                "low": one.errors.low,
                "high": one.errors.high,
            }
            for one in plan.plans
        ]
    )


def plan_chart(rows: pd.DataFrame, n: int) -> alt.Chart:
    """Lines by ranking, a band around that of the risk, and where n is. Columns: those of `plan_rows`."""
    order = list(dict.fromkeys(rows["ranking"]))
    colours = [NEUTRAL if name == RANDOM else ranking_colour(name) for name in order]
    x = alt.X("reviewed:Q", title="more pairs reviewed", axis=alt.Axis(format=",d"))
    tip = ["ranking:N", "reviewed:Q", *(alt.Tooltip(f"{name}:Q", format=".1f") for name in ("expected", "low", "high"))]
    of_risk = alt.Chart(rows[rows["ranking"] == RISK])
    band = of_risk.mark_area(opacity=0.15, color=ranking_colour(RISK)).encode(
        x=x, y=alt.Y("low:Q", title="wrong labels expected"), y2="high:Q"
    )
    lines = (
        alt.Chart(rows)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=alt.Y("expected:Q", title="wrong labels expected"),
            color=legend("ranking", order, colours),
            strokeDash=alt.StrokeDash("ranking:N", sort=order, legend=None),
            tooltip=tip,
        )
    )
    at = alt.Chart(pd.DataFrame({"reviewed": [n]})).mark_rule(strokeDash=[3, 4], color=NEUTRAL).encode(x=x)
    return sized(band + lines + at, height=PLAN_HEIGHT)


def plan_words(plan: RunPlan, n: int) -> str:
    """What the chart shows, for those who cannot see it."""
    told = ", ".join(
        f"by {one.ranking} {one.errors.value:.0f} ({one.errors.low:.0f} to {one.errors.high:.0f})" for one in plan.at(n)
    )
    return f"Wrong labels expected by the number of pairs reviewed. In {n:,} more reviews: {told}."
