"""The paper's theory on one step of a run, from an iteration to the next: computed once, and the choice of the step."""

from __future__ import annotations

import dataclasses
import itertools

import streamlit as st

from pages.parts.runs.run_files import model_of, stamp
from pages.parts.runs.score_columns import columns_of, truth_of
from riskcore.evaluation import Theory, theory_of
from riskcore.runs import RunFolder

LABELS_USED = "Labels used: target, for scoring only."


@dataclasses.dataclass(frozen=True)
class Step:
    """Two iterations of a method, one after the other."""

    method: str
    start: int
    after: int

    @property
    def text(self) -> str:
        return f"iteration {self.start} to {self.after}"


def steps_of(folder: RunFolder, method: str) -> list[Step]:
    """All steps of a method; none where it has a single iteration."""
    return [Step(method, start, after) for start, after in itertools.pairwise(folder.iterations(method))]


def choose_step(steps: list[Step]) -> Step:
    """The step in the address, by default the first."""
    named = {step.text: step for step in steps}
    chosen = st.selectbox("Step", list(named), key="step", bind="query-params", width=260)
    return named.get(chosen or "", steps[0])


def step_theory(folder: RunFolder, step: Step) -> Theory:
    """The theory of a step. It is shared by all sessions: do not change it."""
    files = [folder.scores_file(step.method, at) for at in (step.start, step.after)]
    return _theory(str(folder.path), step, stamp(*files, folder.truth_file))


def rules_in(folder: RunFolder, step: Step) -> int:
    """How many rules the risk model has at the start of the step."""
    return len(model_of(folder, step.method, step.start).rules)


@st.cache_resource(max_entries=8, ttl=1800, show_spinner=False)
def _theory(path: str, step: Step, written: tuple[int, ...]) -> Theory:
    folder = RunFolder(path)
    label, mu, sigma = columns_of(folder, step.method, step.start, "label", "mu", "sigma")
    (after,) = columns_of(folder, step.method, step.after, "label")
    return theory_of(truth_of(folder), label, mu, sigma, rules_in(folder, step), after)
