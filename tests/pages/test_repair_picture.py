"""Watch the repair: what is drawn in each frame, which pairs are drawn at all, and what a box selects."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.frame.palette import HIGH_RISK
from pages.parts.runs.repair_figure import STATES, Box, repair_figure
from pages.parts.runs.repair_frames import MOST_FRAMES, MOST_POINTS, RepairFrame, choose_rows, read_repair
from pages.parts.runs.repair_layout import NEAREST, stretched, unstretched
from pages.parts.runs.repair_picture import (
    TITLE,
    count_pairs,
    range_text,
    repair_words,
    selected_box,
    selected_range,
)
from riskcore.runs import RunFolder, RunState
from riskcore.runs.formats import read_scores
from riskcore.storage.files import write_json, write_parquet
from tests.pages.conftest import checked, words
from tests.pages.synthetic_run import write_run

PROBABILITIES = st.floats(0, 1)
COLUMNS = ("probability", "mu", "label", "risk", "flipped")


@pytest.fixture
def folder(done) -> RunFolder:
    """Of a run with 120 pairs and iterations 0 to 2."""
    return RunFolder(done.folder)


def scores(folder: RunFolder, method: str, iteration: int) -> dict[str, np.ndarray]:
    return read_scores(folder.scores_file(method, iteration), COLUMNS)


def keep(folder: RunFolder, method: str, iteration: int) -> None:
    """Make this the method's kept iteration."""
    results = json.loads(folder.results_file.read_text(encoding="utf-8"))
    results["methods"].setdefault(method, {})["best_iteration"] = iteration
    write_json(folder.results_file, results)


def traces(figure, frame) -> dict[str, list]:
    """The traces of a frame by what they are: trails, points of each state, words."""
    data = list(frame.data)
    trails = len(figure.frames) - 1
    return {
        "trails": data[:trails],
        "points": data[trails : trails + len(STATES)],
        "words": data[trails + len(STATES)].text[0],
    }


def test_there_is_a_frame_per_iteration_and_each_names_every_trace(folder):
    figure = repair_figure(read_repair(folder, "risk").frames, kept=1)
    assert [frame.name for frame in figure.frames] == ["risk 0", "risk 1", "risk 2"]
    assert [step.label for step in figure.layout.sliders[0].steps] == ["0", "1 (kept)", "2"]
    assert [step.args[0] for step in figure.layout.sliders[0].steps] == [("risk 0",), ("risk 1",), ("risk 2",)]
    for frame in figure.frames:
        assert list(frame.traces) == list(range(len(figure.data)))
        assert len(frame.data) == len(figure.data)


def test_every_pair_is_drawn_once_in_its_state_and_at_its_place(folder):
    repair = read_repair(folder, "risk")
    figure = repair_figure(repair.frames)
    for iteration, frame in enumerate(figure.frames):
        found = scores(folder, "risk", iteration)
        expected = []
        for row in range(120):
            state = "flipped" if found["flipped"][row] else "match" if found["label"][row] else "non-match"
            place = (int(stretched(found["mu"][row])), int(stretched(found["probability"][row])))
            expected.append((state, *place, bool(found["risk"][row] >= HIGH_RISK)))
        drawn = [
            (state.mark.word, int(x), int(y), bool(ring))
            for state, trace in zip(STATES, traces(figure, frame)["points"], strict=True)
            for x, y, size, ring in zip(trace.x, trace.y, trace.marker.size, trace.marker.line.width, strict=True)
            if size
        ]
        assert sorted(drawn) == sorted(expected)
        hidden = [t.marker.line.width[t.marker.size == 0].sum() for t in traces(figure, frame)["points"]]
        assert sum(hidden) == 0  # a ring without a point would be a dot
    assert {state for state, *_ in drawn} == {"match", "non-match", "flipped"}


def test_trails_lead_from_the_old_to_the_new_position_in_the_frame_of_the_flip(folder):
    figure = repair_figure(read_repair(folder, "risk").frames)
    for iteration, frame in enumerate(figure.frames):
        for place, trail in enumerate(traces(figure, frame)["trails"], start=1):
            ends = [(x, y) for x, y in zip(trail.x, trail.y, strict=True) if x is not None and not np.isnan(x)]
            if place != iteration:
                assert ends == []
                continue
            before, now = scores(folder, "risk", iteration - 1), scores(folder, "risk", iteration)
            flips = np.flatnonzero(before["label"] != now["label"])
            assert len(flips) > 0
            ways = {
                tuple((int(stretched(at["mu"][row])), int(stretched(at["probability"][row]))) for at in (before, now))
                for row in flips
            }
            assert set(zip(ends[::2], ends[1::2], strict=True)) == ways
            crossed = [(old[1] < 0) != (new[1] < 0) for old, new in zip(ends[::2], ends[1::2], strict=True)]
            assert all(crossed)
            assert f"{len(flips)} labels flip, {now['flipped'].sum()} flipped" in traces(figure, frame)["words"]


