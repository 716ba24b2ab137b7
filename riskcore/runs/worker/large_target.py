"""A run on a sample of a target that is too large to adapt to as a whole.

The run's own target is the sample; its files, figures and screens are about it. What is drawn is stored, so that a
resumed run has the same. At the end all pairs are scored with what the run answers with, and compared with the truth,
where there is one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, cast

import pyarrow as pa

from riskcore.columns import LEFT_ID, RIGHT_ID
from riskcore.config import RunConfig
from riskcore.data.pairs import Pairs
from riskcore.data.workload import TargetSample, TargetTruth, Workload
from riskcore.errors import CancelledError
from riskcore.evaluation.truth_scorer import TruthScorer
from riskcore.matchers.base import ShouldStop
from riskcore.registry import load_attribute
from riskcore.runs.documents import SampleFacts, WholeTargetRow
from riskcore.runs.folder import RunFolder
from riskcore.runs.sample_files import read_sample, write_sample
from riskcore.runs.store.run_record import RunError
from riskcore.runs.worker.description import truth_fingerprint
from riskcore.storage.files import write_parquet_chunks

SCORE_ALL = "riskcore.scale.whole_target:score_whole_target"  # lies above runs and is loaded when it is needed
SAMPLED = (
    "Adapted on a sample of {drawn:,} of the target's {pairs:,} pairs, drawn by risk. The figures and screens of this "
    "run are about the sample. All pairs are scored in {scored} of the run's folder once it is done."
)
UNSEEN_SAMPLED = "Of {pairs:,} unseen pairs, {drawn:,} were drawn at random."
_PAIRS_AT_ONCE = 250_000

OnShare = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True, eq=False)
class LargeTarget:
    """The whole target of a run, and the sample that it adapts on."""

    whole: Workload
    whole_truth: TargetTruth
    workload: Workload  # whose target is the sample
    truth: TargetTruth  # of the sample

    def score_all(self, folder: RunFolder, on_share: OnShare, should_stop: ShouldStop) -> WholeTargetRow | None:
        """All pairs scored into the run's folder with what it answers with; None where it answers with nothing that
        can be applied. Started again, it goes on where it stopped."""
        if not folder.bundle.is_dir():
            return None
        if not folder.target_pairs_file.exists():
            _write_ids(folder, self.whole.target)

        def tell(what: str, share: float) -> None:
            on_share(round(1000 * share), 1000)
            if should_stop():
                raise CancelledError("Cancelled while all pairs were being scored; finished parts are kept.")

        labels, facts, peak = load_attribute(SCORE_ALL)(folder, folder.target_pairs_file, folder.scored_target, tell)
        assert self.workload.sample is not None
        row: Any = {
            "method": facts["method"],
            "pairs": len(labels),
            "sample": len(self.workload.target),
            "matches": int(labels.sum()),
            "match_rate": float(labels.mean()),
            "labelled": int((self.whole_truth.labels >= 0).sum()),
            **TruthScorer(self.whole_truth.labels).scores(labels),
            "scored": str(folder.scored_target.relative_to(folder.path)),
            "peak_mb": peak,
        }
        return cast(WholeTargetRow, row)


def large_target(
    folder: RunFolder,
    workload: Workload,
    truth: TargetTruth,
    config: RunConfig,
    on_share: OnShare,
    should_stop: ShouldStop,
) -> LargeTarget | None:
    """The sample that a run adapts on, drawn now or read back; None where it adapts to the whole target."""
    from riskcore.training.target_sample import restricted_to, sample_size, unseen_rows  # imports the engine

    size = sample_size(config, len(workload.target))
    if size is None:
        return None
    sample = _stored(folder, workload, truth)
    if sample is None:
        sample = _draw(workload, size, config, on_share, should_stop)
        about = {"pairs": sample.pairs, "similarity": sample.similarity, **_fingerprints(workload, truth)}
        write_sample(folder, sample, about)
    notices = [SAMPLED.format(drawn=size, pairs=sample.pairs, scored="scored/all")]
    unseen = truth.unseen
    if unseen is not None and len(unseen) > size:
        notices.append(UNSEEN_SAMPLED.format(pairs=len(unseen), drawn=size))
        unseen = unseen.take(unseen_rows(len(unseen), size, config.seed))
    of_sample = TargetTruth(
        truth.labels[sample.rows], unseen, None if truth.twins is None else truth.twins[sample.rows]
    )
    drawn = dataclasses.replace(restricted_to(workload, sample), notices=(*workload.notices, *notices))
    return LargeTarget(workload, truth, drawn, of_sample)


def sample_facts(workload: Workload, config: RunConfig) -> SampleFacts | None:
    """What run.json says of the sample; None without one."""
    sample = workload.sample
    if sample is None:
        return None
    return {
        "pairs": sample.pairs,
        "drawn": len(sample.rows),
        "floor": config.adapt.sample_floor,
        "smallest_inclusion": float(sample.inclusion.min()),
        "domain_similarity": sample.similarity,
        "labels_used": ["source", "validation"] if len(workload.validation) else ["source"],
    }


def _draw(workload: Workload, size: int, config: RunConfig, on_share: OnShare, should_stop: ShouldStop) -> TargetSample:
    from riskcore.training.listeners import Listener, PhaseProgress
    from riskcore.training.target_sample import draw_sample

    class Teller(Listener):
        def on_progress(self, record: PhaseProgress) -> None:
            on_share(int(record["done"]), int(record["total"] or 0))

    return draw_sample(workload, size, config, [Teller()], should_stop)


def _stored(folder: RunFolder, workload: Workload, truth: TargetTruth) -> TargetSample | None:
    found = read_sample(folder)
    if found is None:
        return None
    rows, inclusion, about = found
    if any(about[name] != value for name, value in _fingerprints(workload, truth).items()):
        raise RunError("the data has changed since the run began. Put the old data back, or start a new run.")
    return TargetSample(rows, inclusion, about["pairs"], about["similarity"])


def _fingerprints(workload: Workload, truth: TargetTruth) -> dict[str, str]:
    """Of everything, also the pairs that are not drawn."""
    return {"fingerprint": workload.fingerprint, "truth_fingerprint": truth_fingerprint(truth)}


def _write_ids(folder: RunFolder, pairs: Pairs) -> None:
    """The record ids of all target pairs, in order."""
    schema = pa.schema([(LEFT_ID, pa.large_string()), (RIGHT_ID, pa.large_string())])
    left, right = pairs.left.ids, pairs.right.ids

    def tables() -> Iterator[pa.Table]:
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            ids = left[pairs.left_rows[some]], right[pairs.right_rows[some]]
            yield pa.table([pa.array(one, pa.large_string()) for one in ids], schema=schema)

    write_parquet_chunks(folder.target_pairs_file, schema, tables())
