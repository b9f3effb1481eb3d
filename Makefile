# Everything is installed into .venv, from the locks and nothing else.
# Needs: Python 3.11 or later with venv and pip, make, git, and the package registry; kafka-test
# and storm a Java 17 runtime and Maven, for the real Kafka; slow-test a Chromium and npm, for the
# page, whose tests are skipped without them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Test processes at once.
JOBS   ?= 2
# How long `make fuzz` takes.
FUZZ_SECONDS ?= 120
# What `make check` runs of the tests, and `make test` then does not.
CHECKS := tests/test_commits.py tests/test_layers.py tests/test_public_names.py
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# Hundreds of processes start during the tests, and would each compile every module again.
unexport PYTHONDONTWRITEBYTECODE

# Wheels only: a source build would fetch build tools that no lock names. What is imported is
# compiled then; the packages together have twice as many modules.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	--only-binary :all: --require-hashes

.DEFAULT_GOAL := help
# Two installs at once into one .venv would spoil it.
.NOTPARALLEL:
.PHONY: help install install-dev demo demo-second test slow-test kafka-test check format bench \
	kill-test residue fuzz storm docker-test evaluate suites accept kafka kafka-stop lock clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

install: $(VENV)/.stamp          ## the command with all it can do, into .venv
install-dev: $(VENV)/.stamp-dev  ## the command and the tools for tests and checks

demo: $(VENV)/.stamp             ## set up, and the main job from start to end
	$(BIN)/python -m demo.run

demo-second: $(VENV)/.stamp      ## the same job on a second, generated export
	$(BIN)/python -m demo.run --generated 7

test: $(VENV)/.stamp-dev         ## set up, and the tests that are neither slow nor on Kafka
	$(PYTEST) -m "not slow and not kafka" $(CHECKS:%=--ignore %)

slow-test: $(VENV)/.stamp-dev    ## kills, races, hostile and generated input, the page in a Chromium
	$(PYTEST) -m "slow and not kafka"

kafka-test: $(VENV)/.stamp-dev   ## workers, replicas and faults on the real Kafka
	$(PYTEST) -m kafka

storm: $(VENV)/.stamp-dev        ## two minutes of damage to three workers and three brokers
	$(BIN)/python -m tests.storm --seconds 120

fuzz: $(VENV)/.stamp-dev         ## two minutes of what nobody would send, at every place that reads
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

docker-test: | $(BIN)/python     ## build the images, run the Compose file, use it, take it down
	$(BIN)/python -m tests.docker.run

evaluate: $(VENV)/.stamp-dev     ## the writer's figures on the labelled corpus, against the recorded ones
	$(BIN)/python -m training.evaluate --check

suites: $(VENV)/.stamp-dev       ## other people's checks and clients against a service; needs npm
	$(BIN)/python -m tests.suites

check: $(VENV)/.stamp-dev        ## lint, format, types, layers, docstrings, and the form of commits
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(JOBS)
	$(BIN)/python -m pytest --quiet $(CHECKS)

format: $(VENV)/.stamp-dev       ## put right what lint and format can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.stamp-dev        ## every benchmark, into bench/report.md
	$(BIN)/python -m bench.run

kill-test: $(VENV)/.stamp-dev    ## kill at every failpoint, three times each; then cut the power too
	$(BIN)/python -m tests.kill --each 3
	$(BIN)/python -m tests.kill --each 1 --lose-wals --seed 2

residue: $(VENV)/.stamp-dev      ## a hundred erasures of 5,000 events, looked for in every file
	$(BIN)/python -m tests.residue

kafka: $(VENV)/.stamp            ## a real broker on loopback, in the background
	$(BIN)/python -m tests.broker start

kafka-stop: $(VENV)/.stamp       ## end that broker
	$(BIN)/python -m tests.broker stop

accept: demo demo-second kill-test  ## what CI runs of the embedded ledger after the tests

# The lock tools live in their own environment, so they cannot shape what they lock.
# Without PIP_FIND_LINKS, local wheels add neither versions nor hashes.
LOCK := $(VENV)/lock
COMPILE := env -u PIP_FIND_LINKS CUSTOM_COMPILE_COMMAND="make lock" $(LOCK)/bin/pip-compile --quiet \
	--upgrade --generate-hashes --allow-unsafe --strip-extras --all-build-deps \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
	--constraint constraints.txt

# The suites need what conflicts with our own locks, and npm's packages.
SUITES := tests/suites

lock: $(BIN)/python              ## resolve the locks again, on the oldest Python we support
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
		{ echo "make lock needs a .venv of Python 3.11, the oldest we support" >&2; exit 1; }
	$(BIN)/python -m venv --clear $(LOCK)
	$(LOCK)/bin/pip install --quiet --disable-pip-version-check pip-tools uv
	$(COMPILE) --extra all --output-file requirements.lock pyproject.toml
	$(COMPILE) --all-extras --constraint requirements.lock --output-file requirements-dev.lock pyproject.toml
	env -u PIP_FIND_LINKS $(LOCK)/bin/uv pip compile --quiet --upgrade --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" --constraint constraints.txt --extra langgraph \
		--output-file $(SUITES)/requirements.lock pyproject.toml $(SUITES)/requirements.in
	cd $(SUITES)/npm && npm install --silent --package-lock-only
	cd tests/page/npm && npm install --silent --package-lock-only
	rm -rf $(LOCK)

clean:  ## remove .venv and every cache
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "recollect needs Python 3.11 or later; name one with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The build backend comes from the lock too, hence no build isolation.
$(VENV)/.stamp: requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.stamp-dev: requirements-dev.lock $(VENV)/.stamp
	$(INSTALL) -r requirements-dev.lock
	@touch $@
