# Every target sets up what it needs. PYTHON=... names another Python; ARGS='...' is passed on.

PYTHON ?= python3
# For `mutants`, `pipeline` and `bench`: by default all protocols, the folders of spec/ with a models.yaml.
PROTOCOL ?= $(notdir $(patsubst %/models.yaml,%,$(wildcard spec/*/models.yaml)))
ARGS ?=

BIN := .venv/bin
STAMP := .venv/.installed
SPARK := .venv/.installed-pipeline
SOLVER := .venv/.installed-prove

.DEFAULT_GOAL := help
.PHONY: help setup check conform simulate test test-pipeline lint report prove mutants errata pipeline bench bench-large clean \
  need-python need-java

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 24

setup: $(STAMP) ## install into .venv what constraints.txt pins (once)

check: need-java $(STAMP) ## check all models with TLC, then the implementation against them
	@$(BIN)/groupcomm check $(ARGS)
	@$(BIN)/groupcomm conform $(ARGS)
	@$(BIN)/groupcomm requirements --check
	@$(BIN)/groupcomm stack --check
	@$(BIN)/groupcomm guarantees --check
	@$(BIN)/groupcomm errata --check

conform: need-java $(STAMP) ## check the implementation against the models, with what the cache has of them (some minutes without)
	@$(BIN)/groupcomm conform $(ARGS)

simulate: $(STAMP) ## run whole stacks under faults: 1,000,000 events of each (some minutes)
	@for stack in flush/gms sequencer/flush/gms/stable flush/merge_gms sequencer/flush/merge_gms/stable; do \
	  $(BIN)/groupcomm simulate $$stack --events 1000000 $(ARGS) || exit; done

test: need-java $(STAMP) ## run the tests, but for those of the pipeline, a worker for each core up to four
	@$(BIN)/python -m pytest -m 'not pipeline and not prove' -n auto --maxprocesses 4 --dist loadscope --no-loadscope-reorder $(ARGS)

test-pipeline: need-java $(SPARK) ## run the tests of the pipeline, on Spark
	@$(BIN)/python -m pytest -m pipeline tests/pipeline $(ARGS)

lint: $(SPARK) ## ruff (rules and format) and mypy --strict
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

report: need-java $(STAMP) ## write build/report: a page to read, and JUnit XML
	@$(BIN)/groupcomm report $(ARGS)

prove: need-java $(SOLVER) ## prove STABLE's claims in groups of any size, with an SMT solver, and test the proof's tools
	@$(BIN)/groupcomm prove $(ARGS)
	@$(BIN)/python -m pytest -q -n 0 -m prove tests/stable/test_proof.py

mutants: need-java $(STAMP) ## break the specification and the implementation of PROTOCOL: each must be noticed
	@for protocol in $(PROTOCOL); do \
	  $(BIN)/groupcomm mutants $$protocol --spec $(ARGS) && $(BIN)/groupcomm mutants $$protocol $(ARGS) || exit; \
	done

errata: need-java $(STAMP) ## write docs/errata.md from the manifests
	@$(BIN)/groupcomm errata $(ARGS)

pipeline: need-java $(SPARK) ## make tables of the state graphs of PROTOCOL, and walk through them, on Spark
	@for protocol in $(PROTOCOL); do $(BIN)/groupcomm pipeline $$protocol $(ARGS) || exit; done

bench: need-java $(SPARK) ## measure: conformance, the core, the pipeline (writes docs/performance.md)
	@$(BIN)/groupcomm bench $(PROTOCOL) --write $(ARGS)

bench-large: need-java $(SPARK) ## the same, and the pipeline at 10 million edges (4 GB of disk)
	@$(BIN)/groupcomm bench $(PROTOCOL) --large --write $(ARGS)

clean: ## remove .venv, caches and build output
	@rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	@find impl conformance tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Build tools first and pinned, so that pip need not fetch unpinned ones into a build environment.
$(STAMP): pyproject.toml constraints.txt | need-python
	@echo 'setting up .venv (once)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt hatchling editables setuptools wheel
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  --no-build-isolation -e '.[check,dev]'
	@touch $@

# What Spark needs, 800 MB, for the targets that need it.
$(SPARK): $(STAMP)
	@echo 'installing Spark into .venv (once)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  --no-build-isolation -e '.[pipeline]'
	@touch $@

$(SOLVER): $(STAMP)
	@echo 'installing z3 into .venv (once)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  --no-build-isolation -e '.[prove]'
	@touch $@

need-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo 'groupcomm needs Python 3.11 or newer as $(PYTHON): install it, or name another with PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'groupcomm needs the venv module of $(PYTHON): install it (Debian, Ubuntu: python3-venv)' >&2; exit 1; }

# The same Java that the checker takes: GROUPCOMM_JAVA, else JAVA_HOME, else the PATH.
need-java:
	@java=$${GROUPCOMM_JAVA:-$${JAVA_HOME:+$$JAVA_HOME/bin/}java}; \
	  version=$$("$$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'); \
	  test "$${version:-0}" -ge 17 || \
	  { echo "groupcomm needs Java 17 or newer as $$java: install it (Debian, Ubuntu: openjdk-17-jdk-headless)" >&2; exit 1; }
