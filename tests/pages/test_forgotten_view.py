"""A run whose records were deleted under retention: every screen says so, and shows the figures that stay."""

from __future__ import annotations

import pytest

from riskcore.audit import VerdictLog
from riskcore.audit.estimate import draw_audit
from riskcore.audit.estimate.runs import audited_pairs
from riskcore.columns import PAIR_ID
from riskcore.operations.retention import forget, plan_forgetting
from riskcore.runs import RunFolder, RunStore
from tests.pages.conftest import words


@pytest.fixture
def gone(done, runs, tmp_path):
    store = RunStore(runs)
    folder = RunFolder(done.folder)
    draw_audit(folder, 10)
    for pair in audited_pairs(folder)[PAIR_ID]:
        VerdictLog(store).add(done.id, pair, "match", "a note", "Ann Berger")
    (plan,) = plan_forgetting(store, [done], tmp_path / "data")
    forget(store, plan, tmp_path / "data", "Olga")
    return done


def test_every_screen_says_what_was_deleted_and_shows_the_estimate(screen, gone):
    for name in ("pairs", "rules", "compare", "audit", "results", "fine_tuning"):
        said = words(screen(name, run=gone.id))
        assert "were deleted under retention" in said, name
        assert "by Olga" in said
        assert "F1 is about" in said
        assert "Ann Berger" not in said


def test_the_list_of_runs_still_has_it(screen, gone):
    app = screen("overview")
    assert not app.exception
    assert not app.error
