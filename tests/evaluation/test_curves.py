"""The learning curve: what each row compares with what."""

from __future__ import annotations

import json

import numpy as np
import pytest

from riskcore.evaluation import CURVE_COLUMNS, EvaluationError, confusion, iteration_rows, learning_curve

TRUTH = np.array([1, 1, 0, 0, 1, -1])
LABELS = [np.array([0, 1, 1, 0, 0, 0]), np.array([1, 1, 1, 0, 0, 1]), np.array([1, 0, 0, 1, 0, 1])]


def test_rows_by_hand():
    first, second, third = iteration_rows(TRUTH, LABELS)
    assert (first["flips"], first["fixed"], first["broken"]) == (0, 0, 0)
    assert (second["flips"], second["fixed"], second["broken"], second["fn_flipped"]) == (2, 1, 0, 1)
    assert (third["flips"], third["fixed"], third["broken"]) == (3, 2, 2)  # against iteration 0
    assert [third[f"{kind}_flipped"] for kind in ("tp", "tn", "fn", "fp")] == [1, 1, 0, 1]  # against iteration 1
    assert [row["f1"] for row in (first, second, third)] == [confusion(TRUTH, now).f1 for now in LABELS]
    assert second["match_rate"] == pytest.approx(4 / 6)


def test_frame_joins_what_training_recorded():
    records = [{"validation_f1": 0.5 + i / 10, "flips": 99} for i in range(3)]
    frame = learning_curve(TRUTH, LABELS, records)
    assert list(frame.columns) == [*CURVE_COLUMNS, "validation_f1"]
    assert frame["flips"].tolist() == [0, 2, 3]  # counted here, whatever a record says
    assert frame["validation_f1"].tolist() == pytest.approx([0.5, 0.6, 0.7])
    with pytest.raises(EvaluationError, match="2 records for 3"):
        learning_curve(TRUTH, LABELS, records[:2])


def test_without_truth_only_label_free_columns_hold_numbers():
    rows = json.loads(json.dumps(iteration_rows(None, LABELS)))
    assert (rows[1]["flips"], rows[1]["f1"], rows[1]["fixed"], rows[1]["tp_flipped"]) == (2, None, None, None)
    frame = learning_curve(None, LABELS)
    assert frame["flips"].tolist() == [0, 2, 3]
    assert np.isnan(frame[["f1", "fixed", "broken", "tn_flipped"]].to_numpy()).all()
    assert len(learning_curve(TRUTH, [])) == 0