def test_hostile_ids_are_text_on_hover(folder):
    frame = read_repair(folder, "risk").frames[-1]
    figure = repair_figure([frame], pair_ids=['<a href="javascript:x">1</a>'] * 120)
    texts = {text for trace in figure.data for text in trace.text or () if trace.mode == "markers"}
    assert texts == {"&lt;a href=&quot;javascript:x&quot;&gt;1&lt;/a&gt;"}
    assert not figure.layout.sliders  # one frame plays nothing


def test_risk_plus_begins_with_the_matcher_that_it_changed(folder):
    first = scores(folder, "risk", 0)["label"]
    for iteration in folder.iterations("risk+"):  # the made-up run compares with its own first iteration
        file = folder.scores_file("risk+", iteration)
        table = pq.read_table(file)
        flipped = pa.array(table.column("label").to_numpy() != first)
        write_parquet(file, table.set_column(table.schema.get_field_index("flipped"), "flipped", flipped))
    repair = read_repair(folder, "risk+")
    assert [(f.method, f.iteration) for f in repair.frames] == [("risk", 0), ("risk+", 0), ("risk+", 1), ("risk+", 2)]
    changed = scores(folder, "risk+", 0)["flipped"]
    assert repair.frames[1].flips == repair.frames[1].flipped_pairs == changed.sum() > 0
    assert [s.label for s in repair_figure(repair.frames).layout.sliders[0].steps] == ["start", "0", "1", "2"]
    keep(folder, "risk+", 0)
    assert repair_words(folder, repair).startswith(
        f"The matcher before fine-tuning to iteration 0 (kept): {changed.sum()} labels flipped, "
    )


# Which pairs are drawn.


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=60), st.integers(1, 70))
def test_flipped_pairs_come_first_then_the_riskiest_then_a_sample(pairs, most):
    flipped, risk = np.array([one for one, _ in pairs]), np.array([risk for _, risk in pairs])
    rows = choose_rows(flipped, risk, most)
    assert len(rows) == len(set(rows.tolist())) == min(most, len(pairs))
    assert np.array_equal(rows, choose_rows(flipped, risk, most))
    left = np.setdiff1d(np.arange(len(pairs)), rows)
    if flipped[left].any():
        assert flipped[rows].all()
    risky = (risk >= HIGH_RISK) & ~flipped
    if risky[left].any():
        assert (flipped | risky)[rows].all()
        assert risk[rows][risky[rows]].min(initial=1) >= risk[left][risky[left]].max()
    group = np.where(flipped, 2, risky)[rows]
    assert (np.diff(group) >= 0).all()  # on top comes last


def test_sampling_keeps_every_flipped_pair_and_says_so(folder):
    ever = np.any([scores(folder, "risk", at)["flipped"] for at in range(3)], axis=0)
    few = read_repair(folder, "risk", most=50)
    assert set(np.flatnonzero(ever)) <= set(few.rows)
    assert few.left_out == "50 of 120 pairs drawn, every flipped one among them."
    assert few.frames[2].flipped_pairs == scores(folder, "risk", 2)["flipped"].sum()  # of all pairs, not of the drawn
    fewer = read_repair(folder, "risk", most=2)
    assert fewer.left_out == f"2 of 120 pairs drawn, a sample of the {few.flipped} flipped ones."
    assert read_repair(folder, "risk").left_out == ""


def test_very_many_iterations_are_thinned(runs):
    folder = RunFolder(write_run(runs, 20, 40, methods=("risk",)).folder)
    keep(folder, "risk", 17)
    repair = read_repair(folder, "risk")
    shown = [frame.iteration for frame in repair.frames]
    assert len(shown) <= MOST_FRAMES
    assert shown == sorted(set(shown))
    assert {0, 17, 39} <= set(shown)
    assert repair.left_out == f"{len(shown)} of 40 iterations shown."
    total = sum(frame.flips for frame in repair.frames)
    assert total >= (scores(folder, "risk", 0)["label"] != scores(folder, "risk", 39)["label"]).sum()


def test_the_largest_figure_stays_light():
    """As many frames and points as there may be, and a flip of every one of them."""
    chance = np.random.default_rng(0)
    when = chance.integers(1, MOST_FRAMES, MOST_POINTS)
    frames = [
        RepairFrame(
            "risk",
            iteration,
            probability=np.where(when > iteration, 0.2, 0.8) + chance.normal(0, 0.05, MOST_POINTS),
            evidence=chance.random(MOST_POINTS),
            label=(when <= iteration).astype(np.int8),
            risk=chance.random(MOST_POINTS),
            flipped=when <= iteration,
            flips=int((when == iteration).sum()),
            flipped_pairs=int((when <= iteration).sum()),
        )
        for iteration in range(MOST_FRAMES)
    ]
    ids = [f"left{row:06}:right{row:06}" for row in range(MOST_POINTS)]
    assert len(repair_figure(frames, 3, ids).to_json()) < 2_000_000


# The box.


@given(PROBABILITIES)
def test_a_position_is_that_of_its_probability(probability):
    back = unstretched(float(stretched(np.array(probability))))
    if NEAREST < probability < 1 - NEAREST:
        assert abs(back - probability) < 2e-4
    elif probability == NEAREST or probability == 1 - NEAREST:
        assert back in (0.0, 1.0)
    else:
        assert back == round(probability)


