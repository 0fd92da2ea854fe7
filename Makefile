# Python 3.11 or 3.12 and make are all that is needed: the rest lands in .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test fuzz chaos chaos-short test-postgres check format install models

demo: models
	$(BIN)/slowwave demo

test: models
	$(BIN)/pytest

fuzz: $(STAMP)
	SLOWWAVE_FUZZ=10000 $(BIN)/pytest -s tests/serve/test_isolation.py

chaos: models
	SLOWWAVE_CHAOS=full $(BIN)/pytest -s tests/chaos

chaos-short: models
	SLOWWAVE_CHAOS=short $(BIN)/pytest -s tests/chaos

test-postgres: $(STAMP)
	$(BIN)/python tests/postgres_server.py $(BIN)/pytest -m postgres

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

install: $(STAMP)

models: $(STAMP)
	$(BIN)/slowwave models install

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev,postgres]'
	touch $(STAMP)
