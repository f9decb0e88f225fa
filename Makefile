.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
LOCK := requirements/dev.lock
CRASHES ?= 100
SEEDS ?= 1000
FIRST ?= 0
KILLS ?= 10
MINUTES ?= 5
CLIENT_SUITES := admin_details delivery fetch group_admin group_migration group_offsets groups offsets records \
	static_members topics transaction_admin transactions wire_fetching wire_transactions word_count
# More than the two cores that a small machine has: tests with brokers wait more than they compute.
WORKERS ?= 3
SEED ?=
BENCH ?=

.PHONY: help setup run demo test check clients foreign oracle crash faults chaos sim fuzz bench messages lock clean

help: ## What you can type
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(STAMP): $(LOCK) pyproject.toml tools/native.py src/barnabas/hot/_native.c src/barnabas/records/arrow/_native.c
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Barnabas needs Python 3.11 or newer; this is $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src
	@touch $(STAMP)

setup: $(STAMP) ## Make .venv with every tool in .venv/bin

run: $(STAMP) ## A single broker on localhost:9092, data in ./data
	@$(BIN)/barnabas run --data ./data

demo: $(STAMP) ## 1,000 trucks, two readers, and a PySpark pipeline that writes exactly once; a map in trucks.png
	@$(BIN)/barnabas demo

check: $(STAMP) ## Lint, types and import contracts, in seconds
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check ## Everything a fresh machine can test
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

clients: $(STAMP) ## Every client library's suite against three brokers
	BARNABAS_TEST_TARGET=cluster $(BIN)/pytest -n 1 $(addprefix tests/clients/test_,$(addsuffix .py,$(CLIENT_SUITES)))

foreign: $(STAMP) ## franz-go, sarama and KafkaJS say of our broker what they say of Apache Kafka; needs Go and Node
	$(BIN)/pytest -n 0 -m slow tests/foreign

oracle: $(STAMP) ## Apache Kafka is asked again whether what is recorded of its answers is still so
	$(BIN)/pytest -n 2 --dist loadgroup -m slow tests/clients/test_same_answers_as_kafka.py

crash: $(STAMP) ## Kill -9 under load, CRASHES=100 times
	BARNABAS_CRASHES=$(CRASHES) $(BIN)/pytest -n 0 --timeout 3600 tests/clients/test_crashes.py

faults: $(STAMP) ## Everything that may die under a Spark query does, on our broker and on Apache Kafka; KILLS=10 at random
	BARNABAS_KILLS=$(KILLS) $(BIN)/pytest -n 0 -m "slow or not slow" tests/spark/faults

chaos: $(STAMP) ## Three brokers and ZooKeepers under load, a fault every few seconds, MINUTES=5, SEED=…
	@$(BIN)/python -m chaos --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

sim: $(STAMP) ## Every promise of the simulation on SEEDS schedules (1000), from seed FIRST (0)
	@$(BIN)/python -m barnabas.sim --seeds $(SEEDS) --first $(FIRST)

bench: $(STAMP) ## Side by side with Apache Kafka; BENCH="--quick", "--only fetch-16k", "--long"
	@$(BIN)/python -m compileall -q src
	$(BIN)/python -m bench $(BENCH)

fuzz: $(STAMP) ## Mutated requests for SECONDS (default 60); nothing but refusals may come of it
	$(BIN)/python -m tests.fuzz.frames $(or $(SECONDS),60)

messages: $(STAMP) ## Derive protocol/messages from kio's field metadata
	$(BIN)/python tools/messages.py

lock: ## Pin every dependency anew
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --extra dev pyproject.toml -o $(LOCK)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --extra spark pyproject.toml requirements/spark-bench.in -o requirements/spark-bench.lock

clean: ## Remove the environment and the data
	rm -rf $(VENV) data .mypy_cache .ruff_cache .pytest_cache