@given(PROBABILITIES, st.lists(st.floats(-9000, 9000), min_size=2, max_size=2))
def test_a_box_loses_no_pair_in_it(probability, ends):
    low, high = selected_range(ends)
    if min(ends) <= float(stretched(np.array(probability))) <= max(ends):
        assert low <= probability <= high
    assert 0 <= low <= high <= 1
    again = [float(end) for end in range_text((low, high)).split("-")]
    assert again == [low, high]


def test_a_box_tells_its_frame_and_counts_all_pairs_in_it(folder):
    ends = {"x": [-2000.5, 900], "y": [1500, -2000]}
    points = [{"x": 1}, {"legendgroup": "risk 2"}]
    assert selected_box({"points": points, "box": [ends]}) == (Box((-2000.5, 900), (1500, -2000)), "risk 2")
    assert selected_box({"points": points[:1], "box": [ends]}) is None
    assert selected_box({"points": [], "box": []}) is None
    frame = read_repair(folder, "risk", most=10).frames[2]
    found = scores(folder, "risk", 2)
    count = sum(0.2 <= mu <= 0.7 and 0.1 <= p <= 0.9 for mu, p in zip(found["mu"], found["probability"], strict=True))
    assert count_pairs(folder, frame, (0.2, 0.7), (0.1, 0.9)) == count > 10
    assert range_text((0.0, 0.25)) == "0-0.25"


def test_the_pairs_in_a_box_stand_out_in_the_frame_that_it_was_drawn_in(folder):
    frames = read_repair(folder, "risk").frames
    box = Box((-2000, 900), (1500, -2000))
    figure = repair_figure(frames, shown=1, box=box)
    assert figure.layout.sliders[0].active == 1
    assert figure.data[-6].text[0].startswith("Iteration 1: ")  # before the grid and four entries of the legend
    drawn = figure.layout.shapes[-1]
    assert (drawn.x0, drawn.x1, drawn.y0, drawn.y1) == (-2000, 900, 1500, -2000)
    chosen = 0
    for trace in figure.data[2:5]:
        places = enumerate(zip(trace.x, trace.y, strict=True))
        inside = [at for at, (x, y) in places if -2000 <= x <= 900 and -2000 <= y <= 1500]
        assert list(trace.selectedpoints) == inside
        chosen += sum(trace.marker.size[at] > 0 for at in inside)
    assert 0 < chosen < len(frames[0].label)
    assert all(trace.selectedpoints is None for trace in repair_figure(frames).data)


# The words and the screen.


def test_the_sentence_counts_the_flips_of_the_kept_iteration(folder):
    repair = read_repair(folder, "risk")
    truth = pq.read_table(folder.truth_file).column("label").to_numpy()

    def flips(iteration: int) -> str:
        found = scores(folder, "risk", iteration)
        right = int((found["label"] == truth)[found["flipped"]].sum())
        return f"{found['flipped'].sum()} labels flipped, {right} of them right."

    assert repair_words(folder, repair) == f"Iteration 0 to 2 (the latest): {flips(2)}"
    keep(folder, "risk", 1)
    assert repair_words(folder, repair) == f"Iteration 0 to 1 (kept): {flips(1)}"
    keep(folder, "risk", 0)
    expected = f"Iteration 0 (kept): no label flipped. Iteration 2, not kept: {flips(2)}"
    assert repair_words(folder, repair) == expected
    rows = json.loads(folder.summary_file.read_text(encoding="utf-8"))
    write_json(folder.summary_file, [{**row, "validation_f1": None} for row in rows])
    assert "By iteration 2, which is not applied, " in repair_words(folder, repair)
    assert flips(2).replace("flipped", "would flip") in repair_words(folder, repair)


def test_without_truth_nothing_is_called_right(runs, screen):
    record = write_run(runs, 60, 3, truth=False)
    text = words(screen("fine_tuning", run=record.id))
    assert "labels flipped. Labels used: none." in text
    assert "of them right" not in text


def test_fine_tuning_shows_the_picture_of_the_chosen_method(done, screen):
    app = screen("fine_tuning", run=done.id)
    assert TITLE in [heading.value for heading in app.header]
    (chart,) = app.get("plotly_chart")
    assert len(json.loads(chart.proto.spec)["frames"]) == 3
    assert chart.proto.alt.startswith("120 target pairs by what the rules expect")
    assert "Labels used: target, for scoring only." in words(app)
    assert "Drag a box over points" in words(app)
    next(one for one in app.get("button_group") if one.key == "repair of").set_value("risk+").run()
    (chart,) = checked(app).get("plotly_chart")
    assert [frame["name"] for frame in json.loads(chart.proto.spec)["frames"]] == ["risk+ 0", "risk+ 1", "risk+ 2"]


def test_a_run_that_has_only_begun_has_nothing_to_watch(runs, screen):
    record = write_run(runs, 30, 1, state=RunState.RUNNING, methods=("risk",))
    assert TITLE not in [heading.value for heading in screen("fine_tuning", run=record.id).header]
