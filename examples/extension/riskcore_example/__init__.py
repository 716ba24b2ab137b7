"""One matcher, one method and one ranking for Riskcore: the specs that its entry points name."""

from riskcore.registry import MatcherSpec, MethodSpec, RankingSpec

MATCHER = MatcherSpec(
    "overlap",
    "logistic regression on the share of words that both records have",
    "riskcore_example.matcher:OverlapMatcher",
    pairs_per_second=50_000,
)
METHOD = MethodSpec(
    "neighbours",
    "the labels of the nearest source and validation pairs, by their metrics",
    "riskcore_example.method:neighbours",
    step="Find the nearest labelled pairs",
    colour="#8a6d3b",
)
RANKING = RankingSpec(
    "missing values",
    "the share of metrics that could not be computed: little evidence first",
    "riskcore_example.ranking:by_missing_values",
    colour="#555555",
)
