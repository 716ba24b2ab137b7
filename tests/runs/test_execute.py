"""One run in this process, in every way it can end."""

import errno
import json
import re
import threading

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import f1_score

from benchmarks.kill_resume import compare
from riskcore.config import AdaptConfig
from riskcore.errors import BusyError, CancelledError
from riskcore.matchers import load
from riskcore.provenance import versions
from riskcore.runs import RunFailedError, RunFolder, RunState, RunStateError, summary
from riskcore.runs.worker import score_writer as scores
from riskcore.runs.worker.execute import execute, load_data
from riskcore.storage.files import write_json
from riskcore.storage.lock import FolderLock
from riskcore.training.gather import gather
from riskcore.training.listeners import Listener
from tests.runs.conftest import small_config, small_data
from tests.runs.fake_engine import fake_engine


class Stumble(Listener):
    """Fails the first time an iteration ends, after everyone else was notified."""

    def __init__(self, iteration, error):
        self.iteration, self.error = iteration, error

    def on_iteration_end(self, scores):
        if scores.iteration == self.iteration:
            raise self.error


def test_results_are_the_documented_document(finished):
    document = json.loads(finished.results_file.read_text())
    assert document == finished.results()
    assert set(document) == {
        *("run", "seconds", "methods", "risk", "iterations", "rules", "doubted_labels", "peak_rss_mb"),
    }
    assert set(document["seconds"]) == {"data", "evidence", "tradition", "risk", "forest", "report", "total"}
    assert set(document["methods"]) == {"tradition", "risk", "forest"}
    for row in document["methods"].values():
        assert {"f1", "precision", "recall", "labels_used"} <= set(row)
    assert len(document["iterations"]) == 5
    fields = {"f1", "validation_f1", "flips", "fixed", "broken", "mean_risk", "seconds"}
    assert all(set(row) == fields for row in document["iterations"])
    assert (document["iterations"][0]["fixed"], document["iterations"][0]["broken"]) == (0, 0)
    assert document["rules"] == 3
    assert document["peak_rss_mb"] > 10


def test_the_first_iterations_ranking(finished):
    risk = finished.results()["risk"]
    scores = pq.read_table(finished.scores_file("risk", 0)).to_pandas()
    truth = pq.read_table(finished.truth_file).to_pandas()["label"]
    wrong = scores["label"] != truth
    above = scores["risk"][wrong].to_numpy()[:, None] - scores["risk"][~wrong].to_numpy()[None, :]
    assert risk["auroc"] == pytest.approx(((above > 0) + 0.5 * (above == 0)).mean())
    assert (risk["mispredicted"], risk["top_1000_hits"]) == (wrong.sum(), wrong.sum())
    assert set(risk["rivals"]) == {"confidence", "learnrisk", "uncertainty", "trust score", "static rules"}
    assert risk["rivals"]["uncertainty"] is None
    assert risk["rivals"]["static rules"] == pytest.approx(risk["auroc"])  # the fake engine's model is the prior


def test_the_labels_of_every_answer_are_ranked(finished):
    kept = finished.results()["risk"]["kept"]
    answers, risks = (pq.read_table(file).to_pandas() for file in (finished.final_file, finished.risks_file))
    truth = pq.read_table(finished.truth_file).to_pandas()["label"].to_numpy()
    assert list(kept) == list(finished.results()["methods"])
    for method, found in kept.items():
        label = (answers[method] >= 0.5).to_numpy()
        wrong, risk = label != truth, risks[method].to_numpy()
        doubt = np.abs(answers[method].to_numpy() - label)
        assert found["errors"] == wrong.sum() == found["top_100"]  # there are 48 pairs
        for ranked, area in ((risk, found["auroc"]), (doubt, found["confidence"])):
            above = ranked[wrong][:, None] - ranked[~wrong][None, :]
            assert area == pytest.approx(((above > 0) + 0.5 * (above == 0)).mean())
        assert 0 <= found["ece"] <= 1
        assert set(found["rivals"]) == {"learnrisk", "uncertainty", "trust score", "static rules"}
    assert kept["tradition"]["rivals"]["learnrisk"] is not None


