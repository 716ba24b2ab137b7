"""A run's folder: the path of each file, and what is in it. Only complete files have these names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskcore.errors import StorageError
from riskcore.registry import METHODS
from riskcore.runs import formats
from riskcore.runs.documents import RunDescription, RunResults, SummaryRow
from riskcore.runs.store.run_record import RunNotFoundError
from riskcore.storage.files import read_json, read_text

if TYPE_CHECKING:
    from riskcore.risk import RiskModel
    from riskcore.rules.rule_set import RuleSet

PREFERRED = ("risk+", "risk")  # whose answer is the run's, in this order
_ITERATION = re.compile(r"iteration-(\d+)\.parquet")


def answering_method(methods: Sequence[str]) -> str:
    """Whose answer is the run's, of the methods that it has: that of risk+, else of risk, else of the first."""
    return next((name for name in PREFERRED if name in methods), methods[0])


class RunFolder:
    """The files of one run. Nothing is cached, since a run grows while it is being worked on."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    # Paths.

    @property
    def run_file(self) -> Path:
        return self.path / "run.json"

    @property
    def results_file(self) -> Path:
        return self.path / "results.json"

    @property
    def comparison_file(self) -> Path:
        return self.path / "comparison.json"

    @property
    def validation_rules_file(self) -> Path:
        return self.path / "rules-validation.json"

    @property
    def rules_file(self) -> Path:
        return self.path / "rules.json"

    @property
    def summary_file(self) -> Path:
        return self.path / "summary.json"

    @property
    def pairs_file(self) -> Path:
        return self.path / "pairs.parquet"

    @property
    def other_pairs_file(self) -> Path:
        """The target's pairs outside the target part: validation pairs and unseen pairs."""
        return self.path / "other_pairs.parquet"

    @property
    def records_file(self) -> Path:
        """Every record of the target's tables, in a pair or not."""
        return self.path / "records.parquet"

    @property
    def extra_file(self) -> Path:
        """Further columns of pairs, by pair id: those of a file of scores. Exports have them."""
        return self.path / "extra.parquet"

    @property
    def sample_file(self) -> Path:
        """Which pairs of a large target the run adapts on: see `riskcore.runs.worker.large_target`."""
        return self.path / "sample.parquet"

    @property
    def sample_facts_file(self) -> Path:
        return self.path / "sample.json"

    @property
    def target_pairs_file(self) -> Path:
        """The ids of all pairs of a large target, of which the run's own are a sample."""
        return self.path / "target_pairs.parquet"

    @property
    def scored_target(self) -> Path:
        """All pairs of a large target, scored."""
        return self.path / "scored" / "all"

    @property
    def metrics_file(self) -> Path:
        return self.path / "metrics.parquet"

    @property
    def fired_file(self) -> Path:
        return self.path / "fired.parquet"

    @property
    def truth_file(self) -> Path:
        return self.path / "truth.parquet"

    @property
    def final_file(self) -> Path:
        return self.path / "scores" / "final.parquet"

    @property
    def risks_file(self) -> Path:
        """The risk of every method's labels, side by side."""
        return self.path / "scores" / "risks.parquet"

    @property
    def matcher(self) -> Path:
        """The adapted matcher, for `riskcore.matchers.load`."""
        return self.path / "matcher"

    @property
    def bundle(self) -> Path:
        """What the run answers with, for new records: see `riskcore.runs.bundle`."""
        return self.path / "bundle"

    @property
    def applied(self) -> Path:
        """Answers on new records that were asked for on the screen Results."""
        return self.path / "applied"

    def sheets_file(self, method: str) -> Path:
        """The balance sheets of a method's answer."""
        return self.path / "sheets" / f"{method}.parquet"

    def sheet_facts_file(self, method: str) -> Path:
        return self.path / "sheets" / f"{method}.json"

    def extra_sheet_file(self, method: str, row: int) -> Path:
        """The balance sheet of one pair that was computed on demand."""
        return self.path / "sheets" / f"{method}-more" / f"{row}.parquet"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoint"

    def answered(self) -> set[str]:
        """Methods that have answered, whether that is recorded yet or waits for its turn."""
        end = "-done.safetensors"
        return {file.name.removesuffix(end) for file in self.checkpoints.glob(f"*{end}")}

    @property
    def draws(self) -> Path:
        """Draws of target pairs for labelling."""
        return self.path / "draws"

    @property
    def lists(self) -> Path:
        """Work lists that are assigned to people: see `riskcore.audit.assigned`."""
        return self.path / "lists"

    @property
    def feedback(self) -> Path:
        """What people's verdicts and decisions about rules make of the ranking: see `riskcore.runs.feedback_files`."""
        return self.path / "feedback"

    @property
    def guideline_file(self) -> Path:
        """What counts as a match here, in the words of the project's owner."""
        return self.path / "guideline.json"

    @property
    def masks_file(self) -> Path:
        """Attributes that are masked for reviewers: see `riskcore.runs.masks`."""
        return self.path / "masks.json"

    @property
    def filters_file(self) -> Path:
        """Filters of the queue that people gave a name: see `riskcore.runs.saved_filters`."""
        return self.path / "filters.json"

    @property
    def log_file(self) -> Path:
        return self.path / "worker.log"

    def scores_file(self, method: str, iteration: int) -> Path:
        return self._of_method("scores", method) / f"iteration-{iteration:02d}.parquet"

    def state_file(self, method: str, iteration: int) -> Path:
        """What the matcher had learned after an iteration, for a run that continues from it."""
        return self.path / "states" / method / f"iteration-{iteration:02d}.safetensors"

    def model_file(self, method: str, iteration: int) -> Path:
        return self._of_method("models", method) / f"iteration-{iteration:02d}.json"

    # Contents.

    @property
    def has_truth(self) -> bool:
        return self.truth_file.exists()

    @property
    def ready(self) -> bool:
        """Whether pairs can be browsed: at least one iteration of one method is there."""
        return self.pairs_file.exists() and bool(self.methods())

    def run(self) -> RunDescription:
        """What the run was made from."""
        return formats.description(read_json(self._there(self.run_file)), self.path.name)

    def results(self) -> RunResults | None:
        """The document that `run --json` prints; None while the run is not done."""
        return read_json(self.results_file) if self.results_file.exists() else None

    def rules(self) -> RuleSet:
        """The source's rules. Wherever a rule has a number in this run, it is the place in this set."""
        from riskcore.rules.rule_set import RuleSet

        return RuleSet.from_json(formats.rules(self._text(self.rules_file), self._format()))

    def rules_on_validation(self) -> RuleSet | None:
        """The same rules with their record on the validation pairs; None where it was not recorded."""
        from riskcore.rules.rule_set import RuleSet

        if not self.validation_rules_file.exists():
            return None
        return RuleSet.from_json(formats.rules(self._text(self.validation_rules_file), self._format()))

    def model(self, method: str = "risk", iteration: int | None = None) -> RiskModel:
        """The risk model of an iteration, the kept one if none is named."""
        from riskcore.risk import RiskModel

        text = self._text(self.model_file(method, self.iteration(method, iteration)))
        keys = [rule.key for rule in self.rules().rules]
        return RiskModel.from_json(formats.model(text, self._format(), keys))

    def summary_rows(self) -> list[SummaryRow]:
        """A row per method and iteration, in the order in which they were recorded."""
        if not self.summary_file.exists():
            return []
        counts = self.run()["counts"] if self.run_file.exists() else {}
        return formats.summary(read_json(self.summary_file), self._format(), counts)

    def comparison(self) -> dict[str, Any] | None:
        """The methods side by side, as far as the worker compared them; `readers.method_comparison` completes it."""
        if not self.comparison_file.exists():
            return None
        return formats.comparison(read_json(self.comparison_file), self._format())

    def iterations(self, method: str = "risk") -> list[int]:
        """Iterations whose scores have been written, in order."""
        folder = self._of_method("scores", method)
        names = [_ITERATION.fullmatch(path.name) for path in folder.glob("iteration-*.parquet")]
        return sorted(int(name[1]) for name in names if name)

    def iteration(self, method: str, iteration: int | None) -> int:
        """The requested iteration; by default the kept one, or the latest while none is kept."""
        there = self.iterations(method)
        if not there:
            raise StorageError(f"Run {self.path.name} has no scores of {method!r}. Wait for its first iteration.")
        if iteration is not None and iteration not in there:
            raise StorageError(f"{method!r} has no iteration {iteration}. It has iterations {there[0]} to {there[-1]}.")
        if iteration is None:
            iteration = self.kept(method)
        return there[-1] if iteration is None else iteration

    def kept(self, method: str, results: Mapping[str, Any] | None = None) -> int | None:
        """The iteration that gave the method's answer; None while there is none. Every reader asks here.

        `results` is the method's row of the results, for the worker that has not written results.json yet.
        """
        best = (self.method_results(method) if results is None else results).get("best_iteration")
        return int(best) if best in self.iterations(method) else None

    def method_results(self, method: str) -> Mapping[str, Any]:
        """The method's row of the results (`f1`, `labels_used`, `lacked`, ...); empty while there are none."""
        results = self.results()
        return {} if results is None else results["methods"].get(method, {})

    def methods(self) -> list[str]:
        """Methods with iterations to browse."""
        return [method for method in self._iterating() if self.iterations(method)]

    def attributes(self) -> list[str]:
        """Names of the target's attributes: those that it shares with the source, then its own."""
        return [attribute["name"] for attribute in self.run()["attributes"]]

    def _of_method(self, kind: str, method: str) -> Path:
        if method not in self._iterating():
            raise StorageError(f"{method!r} has no iterations. Methods that do: {', '.join(self._iterating())}.")
        return self.path / kind if method == "risk" else self.path / kind / method

    def _iterating(self) -> list[str]:
        """Methods that record iterations: those of the registry, and any whose package is no longer installed."""
        known = [spec.name for spec in METHODS if spec.iterates]
        stored = sorted(path.name for path in (self.path / "scores").glob("*/"))
        return [*known, *(name for name in stored if name not in known)]

    def _format(self) -> int:
        """The format that run.json states; today's while it is not there."""
        if not self.run_file.exists():
            return formats.FORMAT
        return formats.checked_format(read_json(self.run_file), self.path.name)

    def _text(self, file: Path) -> str:
        return read_text(self._there(file))

    def _there(self, file: Path) -> Path:
        if not self.path.is_dir():
            raise RunNotFoundError(f"There is no run folder {self.path}.")
        if not file.exists():
            raise StorageError(f"Run {self.path.name} has no {file.name} yet. Wait for it, or resume the run.")
        return file
