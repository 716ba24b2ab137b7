"""What is labelled of a run's target: the labels it began with, and verdicts on the pairs that were drawn for that.

They become the validation set of the next run. Verdicts on pairs that were not drawn are no part of it: pairs that
someone picked, such as the riskiest, would teach it another target than there is.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from riskcore.audit.draws import drawn_pairs, given_labels, inclusion_of
from riskcore.audit.verdicts import Verdict, verdicts_in
from riskcore.columns import LEFT_ID, PAIR_ID, RIGHT_ID
from riskcore.config import AdaptConfig, MatcherConfig, RunConfig
from riskcore.data.label_file import INCLUSION, MEANT
from riskcore.data.labels import LABEL
from riskcore.errors import ConfigError
from riskcore.pair_ids import pair_ids
from riskcore.runs.folder import RunFolder
from riskcore.runs.formats import read_pair_ids
from riskcore.runs.sample_files import read_sample
from riskcore.storage.files import write_bytes

LABEL_COLUMNS = (PAIR_ID, LEFT_ID, RIGHT_ID, LABEL, INCLUSION)
OF_VERDICT = {"match": 1, "non-match": 0}
ENOUGH_OF_EACH = 30  # matches and non-matches: with fewer, another hundred labels moved F1 by points
MOST_MORE = 200  # pairs to suggest at a time


@dataclasses.dataclass(frozen=True)
class LabelProgress:
    """How far labelling is."""

    matches: int
    non_matches: int
    unsure: int  # drawn pairs that someone could not decide
    left: int  # drawn pairs without a verdict

    @property
    def labelled(self) -> int:
        return self.matches + self.non_matches

    @property
    def usable(self) -> bool:
        """Whether the labels can choose between models at all."""
        return bool(self.matches and self.non_matches)

    @property
    def more(self) -> int:
        """About how many more pairs until there are enough of either class; 0 if there are enough."""
        missing = ENOUGH_OF_EACH - min(self.matches, self.non_matches)
        if missing <= 0:
            return 0
        rate = (min(self.matches, self.non_matches) + 1) / (self.labelled + 2)
        return min(MOST_MORE, 10 * math.ceil(missing / rate / 10))

    @property
    def sentence(self) -> str:
        """Whether that is enough, in words."""
        if not self.labelled:
            return "Nothing is labelled yet."
        if not self.usable:
            missing = "non-match" if self.matches else "match"
            return f"There is no {missing} yet: labels of one kind cannot teach anything."
        if self.more:
            return f"About {self.more} more would be better: {ENOUGH_OF_EACH} of either kind are enough."
        return "Enough to adapt. More labels make the result better, slowly."


def labels_of(folder: RunFolder, verdicts: Mapping[str, Verdict] | None = None) -> pd.DataFrame:
    """Every target pair whose chance of being drawn is known or that has a label: ids, label (missing without a
    verdict), inclusion probability (missing where unknown). `verdicts` are the current ones; None reads the store."""
    current = verdicts_in(folder.path) if verdicts is None else verdicts
    begun = given_labels(folder)
    drawn = drawn_pairs(folder)[[PAIR_ID]]
    of_pair = {pair: OF_VERDICT.get(one.verdict) for pair, one in current.items()}
    drawn = drawn.assign(**{LABEL: drawn[PAIR_ID].map(of_pair).astype("Int8")})
    ids = read_pair_ids(folder.pairs_file).to_pandas()[[PAIR_ID, LEFT_ID, RIGHT_ID]].drop_duplicates(PAIR_ID)
    frame = _of_whole_target(folder, inclusion_of(folder))
    rows = ids.merge(frame, on=PAIR_ID, how="inner") if frame is not None else ids.iloc[:0].assign(**{INCLUSION: 0.0})
    rows = rows.merge(drawn[[PAIR_ID, LABEL]], on=PAIR_ID, how="left")
    if begun is not None:
        begun = _with_later_draws(_typed(begun, rows), rows)
        known = begun[LABEL].notna()  # the others may have been drawn since
        rows = pd.concat([begun[known], rows, begun[~known]], ignore_index=True)
        rows = rows.drop_duplicates(PAIR_ID, keep="first")
    return _columns(rows)


def _of_whole_target(folder: RunFolder, frame: pd.DataFrame | None) -> pd.DataFrame | None:
    """Where the run's target pairs are themselves a sample, a pair had to be drawn twice."""
    sample = read_sample(folder)
    if frame is None or sample is None:
        return frame
    return frame.assign(**{INCLUSION: frame[INCLUSION].to_numpy() * sample[1]})


