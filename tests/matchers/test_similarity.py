"""The matcher that needs no label."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from riskcore.config import DataConfig, MatcherConfig, MetricConfig
from riskcore.data import open_data
from riskcore.data.schema import infer_types
from riskcore.data.workload import pooled
from riskcore.errors import MatcherError
from riskcore.matchers import Examples, create, load, save
from riskcore.metrics.matrix import MetricSpace
from riskcore.paths import app_folder


@pytest.mark.parametrize(("name", "least"), [("bibliography_scraped", 0.98), ("products", 0.96)])
@pytest.mark.parametrize("leads", [True, False])
def test_similar_records_are_likely_matches(name, least, leads, tmp_path):
    data = open_data(app_folder() / "sample_data" / name)
    pairs = pooled(data)
    attributes = infer_types([data.left, data.right], data.attributes, {}, DataConfig())
    metrics = MetricSpace.fit(attributes, [data.left, data.right], MetricConfig(), leads).transform(pairs)
    matcher = create(MatcherConfig(kind="similarity"), attributes)
    found = matcher.predict_proba(Examples(pairs, metrics.values))
    assert roc_auc_score(pairs.labels, found) > least
    assert ((found > 0) & (found < 1)).all()
    save(matcher, tmp_path)
    assert np.array_equal(load(tmp_path).predict_proba(Examples(pairs, metrics.values)), found)
    empty = np.full_like(metrics.values[:3], np.nan)
    assert (matcher.predict_proba(Examples(pairs.take(slice(3)), empty)) < 0.01).all()  # nothing known, nothing alike
    with pytest.raises(MatcherError, match="do not fit"):
        matcher.predict_proba(Examples(pairs, metrics.values[:, 1:]))
