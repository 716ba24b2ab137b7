# Every target works on a fresh machine: it creates .venv and installs what it needs first.
PYTHON ?= python3
BIN := .venv/bin
COVERAGE := 85  # the least share of lines, in %

.PHONY: app test test-spark coverage lint docs example wheel browser postgres java chaos clean

app: .venv/.app
	$(BIN)/python -m riskcore serve

TESTS := $(BIN)/python -m pytest -n auto --dist loadscope --no-loadscope-reorder

# Tests that fork: in a process of their own, since a fork breaks threads, which other tests leave.
FORKING := tests/runs/test_pool.py tests/runs/test_postgres.py tests/test_cli_queue.py

# On all cores.
test: .venv/.dev browser postgres
	$(BIN)/python -m pytest $(FORKING)
	$(TESTS) $(addprefix --ignore=,$(FORKING))

# The same with the coverage of the engine and the screens, which takes half as long again; `coverage html` shows the rest.
coverage: .venv/.dev browser postgres
	$(TESTS) --cov --cov-report= --cov-fail-under=$(COVERAGE)

# Scoring on Spark, on two cores of this machine. Apart from the others, since it needs Java and 450 MB of pyspark.
test-spark: .venv/.spark java
	$(BIN)/python -m pytest tests/spark

browser:
	.ci/browser

postgres:
	.ci/postgres

java:
	.ci/java

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Fails on a link that leads nowhere and on a page that is not in the list.
docs: .venv/.dev
	$(BIN)/mkdocs build --strict --quiet

# Attacks with a bar for each, in under 15 minutes; the table goes into the documentation. Fails if a bar is missed.
chaos: .venv/.dev browser
	$(BIN)/python -m benchmarks.chaos --to docs/reliability.md

# The finished example behind the tour: runs the sample and packs the run.
example: .venv/.app
	$(BIN)/python sample_data/example.py

wheel: .venv/.dev
	$(BIN)/python -m build --wheel --no-isolation

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.app: requirements.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/.dev: requirements-dev.txt pyproject.toml .venv/.app
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

.venv/.spark: pyproject.toml .venv/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .[spark]
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov site dist
