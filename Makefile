# Every target works on a fresh machine: it creates .venv and installs what it needs first.
PYTHON ?= python3
BIN := .venv/bin
COVERAGE := 85  # the least share of lines, in %

.PHONY: app test lint docs example wheel browser clean

app: .venv/.app
	$(BIN)/python -m riskcore serve

# On all cores. The coverage of the engine and the screens is one line above the last; `coverage html` shows the rest.
test: .venv/.dev browser
	$(BIN)/python -m pytest -n auto --dist loadscope --no-loadscope-reorder --cov --cov-report= --cov-fail-under=$(COVERAGE)

browser:
	.ci/browser

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Fails on a link that leads nowhere and on a page that is not in the list.
docs: .venv/.dev
	$(BIN)/mkdocs build --strict --quiet

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

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov site dist