def test_what_needs_labels_is_null_without_them(store, tmp_path):
    run = store.create(small_config(small_data(tmp_path / "unlabelled", labelled=False)))
    document = execute(store, run.id, engine=fake_engine)
    assert document["methods"]["risk"]["f1"] is None
    assert document["risk"]["auroc"] is None
    assert document["risk"]["top_1000_hits"] is None
    unknown = {"errors", "auroc", "confidence", "ece", "top_100"}
    assert all(one[name] is None for one in document["risk"]["kept"].values() for name in unknown)
    assert all(row["f1"] is row["fixed"] is row["broken"] is None for row in document["iterations"])
    assert document["iterations"][1]["mean_risk"] > 0
    assert not np.isfinite(summary(RunFolder(run.folder))["f1"].astype(float)).any()


def test_run_json_says_what_the_run_was_made_from(finished, store):
    found = finished.run()
    assert found["config"]["source"] == store.list()[0].config.source
    assert found["labels_used"] == {"source": 48, "validation": 48, "target": 0}
    parts = {"source": 48, "validation": 48, "target": 48}
    assert found["counts"] == {**parts, "target_labelled": 48, "unseen": 0, "twins": 0}
    assert [attribute["name"] for attribute in found["attributes"]] == ["title", "year"]
    assert len(found["fingerprint"]) == 64
    assert found["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("labelled", [True, False])
def test_f1_is_also_given_without_pairs_that_have_the_content_of_a_labelled_pair(store, tmp_path, labelled):
    folder = small_data(tmp_path / "equal", labelled=labelled)
    table = (folder / "tableB.csv").read_text()
    (folder / "tableB.csv").write_text(table.replace("right title 2,1992", "right title 0,1990"))  # b2 is b0 again
    run = store.create(small_config(folder))
    document = execute(store, run.id, engine=fake_engine)
    workload, truth = load_data(run.config)
    twins = np.array([identity.endswith(":b2") for identity in workload.target.ids])
    assert truth.twins.tolist() == twins.tolist()
    assert RunFolder(run.folder).run()["counts"]["twins"] == twins.sum() == 12
    final = pq.read_table(RunFolder(run.folder).final_file)
    for method, row in document["methods"].items():
        assert row["twins"] == 12
        given = final.column(method).to_numpy()[~twins] >= 0.5
        expected = f1_score(truth.labels[~twins], given) if labelled else None
        assert row["f1_without_twins"] == (None if expected is None else pytest.approx(expected))


def test_a_target_of_its_own_has_unseen_pairs(store, tmp_path):
    source, target = small_data(tmp_path / "one"), small_data(tmp_path / "two", words="other ")
    run = store.create(small_config(source, target=str(target)))
    document = execute(store, run.id, engine=fake_engine)
    assert document["methods"]["risk"]["unseen"]["pairs"] == 48
    assert run.name == "one to two"


def test_the_adapted_matcher_is_left_to_be_loaded(store, waiting):
    execute(store, waiting.id)
    folder = RunFolder(waiting.folder)
    workload, _ = load_data(waiting.config)
    target = gather(workload, waiting.config).target.examples
    final = pq.read_table(folder.final_file).column("risk").to_numpy()
    np.testing.assert_allclose(load(folder.matcher).predict_proba(target), final, atol=1e-6)


def test_shuffled_labels_change_only_what_is_counted(store, tmp_path):
    runs = []
    for labelled in (True, False):
        run = store.create(small_config(small_data(tmp_path / str(labelled), labelled)))
        execute(store, run.id, engine=fake_engine)
        runs.append(RunFolder(run.folder))
    one, other = (pq.read_table(folder.final_file) for folder in runs)
    assert one.equals(other)
    assert runs[0].run()["fingerprint"] == runs[1].run()["fingerprint"]


def test_a_failure_keeps_what_was_reached_and_can_be_resumed(store, data, waiting):
    reference = store.create(small_config(data))
    execute(store, reference.id, engine=fake_engine)
    with pytest.raises(RunFailedError, match="unexpected ValueError"):
        execute(store, waiting.id, engine=fake_engine, listeners=[Stumble(2, ValueError("oops"))])
    record = store.get(waiting.id)
    assert record.state is RunState.FAILED
    assert "oops" in record.error
    assert "ValueError: oops" in RunFolder(waiting.folder).log_file.read_text()
    assert RunFolder(waiting.folder).iterations() == [0, 1, 2]
    store.requeue(waiting.id)
    execute(store, waiting.id, engine=fake_engine)
    assert compare(store, reference, store.get(waiting.id)) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses_leaves_earlier_iterations(store, waiting, monkeypatch, code):
    from riskcore.storage import files

    real = files.os.fsync

    def refuse(descriptor):
        if (waiting.folder / "scores" / "iteration-01.parquet").exists():
            raise OSError(code, "refused")
        real(descriptor)

    monkeypatch.setattr(files.os, "fsync", refuse)
    with pytest.raises(RunFailedError, match=r"cannot be written: the (disk is full|file system is read-only)"):
        execute(store, waiting.id, engine=fake_engine)
    monkeypatch.setattr(files.os, "fsync", real)
    folder = RunFolder(waiting.folder)
    assert folder.iterations() == [0, 1]
    assert all(pq.read_table(folder.scores_file("risk", n)).num_rows == 48 for n in (0, 1))
    assert not list(waiting.folder.rglob("*.part"))
    store.requeue(waiting.id)
    assert execute(store, waiting.id, engine=fake_engine)["methods"]


@pytest.mark.parametrize(
    ("number", "words"),
    [(28, "the disk is full"), (30, "read-only"), (1, "permission is denied"), (122, "quota"), (5, "Check the disk")],
)
def test_libraries_that_wrap_what_the_disk_says(store, waiting, number, words):
    error = RuntimeError(f"I/O error: something (os error {number})")
    with pytest.raises(RunFailedError, match=words):
        execute(store, waiting.id, engine=fake_engine, listeners=[Stumble(0, error)])


def test_cancelling_from_elsewhere(store, waiting, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.2")
    watcher = threading.Timer(0.5, lambda: store.request_cancel(waiting.id))
    watcher.start()
    with pytest.raises(CancelledError, match=f"runs resume {waiting.id}"):
        execute(store, waiting.id, engine=fake_engine)
    watcher.join()
    assert store.get(waiting.id).state is RunState.CANCELLED
    assert not store.get(waiting.id).cancelling


def test_one_run_one_worker(store, waiting):
    with FolderLock(waiting.folder):
        with pytest.raises(BusyError, match="another worker"):
            execute(store, waiting.id, engine=fake_engine)
        assert store.get(waiting.id).state is RunState.WAITING
    execute(store, waiting.id, engine=fake_engine)
    with pytest.raises(RunStateError, match="done"):
        execute(store, waiting.id, engine=fake_engine)


def test_changed_data_is_refused(store, data, waiting):
    with pytest.raises(RunFailedError):
        execute(store, waiting.id, engine=fake_engine, listeners=[Stumble(1, ValueError())])
    table = pd.read_csv(data / "tableA.csv")
    table.loc[0, "title"] = "another"
    table.to_csv(data / "tableA.csv", index=False)
    store.requeue(waiting.id)
    with pytest.raises(RunFailedError, match="the data has changed"):
        execute(store, waiting.id, engine=fake_engine)


@pytest.mark.parametrize("part", ["test", "train"])
def test_changed_labels_of_the_target_are_refused(store, tmp_path, part):
    """They train nothing, but one run must not be measured by two."""
    source, target = small_data(tmp_path / "source"), small_data(tmp_path / "target", words="other ")
    run = store.create(small_config(source, target=str(target)))
    with pytest.raises(RunFailedError):
        execute(store, run.id, engine=fake_engine, listeners=[Stumble(1, ValueError())])
    pairs = pd.read_csv(target / f"{part}.csv")
    was = pairs["label"].copy()
    pairs.assign(label=1 - was).to_csv(target / f"{part}.csv", index=False)
    store.requeue(run.id)
    with pytest.raises(RunFailedError, match="the data has changed"):
        execute(store, run.id, engine=fake_engine)
    pairs.assign(label=was).to_csv(target / f"{part}.csv", index=False)
    store.requeue(run.id)
    assert execute(store, run.id, engine=fake_engine)["methods"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"versions": {**versions(), "numpy": "1.26.0"}}, f"numpy was 1.26.0 and is {np.__version__}"),
        ({"code": "0" * 32}, "Riskcore's code has changed"),
    ],
)
def test_a_run_is_not_resumed_by_another_program(store, waiting, change, words):
    execute(store, waiting.id, engine=fake_engine)
    folder = RunFolder(waiting.folder)
    write_json(folder.run_file, {**folder.run(), **change})
    before = folder.results_file.read_bytes()
    store.requeue(waiting.id)
    with pytest.raises(RunFailedError, match=re.escape(f"({words}). Start a new run")):
        execute(store, waiting.id, engine=fake_engine)
    assert folder.results_file.read_bytes() == before


