"""What a result was made with."""

from __future__ import annotations

import numpy as np

from riskcore.provenance import code_stamp, differences, versions
from riskcore.version import __version__


def test_versions_name_what_computes_a_result():
    assert versions()["riskcore"] == __version__
    assert versions()["numpy"] == np.__version__
    assert {"python", "torch", "scikit-learn"} <= set(versions())


def test_the_code_has_a_stamp():
    assert code_stamp() == code_stamp()
    assert len(code_stamp()) == 32


def test_differences_name_both_versions():
    assert differences({"numpy": "1", "torch": "2"}, {"numpy": "1", "torch": "2"}) == []
    assert differences({"numpy": "1", "numba": "3"}, {"numpy": "2", "torch": "4"}) == [
        "numpy was 1 and is 2",
        "numba was 3 and is absent",
        "torch was absent and is 4",
    ]
