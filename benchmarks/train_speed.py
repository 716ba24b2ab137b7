"""How fast matchers train on one data set, beside what the machine's float32 matrix product can do.

    python benchmarks/train_speed.py --data DIR [--json] [--matcher sif,rnn,attention,hybrid] [--threads 1]

Pairs per second are those of whole passes (batches made, loss, gradients, Adam), the best of a few rounds that
take turns, so that a busy machine treats all alike. `share` is the part of the machine's matrix-product rate,
measured in the same run, that goes into a matcher's matrix products: what torch counts as their floating-point
operations, by the time of the pass. `naive` is the attention matcher computing the same numbers the plain way:
every attribute padded to the longest value of any, every occurrence of a word projected anew. `ditto-before` is ditto
as it was trained before version 0.3: two of six layers frozen, float32 throughout, as many subwords of each pair.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script from anywhere

from riskcore.config import MatcherConfig
from riskcore.data.reading import open_data
from riskcore.data.schema import Attribute
from riskcore.data.workload import build_workload
from riskcore.matchers import Examples, TuningSet, create
from riskcore.matchers.deepmatcher import AttentionMatcher, DeepMatcher
from riskcore.matchers.encode import Corpus
from riskcore.matchers.network import Network, compare
from riskcore.matchers.neural import NeuralMatcher, Work
from riskcore.matchers.summaries import FAR, Attention

BATCH = 128
BEFORE = "ditto-before"


class NaiveMatcher(AttentionMatcher):
    """The attention matcher, computed without any optimisation."""

    def _work(self, several: list[Examples], training: bool) -> Work:  # type: ignore[override]
        network = self._ready()
        assert isinstance(network, Network)
        corpus = self.encoder.corpus([examples.pairs for examples in several], self.names)
        return Naive(network, corpus, torch.from_numpy(self.frequency.weights(corpus.hashes)))


class Naive:
    """Every value padded to the longest of the batch, every token projected."""

    def __init__(self, network: Network, corpus: Corpus, weights: Tensor) -> None:
        self.network, self.corpus, self.weights = network, corpus, weights
        self.lengths = corpus.lengths
        self.features = torch.from_numpy(corpus.features)

    def logits(self, rows: np.ndarray) -> Tensor:
        values = self.corpus.values[rows]  # pair, attribute, side
        ids = torch.from_numpy(self.corpus.padded(values.ravel()).astype(np.int64)).view(*values.shape, -1)
        words = self.network.project(self.features[ids].flatten(0, 3)).view(*ids.shape, -1)
        words = words * (ids > 0).unsqueeze(-1)
        both = [self._look(ids, words, one, 1 - one) for one in (0, 1)]
        there = (torch.from_numpy(values) > 0).all(dim=2).float().unsqueeze(2)
        compared = torch.cat([self.network.norm(compare(*both)) * there, 1 - there], dim=2)
        x = self.network.enter(self.network.dropout(compared.flatten(1)))
        answer: Tensor = self.network.leave(self.network.dropout(self.network.highway(functional.relu(x)))).squeeze(1)
        return answer

    def _look(self, ids: Tensor, words: Tensor, one: int, other: int) -> Tensor:
        attention = self.network.summariser
        assert isinstance(attention, Attention)
        mine, theirs = ids[:, :, one], ids[:, :, other]
        same = ((mine.unsqueeze(3) == theirs.unsqueeze(2)) & (mine > 0).unsqueeze(3)).float()
        scores = attention.likeness * words[:, :, one] @ words[:, :, other].transpose(2, 3)
        scores = (scores + attention.identity * same).masked_fill((theirs == 0).unsqueeze(2), FAR)
        found, here = scores.softmax(dim=3) @ words[:, :, other], words[:, :, one]
        evidence = torch.cat([(here - found).abs(), here * found, same.amax(3, keepdim=True)], dim=3)
        compared, weights = functional.relu(attention.comparison(evidence)), self.weights[mine]
        share = weights / weights.sum(dim=2, keepdim=True).clamp_min(1e-6)
        return (compared * share.unsqueeze(3)).sum(dim=2)


def matmul_rate(size: int = 768, seconds: float = 0.5) -> float:
    """Floating-point operations per second of a square float32 product."""
    a, done = torch.randn(size, size), 0
    a @ a
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        a @ a
        done += 1
    return done * 2 * size**3 / (time.perf_counter() - started)


def prepare(kind: str, train: Examples, attributes: tuple[Attribute, ...], threads: int) -> NeuralMatcher:
    settings: dict[str, Any] = {"frozen_layers": 2, "half": False} if kind == BEFORE else {}
    config = MatcherConfig(kind={"naive": "attention", BEFORE: "ditto"}.get(kind, kind), threads=threads, **settings)
    matcher = NaiveMatcher(config, attributes) if kind == "naive" else create(config, attributes)
    assert isinstance(matcher, NeuralMatcher)
    matcher.begin(train, seed=0)
    return matcher


def one_pass(matcher: NeuralMatcher, tuning_set: TuningSet) -> float:
    started = time.perf_counter()
    matcher.fine_tune(tuning_set, rate=1e-3, batch_size=BATCH if isinstance(matcher, DeepMatcher) else None)
    return time.perf_counter() - started


def operations(matcher: NeuralMatcher, tuning_set: TuningSet) -> int:
    one_pass(matcher, tuning_set)  # what is done once for all passes is not counted
    with FlopCounterMode(display=False) as counter:
        one_pass(matcher, tuning_set)
    return counter.get_total_flops()


def measure(data: Path, kinds: list[str], pairs: int, rounds: int, threads: int) -> dict[str, Any]:
    torch.set_num_threads(threads)
    workload, _ = build_workload(open_data(data))
    train = Examples(workload.source).take(np.random.default_rng(0).permutation(len(workload.source))[:pairs])
    tuning_set = TuningSet.from_labels(train)
    few = TuningSet.from_labels(train.take(slice(0, 320)))
    matchers = {kind: prepare(kind, train, workload.attributes, threads) for kind in kinds}
    sets = {kind: few if kind.startswith("ditto") else tuning_set for kind in kinds}
    flops = {kind: operations(matcher, sets[kind]) for kind, matcher in matchers.items()}
    best, rate = dict.fromkeys(kinds, np.inf), 0.0
    for _ in range(rounds):
        rate = max(rate, matmul_rate())
        for kind, matcher in matchers.items():
            best[kind] = min(best[kind], one_pass(matcher, sets[kind]))
    speed = {kind: len(sets[kind]) / best[kind] for kind in kinds}
    share = {kind: flops[kind] / best[kind] / rate for kind in kinds}
    return {"data": data.name, "pairs": len(train), "threads": threads, "matmul_gflops": rate / 1e9} | {
        "matchers": {kind: {"pairs_per_second": speed[kind], "share_of_matmul": share[kind]} for kind in kinds},
        "attention_over_naive": _ratio(speed, "attention", "naive"),
        "attention_over_hybrid": _ratio(speed, "attention", "hybrid"),
        "ditto_over_before": _ratio(speed, "ditto", BEFORE),
    }


def _ratio(speed: dict[str, float], one: str, other: str) -> float | None:
    return speed[one] / speed[other] if one in speed and other in speed else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a workload folder, for example DBLP-ACM")
    parser.add_argument("--matcher", "--matchers", default=f"sif,rnn,attention,hybrid,naive,ditto,{BEFORE}")
    parser.add_argument("--pairs", type=int, default=3000, help="training pairs in a pass")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.data, options.matcher.split(","), options.pairs, options.rounds, options.threads)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{found['data']}: {found['pairs']} pairs, {found['threads']} thread(s)")
    print(f"matrix product: {found['matmul_gflops']:.0f} GFLOP/s")
    for kind, row in found["matchers"].items():
        print(f"{kind:12s} {row['pairs_per_second']:8.0f} pairs/s  {100 * row['share_of_matmul']:5.1f} % of matmul")
    for one, other in (("attention", "naive"), ("attention", "hybrid"), ("ditto", "before")):
        ratio = found[f"{one}_over_{other}"]
        print(f"{one} / {other}: {'-' if ratio is None else format(ratio, '.1f')}")


if __name__ == "__main__":
    main()