def test_a_run_is_resumed_by_the_same_program_of_another_release(store, waiting):
    execute(store, waiting.id, engine=fake_engine)
    folder = RunFolder(waiting.folder)
    write_json(folder.run_file, {**folder.run(), "versions": {**versions(), "riskcore": "9.9"}})
    store.requeue(waiting.id)
    execute(store, waiting.id, engine=fake_engine)
    assert store.get(waiting.id).state is RunState.DONE


def test_an_iteration_is_there_only_with_its_model(store, waiting, monkeypatch):
    write = scores.write_parquet

    def killed_before_the_scores(path, table, *options):
        if path.name == "iteration-02.parquet":
            raise KeyboardInterrupt
        write(path, table, *options)

    monkeypatch.setattr(scores, "write_parquet", killed_before_the_scores)
    with pytest.raises(CancelledError):
        execute(store, waiting.id, engine=fake_engine)
    folder = RunFolder(waiting.folder)
    assert folder.iterations("risk") == [0, 1]
    assert folder.model_file("risk", 2).exists()
    assert folder.model("risk") is not None


def test_the_row_follows_the_work(store, data):
    seen = []

    class Watch(Listener):
        def on_iteration_end(self, scores):
            record = store.get(run.id)
            seen.append((record.phase, record.done, record.total))

    run = store.create(small_config(data, adapt=AdaptConfig(iterations=2)))
    execute(store, run.id, engine=fake_engine, listeners=[Watch()])
    assert seen == [("risk", 0, 2), ("risk", 1, 2), ("risk", 2, 2)]


