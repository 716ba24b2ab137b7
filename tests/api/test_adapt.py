"""Runs made in a Python session: stored like any other, whatever the labels."""

import dataclasses

import pytest

import riskcore as rc
from riskcore.config import AdaptConfig, RunConfig
from riskcore.errors import CancelledError, ConfigError
from riskcore.runs import RunState, RunStore
from riskcore.runs.store.run_record import RunFailedError
from riskcore.runs.worker.execute import execute, load_data
from tests.api.conftest import QUICK


@pytest.fixture
def data(source, target):
    return rc.from_frames(*source, name="old"), rc.from_frames(target.left, target.right, target.unlabelled, name="new")


def test_a_target_without_labels_keeps_iteration_0(data, tmp_path):
    methods = ["tradition", "risk", "risk+", "supervised", "forest"]
    run = rc.adapt(*data, methods=methods, runs=tmp_path, **{**QUICK, "adapt": {"stacking_iterations": 1}})
    assert run.methods == methods
    assert run.kept() == 0
    assert run.labels_used == ("source",)
    assert len(run.labels()) == 150
    assert not run.labels()["flipped"].any()
    assert run.compare()["f1"].isna().all()
    assert any("iteration 0" in notice for notice in run.notices)


def test_the_store_has_it_like_any_run(run):
    record = RunStore(run.folder.parent).get(run.id)
    assert record.state is RunState.DONE
    assert record.config.source.startswith("frames:old-")
    assert record.config.target.startswith("frames:new")
    assert record.name.startswith("old to new")
    assert record.config.tune.epochs == 3


@pytest.mark.parametrize("form", ["series", "dict", "ids", "records", "floats"])
def test_validation_labels_in_every_form(data, target, form, tmp_path):
    truth = target.truth[:60]
    forms = {
        "series": truth,
        "dict": truth.to_dict(),
        "ids": truth.rename("label").rename_axis("pair_id").reset_index(),
        "records": target.pairs[:60],
        "floats": target.pairs[:60].astype({"label": float}),
    }
    run = rc.adapt(*data, validation=forms[form], methods=["tradition"], runs=tmp_path, **QUICK)
    assert run.labels_used == ("source", "validation")
    assert list(run.scores()["pair_id"]) == list(target.pair_ids[60:])


def test_validation_labels_by_split(source, target, tmp_path):
    pairs = target.pairs.assign(split=["valid"] * 60 + ["test"] * 90)
    run = rc.adapt(
        rc.from_frames(*source),
        rc.from_frames(target.left, target.right, pairs),
        methods=["tradition"],
        runs=tmp_path,
        **QUICK,
    )
    assert run.labels_used == ("source", "validation")
    assert run.compare()["f1"].notna().all()


def test_bad_validation_labels_are_told_together(data, target, tmp_path):
    validation = {target.pair_ids[0]: 1, target.pair_ids[1]: "yes", "a0:zz": 0}
    with pytest.raises(rc.DataFormatError) as raised:
        rc.adapt(*data, validation=validation, runs=tmp_path / "runs", **QUICK)
    assert {(one.kind, one.row) for one in raised.value.problems} == {("bad_label", 1), ("unknown_id", 2)}
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"matcher": "hybird"}, "hybird"),
        ({"methods": ["risk", "magic"]}, "magic"),
        ({"epoch": 3}, "no setting named epoch"),
        ({"tune": {"epoch": 3}}, "TuneConfig has no setting named epoch"),
        ({"validation": [1, 0]}, "is a list"),
        ({"attribute_map": {"title": "name"}}, "'name'"),
    ],
)
def test_bad_arguments_leave_nothing_behind(data, options, says, tmp_path):
    with pytest.raises(ConfigError, match=says):
        rc.adapt(*data, runs=tmp_path / "runs", **{**QUICK, **options})
    assert not (tmp_path / "runs").exists()