def label_progress(folder: RunFolder, verdicts: Mapping[str, Verdict] | None = None) -> LabelProgress:
    """How far the labelling of the drawn pairs is, together with the labels that the run began with."""
    current = verdicts_in(folder.path) if verdicts is None else verdicts
    drawn = drawn_pairs(folder)[PAIR_ID]
    labels = _begun_labels(folder)
    for pair in drawn:
        if pair in current and (label := OF_VERDICT.get(current[pair].verdict)) is not None:
            labels.setdefault(pair, label)
    unsure = sum(1 for pair in drawn if pair in current and current[pair].verdict == "unsure")
    left = sum(1 for pair in drawn if pair not in current)
    matches = sum(labels.values())
    return LabelProgress(matches, len(labels) - matches, unsure, left)


def _begun_labels(folder: RunFolder) -> dict[str, int]:
    """The labels that the run began with, by pair."""
    begun = given_labels(folder)
    if begun is None:
        return {}
    known = _typed(begun, pd.DataFrame(columns=list(LABEL_COLUMNS))).dropna(subset=[LABEL])
    return {str(pair): int(label) for pair, label in zip(known[PAIR_ID], known[LABEL], strict=True)}


def store_labels(folder: RunFolder, verdicts: Mapping[str, Verdict] | None = None) -> Path:
    """The labels as a file beside the runs, named by its content: a run that uses it can always be resumed."""
    frame = labels_of(folder, verdicts)
    if not {0, 1} <= set(frame[LABEL].dropna()):
        raise ConfigError(
            "The labels are not of both kinds yet, so nothing can be learned from them. Judge more of the drawn pairs, "
            "on the screen Label & audit or with `riskcore audit sample` and `riskcore audit import`."
        )
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), stream)
    content = stream.getvalue()
    digest = hashlib.sha256(content).hexdigest()[:16]
    path = folder.path.absolute().parent / "labels" / f"{digest}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
    return path


def draft_config(config: RunConfig) -> RunConfig:
    """The settings of a first run without labels: enough to rank pairs and to draw some for labelling. Without a source
    there is nothing to train, and the similarity of records answers."""
    matcher = config.matcher if config.source or config.matcher.kind == "external" else MatcherConfig(kind="similarity")
    adapt = dataclasses.replace(config.adapt, iterations=0)
    return dataclasses.replace(config, matcher=matcher, adapt=adapt, methods=("tradition", "risk"))


def is_draft(config: RunConfig) -> bool:
    """Whether a run with these settings is a draft. One on another matcher's scores is none: these are its result."""
    return _only_ranks(config) and config.matcher.kind != "external"


def _only_ranks(config: RunConfig) -> bool:
    return set(config.methods) <= {"tradition", "risk"} and not config.adapt.iterations


def adapting_config(config: RunConfig, labels: Path) -> RunConfig:
    """The settings of the run after labelling: as before, with these labels, and with what a draft left out.

    Without a source the similarity of records stays the matcher: half of a hundred labels trains no network, while
    stacked with forests and rules the similarity reached F1 84.7 to 91.5 on Abt-Buy.
    """
    iterations = config.adapt.iterations or AdaptConfig().iterations
    drafted = _only_ranks(config)
    return dataclasses.replace(
        config,
        labels=str(labels),
        adapt=dataclasses.replace(config.adapt, iterations=iterations),
        methods=RunConfig().methods if drafted else config.methods,
    )


def _typed(begun: pd.DataFrame, like: pd.DataFrame) -> pd.DataFrame:
    """The labels from a file with the types of those from draws."""
    found = begun.reindex(columns=[*like.columns])
    if LABEL in found:
        meant = found[LABEL].astype(str).str.strip().str.lower().map(MEANT)
        found[LABEL] = meant.map(OF_VERDICT).astype("Int8")
    found[INCLUSION] = pd.to_numeric(found[INCLUSION], errors="coerce")
    if found[PAIR_ID].isna().any():
        joined = pair_ids(found[LEFT_ID].astype(str), found[RIGHT_ID].astype(str))
        found[PAIR_ID] = found[PAIR_ID].fillna(pd.Series(joined, index=found.index))
    return found


def _with_later_draws(begun: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Labels of an earlier run with how likely they were drawn then or by the draws of this run: as likely as the pairs
    of the target that the earlier draw would have taken with the same probability."""
    earlier = begun[INCLUSION]
    both = rows[[PAIR_ID, INCLUSION]].merge(begun[[PAIR_ID, INCLUSION]], on=PAIR_ID, suffixes=("", " before"))
    by_stratum = both.groupby(f"{INCLUSION} before")[INCLUSION].mean()
    return begun.assign(**{INCLUSION: earlier.map(by_stratum).fillna(earlier)})


def _columns(rows: pd.DataFrame) -> pd.DataFrame:
    found = rows.reindex(columns=list(LABEL_COLUMNS))
    found[LABEL] = found[LABEL].astype("Int8")
    found[INCLUSION] = found[INCLUSION].astype(np.float64)
    return found.reset_index(drop=True)
