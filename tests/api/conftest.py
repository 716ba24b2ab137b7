"""Two small catalogues as frames, with hostile text in them, and one finished run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import riskcore as rc

SCRIPT = "<script>alert(1)</script>"
_WORDS = np.array(["query", "index", "join", "cache", "graph", "stream", "view", "lock", "page", "tree", "log", "plan"])


class Frames(NamedTuple):
    """Records of two catalogues, and candidate pairs with their true labels."""

    left: pd.DataFrame
    right: pd.DataFrame
    pairs: pd.DataFrame

    @property
    def unlabelled(self) -> pd.DataFrame:
        return self.pairs[["ltable_id", "rtable_id"]]

    @property
    def pair_ids(self) -> pd.Series:
        return self.pairs["ltable_id"] + ":" + self.pairs["rtable_id"]

    @property
    def truth(self) -> pd.Series:
        return pd.Series(self.pairs["label"].to_numpy(), index=self.pair_ids)


def made_up(seed: int, count: int = 50) -> Frames:
    chance = np.random.default_rng(seed)
    titles = [" ".join(chance.choice(_WORDS, 5)) for _ in range(count)]
    titles[-1] += " " + SCRIPT
    years = chance.integers(1990, 2020, count)
    noisy = [title if chance.random() < 0.6 else title.rsplit(" ", 1)[0] for title in titles]
    left = pd.DataFrame({"id": [f"a{n}" for n in range(count)], "title": titles, "year": years})
    right = pd.DataFrame({"id": [f"b{n}" for n in range(count)], "title": noisy, "year": years})
    rows = [(f"a{n}", f"b{(n + step) % count}", int(step == 0)) for n in range(count) for step in (0, 1, 7)]
    return Frames(left, right, pd.DataFrame(rows, columns=["ltable_id", "rtable_id", "label"]))


QUICK = {"matcher": "toy", "epochs": 3, "iterations": 2, "progress": False, "risk": {"steps": 20}}


@pytest.fixture(scope="session")
def source() -> Frames:
    return made_up(0)


@pytest.fixture(scope="session")
def target() -> Frames:
    return made_up(1)


@pytest.fixture(scope="session")
def run(source: Frames, target: Frames, tmp_path_factory: pytest.TempPathFactory) -> rc.Run:
    """Adapted with 60 validation labels; the other labels of the target are its truth."""
    return rc.adapt(
        rc.from_frames(*source, name="old"),
        rc.from_frames(*target, name=f"new {SCRIPT}"),
        validation=target.truth[:60],
        methods=["tradition", "risk", "forest"],
        runs=tmp_path_factory.mktemp("runs"),
        **QUICK,
    )
