# Every target works on a fresh machine: it creates .venv and installs what it needs first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: app test lint browser clean

app: .venv/.app
	$(BIN)/python -m riskcore serve

test: .venv/.dev browser
	$(BIN)/python -m pytest

browser:
	.ci/browser

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.app: requirements.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/.dev: requirements-dev.txt .venv/.app
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
