"""Named streams of random numbers: one for each purpose, all of them following the seed of a run.

A stream does not depend on how much another has drawn, so changing, say, the number of folds leaves the passes over the
target as they were. Numbers of streams are part of every result: add new ones at the end, and never use one again.
"""

from __future__ import annotations

import enum

import numpy as np

from riskcore.errors import ConfigError


class Stream(enum.IntEnum):
    """What random numbers are drawn for."""

    RATIO_SPLIT = 0
    TRAIN_FRACTION = 1
    VALIDATION_SIZE = 2
    INITIAL_WEIGHTS = 10  # of a matcher before training
    EPOCH = 11  # order and dropout of one epoch on the source; by epoch
    RISK_PASS = 12  # of one pass of `risk` over the target; by iteration
    RISK_FOLDS = 13  # of the validation pairs that join these passes
    RISK_FIT = 14  # of the risk model that scores the target: the same draws in every iteration
    CROSS_FIT = 15  # of the risk models fitted without a fold; by fold
    STACKING_PASS = 16  # of one pass of `risk+`; by iteration
    STACKING_FOLDS = 17  # of base learners and stacker alike
    FINE_TUNING_FOLDS = 18  # of the fine-tuned matcher, where it has fewer
    FINE_TUNING_PASS = 19  # of one pass over validation labels; by pass
    RULE_LEARNER = 20  # the risk model among the base learners
    FOREST = 21  # the method `forest`, and the same forest among the base learners
    BALANCED_FOREST = 22
    TARGET_FOREST = 23
    SIMILARITY_SAMPLE = 24
    SIMILARITY_FOREST = 25
    SELF_TRAINING_PASS = 26  # by iteration
    TRANSFER_PASS = 27  # by epoch
    DOMAIN_CLASSIFIER = 28  # its initial weights
    SOURCE_OUT_OF_BAG = 29  # the forest behind competing candidates within one data set
    LABEL_DRAW = 30  # pairs drawn for labelling
    LABEL_SPLIT = 31  # labels that are the source and the validation pairs where there is no source
    REASON_RESAMPLES = 32  # fits that show how stable the leading reason of a pair is
    TARGET_SAMPLE = 33  # pairs of a large target that a run adapts on
    UNSEEN_SAMPLE = 34  # unseen pairs beside them


def stream(seed: int, purpose: Stream) -> np.random.Generator:
    """The random numbers for a purpose."""
    if seed < 0:
        raise ConfigError(f"The seed is {seed}; it must be 0 or more.")
    return np.random.default_rng([seed, purpose])


def stream_seed(seed: int, purpose: Stream, index: int = 0) -> int:
    """A seed for code that takes one, such as a forest, or a matcher's pass with its number as `index`."""
    return int(np.random.SeedSequence([seed, purpose, index]).generate_state(1)[0])
