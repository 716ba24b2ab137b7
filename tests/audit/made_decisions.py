"""Decisions written by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd


def made(*rows):
    """Rows of (left, right, decision, decided_by, probability)."""
    frame = pd.DataFrame(rows, columns=["ltable_id", "rtable_id", "decision", "decided_by", "probability"])
    frame.insert(0, "pair_id", frame["ltable_id"] + ":" + frame["rtable_id"])
    return frame.assign(reasons="", probability=frame["probability"].astype(float))


def model(left, right, probability):
    return (left, right, "match" if probability >= 0.5 else "non-match", "model", probability)


def verdict(left, right, decision):
    return (left, right, decision, "verdict", np.nan)


def given(left, right, decision):
    return (left, right, decision, "label given", 0.5)


def matches(resolution):
    pairs = resolution.pairs
    return set(pairs.loc[pairs["decision"] == "match", "pair_id"])


def clusters(resolution):
    """The entities as sets of records."""
    named = resolution.entities["side"].str[0] + resolution.entities["record_id"]
    return {frozenset(group) for _, group in named.groupby(resolution.entities["entity_id"])}
