"""The parts that turn values into text and charts, without any screen."""

from __future__ import annotations

import re

import altair as alt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.compare import method_charts
from pages.parts.frame import text
from pages.parts.pairs import pair_charts
from pages.parts.rules.reason_cards import Reason, reasons_html
from pages.parts.runs import run_charts
from riskcore.risk.distribution import quantile
from riskcore.rules.rule import Condition, Rule

HISTORY = pd.DataFrame(
    {
        "iteration": [0, 1, 2],
        "f1": [0.5, 0.6, 0.7],
        "validation_f1": [0.5, 0.55, 0.6],
        "flips": [0, 10, 3],
        "fixed": [0, 9, 11],
        "broken": [0, 1, 2],
        "mean_risk": [0.3, 0.2, 0.1],
        "auroc_risk": [0.9, 0.91, 0.92],
        "auroc_confidence": [0.8, 0.8, 0.8],
    }
)
RELIABILITY = pd.DataFrame({"predicted": [0.1], "observed": [0.2], "low": [0.1], "high": [0.3], "pairs": [10]})
PATH = pd.DataFrame(
    {"iteration": [0, 1, 2], "label": [0, 1, 1], "probability": [0.1, 0.8, 0.9], "risk": [0.5, 0.2, 0.1]}
)


@given(st.text(max_size=60))
def test_literal_text_keeps_no_markup(value):
    shown = text.literal(value, 200)
    assert not re.search(r"(?<!\\)[*_`\[\]<>$]", shown.replace("\\\\", ""))


def test_charts_are_values_that_can_be_drawn():
    made = [
        run_charts.f1_chart(HISTORY),
        run_charts.mean_risk_chart(HISTORY),
        run_charts.flips_chart(HISTORY),
        run_charts.auroc_chart(HISTORY),
        run_charts.flips_chart(HISTORY.assign(fixed=None, broken=None)),
        run_charts.f1_chart(HISTORY.assign(f1=np.nan)),
        run_charts.epochs_chart([{"epoch": 1, "validation_f1": 0.5}]),
        method_charts.methods_chart(pd.DataFrame({"method": ["risk"], "f1": [0.9], "low": [0.8], "high": [0.95]})),
        method_charts.precision_recall_chart(pd.DataFrame({"method": ["risk"], "recall": [0.5], "precision": [0.9]})),
        method_charts.reliability_chart(RELIABILITY, "risk"),
        method_charts.budget_chart(pd.DataFrame({"ranking": ["risk"], "reviewed": [1], "found": [1.0]})),
    ]
    for chart in made:
        assert chart.to_dict()["$schema"]


def test_the_charts_of_a_pair_change_in_their_numbers_only():
    one, other = pair_charts.risk_chart(0.2, 0.1, 1, 0.9, 0.6), pair_charts.risk_chart(0.9, 0.3, 0, 0.9, 0.1)
    assert one.spec is other.spec
    assert set(one.data["part"]) == {"curve", "risky", "span", "marker"}
    path = pair_charts.history_chart(PATH)
    assert list(path.data.loc[path.data["part"] == "flip", "words"]) == ["⇄ flipped to match"]
    for spec in (one.spec, path.spec):
        alt.LayerChart.from_dict({**spec, "data": {"values": []}})


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize(("mu", "sigma"), [(0.0, 1e-6), (1.0, 0.4), (0.5, 0.2), (0.03, 0.5)])
def test_the_shaded_tail_ends_at_the_value_at_risk(mu, sigma, label):
    curve, edge = pair_charts._curve(mu, sigma, label, 0.9)
    assert edge == pytest.approx(float(quantile(0.1 if label else 0.9, mu, sigma)))
    risky = curve.loc[curve["risky"], "x"]
    assert (risky.max() if label else risky.min()) == pytest.approx(edge)
    assert np.isfinite(curve["density"]).all()


def test_the_path_is_told_in_words():
    assert pair_charts.path_words(PATH) == "Non-match at iteration 0; flipped to match at iteration 1."


def test_a_rule_on_a_hostile_attribute_is_text():
    rule = Rule((Condition("<img src=x>", "jaccard", ">", 0.5),), "match")
    out = reasons_html([Reason(rule, "match", 0.4, 1.0, 0.9, 0.1, 10, 0.99)], {"<img src=x>.jaccard": 0.7}, 0.6)
    assert "<img" not in out
    assert "&lt;img" in out
    assert "40.0 %" in out


def test_time_is_told_as_people_do():
    assert text.duration(12.4) == "12 s"
    assert text.duration(600) == "10 min"
    assert text.duration(9000) == "2.5 h"
    assert text.percent(None) == "–"
    assert text.percent(float("nan")) == "–"