def test_settings_reach_the_run(data, tmp_path):
    config = RunConfig(seed=7, adapt=AdaptConfig(refit=False))
    options = {**QUICK, "adapt": {"folds": 0}, "types": {"year": "number"}, "methods": "tradition"}
    run = rc.adapt(*data, config=config, runs=tmp_path, **options)
    kept = RunStore(tmp_path).config(run.id)
    assert (kept.seed, kept.adapt.refit, kept.adapt.folds, kept.adapt.iterations) == (7, False, 0, 2)
    assert (kept.matcher.kind, kept.types, kept.methods) == ("toy", ("year=number",), ("tradition",))


def test_attributes_called_differently(source, target, tmp_path):
    other = rc.from_frames(
        target.left.rename(columns={"title": "name"}), target.right.rename(columns={"title": "name"}), target.unlabelled
    )
    run = rc.adapt(
        rc.from_frames(*source), other, attribute_map={"title": "name"}, methods=["tradition"], runs=tmp_path, **QUICK
    )
    assert run._folder.attributes() == ["title", "year"]


def test_a_run_of_files_can_be_read_again(tmp_path):
    options = {**QUICK, "methods": ["tradition"], "train_fraction": 0.05}
    run = rc.adapt(rc.sample("bibliography_clean"), rc.sample("bibliography_scraped"), runs=tmp_path, **options)
    workload, _ = load_data(RunStore(tmp_path).config(run.id))
    assert workload.fingerprint == run._folder.run()["fingerprint"]


def test_resuming_a_run_of_frames_gives_one_clear_sentence(run, tmp_path):
    store = RunStore(tmp_path)
    config = RunStore(run.folder.parent).config(run.id)
    record = store.create(dataclasses.replace(config, matcher=dataclasses.replace(config.matcher, kind="toy")))
    assert store.config(record.id).source == config.source
    with pytest.raises(RunFailedError, match="came from frames in a Python session") as raised:
        execute(store, record.id, engine=lambda *_: {})
    assert "\n" not in str(raised.value)


def test_progress_is_text_on_stderr_unless_silenced(data, tmp_path, capsys):
    quiet = {**QUICK, "methods": ["tradition"], "runs": tmp_path}
    rc.adapt(*data, **quiet)
    assert capsys.readouterr() == ("", "")
    rc.adapt(*data, **{**quiet, "progress": True})
    out, err = capsys.readouterr()
    assert out == ""
    assert "tradition took" in err


def test_an_empty_set_of_validation_labels_is_none(data, tmp_path):
    run = rc.adapt(*data, validation={}, methods=["tradition", "risk"], runs=tmp_path, **QUICK)
    assert (run.kept(), run.labels_used) == (0, ("source",))


def test_files_are_read_with_the_settings_of_the_run(tmp_path):
    """Else a run trains on other values than its settings say, and cannot be resumed."""
    run = rc.adapt(
        rc.sample("products").origin,
        methods=["tradition"],
        data={"missing_words": ("black",)},
        train_fraction=0.1,
        runs=tmp_path,
        **QUICK,
    )
    record = RunStore(tmp_path).get(run.id)
    assert load_data(record.config)[0].fingerprint == run._folder.run()["fingerprint"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seed": 1.7}, "seed must be a whole number"),
        ({"seed": "a"}, "seed must be a whole number"),
        ({"seed": 2**31}, "seed is 2147483648"),
        ({"methods": 5}, "methods is a int"),
        ({"attribute_map": ["a=b"]}, "attribute_map is a list"),
        ({"tune": 5}, "TuneConfig or a dict is needed"),
        ({"target": 5}, "This is a int, not a data set"),
    ],
)
def test_arguments_of_another_type_are_refused_in_words(data, tmp_path, options, says):
    wanted = {"target": data[1], **QUICK, **options}
    with pytest.raises(ConfigError, match=says):
        rc.adapt(data[0], runs=tmp_path / "runs", **wanted)
    assert not (tmp_path / "runs").exists()


def test_frames_alone_are_no_data_set(source, data):
    with pytest.raises(ConfigError, match="This is a DataFrame, not a data set"):
        rc.adapt(source.left, data[1], **QUICK)


def test_a_cancelled_run_on_frames_does_not_promise_a_resume(data, tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("riskcore.runs.worker.execute._engine", lambda *_: stopped)
    with pytest.raises(CancelledError, match="a run on frames cannot be resumed"):
        rc.adapt(*data, runs=tmp_path, **QUICK)