def test_passes_under_way_are_in_the_row_and_the_speed_of_training_in_one_event(store, data):
    def told(task, number, done, speed):
        where = {"task": task, "unit": "epoch", "number": number, "of": 2, "done": done, "total": 60}
        return {**where, "seconds": 1.0, "per_second": speed}

    seen = []

    def engine(workload, config, listeners, **options):
        def say(event, record):
            for listener in listeners:
                getattr(listener, event)(record)
            seen.append([(one["task"], one["number"], one["done"]) for one in store.get(run.id).passes])

        say("on_phase_start", {"phase": "tradition"})
        say("on_pairs", told("tradition", 1, 30, 40.0))
        say("on_pairs", told("tradition", 1, 60, 50.0))
        say("on_pairs", told("risk", 1, 10, 5.0))
        say("on_pairs", told("tradition", 2, 60, 44.0))
        say("on_phase_end", {"phase": "tradition", "seconds": 3.0})
        say("on_phase_end", {"phase": "risk", "seconds": 3.0})
        return fake_engine(workload, config, listeners, **options)

    run = store.create(small_config(data, adapt=AdaptConfig(iterations=2)))
    execute(store, run.id, engine=engine)
    first, both = ("tradition", 1, 60), [("tradition", 1, 60), ("risk", 1, 10)]
    assert seen == [[], [("tradition", 1, 30)], [first], both, both[1:], both[1:], []]
    speeds = [event.record for event in store.events(run.id) if event.kind == "speed"]
    assert speeds == [{"task": "tradition", "pairs_per_second": 47.0}]
    assert "pairs" not in {event.kind for event in store.events(run.id)}
