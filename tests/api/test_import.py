"""What `import riskcore` offers and what it costs."""

import subprocess
import sys

import pytest

import riskcore as rc

HEAVY = {"pandas", "numpy", "torch", "streamlit", "numba", "sklearn"}


def loaded_after(code):
    code += f"\nimport sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_loads_nothing():
    assert loaded_after("import riskcore; dir(riskcore)") == "[]"


def test_reading_and_making_data_needs_no_torch():
    code = "import riskcore as rc; rc.sample('products'); rc.adapt, rc.rank, rc.load, rc.from_frames"
    assert "torch" not in loaded_after(code)


def test_ranking_by_confidence_needs_no_torch():
    code = """
import riskcore as rc
target = rc.sample("products")
scores = {pair: 0.5 for pair in target.splits["test"].ids}
rc.rank(rc.DataSet("p", target.left, target.right, {"test": target.splits["test"]}), scores)
"""
    assert "torch" not in loaded_after(code)


def test_names():
    assert set(rc.__all__) <= set(dir(rc))
    for name in rc.__all__:
        assert getattr(rc, name) is not None
    from riskcore import api

    assert set(api.__all__) | {"__version__"} == set(rc.__all__)


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'adopt'"):
        _ = rc.adopt
