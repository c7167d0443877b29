# Every target sets up what it needs. PYTHON=... names another Python; ARGS='...' is passed on.
# `check` and `conform` take from .cache/groupcomm what was found right with the same specification, model, core, engine and jar;
# FRESH=1 runs all.
# `nightly` draws from SEED, by default another one each day; with EVENTS=... fewer than a million of each.

PYTHON ?= python3
# For `mutants`, `pipeline` and `bench`: by default all protocols with a core, the folders of spec/ with a models.yaml but
# note_...
PROTOCOL ?= $(filter-out note_%,$(notdir $(patsubst %/models.yaml,%,$(wildcard spec/*/models.yaml))))
ARGS ?=
EVENTS ?= 1000000
# States of STABLE's largest model in which TLC judges what the solver is given (`prove`), and of GMS's: `nightly` takes 1,000.
STATES ?= 500
GMS_STATES ?= 100
# Workers of the tests: one more than there are cores, up to four, for some tests wait for sockets and timers.
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN | awk '{ print ($$1 < 3) ? $$1 + 1 : 4 }')
# What `nightly` does, but for what it does for each PROTOCOL.
NIGHTLY := deep closed malformed strangers lives torture nightly-simulate nightly-prove broken-ports engine-mutants test-itf test-nightly \
  jgroups
SEED ?= $(shell expr $$(date +%s) / 86400 '*' 1000000)

# Where it is set, each process of the checks and tests would compile all that it imports, and each worker all tests.
export PYTHONDONTWRITEBYTECODE :=

BIN := .venv/bin
STAMP := .venv/.installed
SPARK := .venv/.installed-pipeline
SOLVER := .venv/.installed-prove
RIVALS := .venv/.installed-bench

.DEFAULT_GOAL := help
.PHONY: help setup check explore documents conform port-go broken-ports simulate nightly deep closed random malformed strangers lives torture \
  nightly-jobs nightly-simulate nightly-prove engine-mutants test test-documented test-installed test-itf test-nightly test-pipeline jgroups jgroups-small lint report report-small site prove mutants errata release pipeline bench \
  bench-runtime audit locks clean need-python need-maven need-java need-go

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 24

setup: $(STAMP) ## install into .venv what locks/base.txt has (once)

check: need-java $(STAMP) ## check all models with TLC, then the implementation against them; with FRESH=1 take no result of an earlier run
	@$(BIN)/groupcomm check $(if $(FRESH),--fresh,--cached) $(ARGS)
	@$(MAKE) --no-print-directory -j2 conform explore documents

# (One core is busy with it.)
explore: $(STAMP) ## search whole stacks exhaustively: what applications see
	@$(BIN)/groupcomm explore $(if $(FRESH),,--cached)

documents: $(addprefix document-,requirements assumptions guarantees jgroups errata) ## write into build/docs what the manifests say: a requirement without a check, or a flaw without a reason, fails

document-guarantees: OPTION := --check
document-jgroups: OPTION := --table
document-%: need-java $(STAMP)
	@$(BIN)/groupcomm $* $(OPTION)

conform: need-java $(STAMP) ## check the implementation against the models, with what the cache has of them (some minutes without)
	@$(BIN)/groupcomm conform $(if $(FRESH),,--cached) $(ARGS)

port-go: need-java need-go $(STAMP) ## build the port in Go, and hold it to all tables (some minutes)
	@mkdir -p build
	@cd conformance/adapters/go && go vet ./... && go test ./... && go build -o ../../../build/port-go .
	@$(BIN)/groupcomm conform --adapter build/port-go --strict --renamed --random 6000 $(ARGS) $(filter-out stack,$(PROTOCOL))

broken-ports: need-java need-go $(STAMP) ## break the port in Go on purpose: each must be noticed (nightly: half an hour)
	@$(BIN)/python conformance/adapters/go/broken_ports.py $(ARGS)

simulate: $(STAMP) ## run whole stacks under faults: 1,000,000 events of each (some minutes)
	@for stack in flush/gms sequencer/flush/gms/stable flush/merge_gms sequencer/flush/merge_gms/stable \
	    sequencer/flush/merge_gms/stable/nakack/unicast; do \
	  $(BIN)/groupcomm simulate $$stack --events 1000000 $(ARGS) || exit; done

nightly: $(NIGHTLY) random mutants ## all checks that take too long for each change: some hours

nightly-jobs: ## print, as JSON, what `make` is called with by the jobs of the nightly workflow
	@printf '"%s"\n' $(NIGHTLY) $(foreach each,$(PROTOCOL),'random PROTOCOL=$(each)' 'mutants PROTOCOL=$(each)') | paste -sd, | sed 's/.*/[&]/'

nightly-simulate:
	@$(MAKE) --no-print-directory simulate ARGS='--seed $(SEED) --events $(EVENTS)'
	@for fault in one_way pair_cut slow; do \
	  $(BIN)/groupcomm simulate sequencer/flush/merge_gms/stable/nakack/unicast --forever $$fault --seed $(SEED) --events $(EVENTS) || exit; \
	done

nightly-prove:
	@$(MAKE) --no-print-directory prove ARGS='--confirm all' STATES=1000 GMS_STATES=1000

deep: need-java $(STAMP) ## check the models of the tier deep as well, and explore larger groups
	@$(BIN)/groupcomm check --tier deep
	@$(BIN)/groupcomm explore --tier full

closed: need-java $(STAMP) ## check the implementation in the states that the rows of `conform` leave
	@for protocol in $(PROTOCOL); do $(BIN)/groupcomm conform $$protocol --closed || exit; done

random: need-java $(STAMP) ## give each core EVENTS random events, and the specification the same
	@for protocol in $(PROTOCOL); do $(BIN)/groupcomm conform $$protocol --random $(EVENTS) --seed $(SEED) || exit; done

malformed: $(STAMP) ## give simulated stacks EVENTS malformed messages
	@$(BIN)/python -m groupcomm_conformance.random_events.malformed $(EVENTS) $(SEED)

strangers: $(STAMP) ## give a member of the runtime EVENTS hostile messages with the right seal, and a tenth as many incarnations
	@$(BIN)/python -m groupcomm_field.strangers $(EVENTS) $(SEED)

torture: $(STAMP) ## do 500 faults to a group of five processes, and judge their logs (some minutes)
	@$(BIN)/groupcomm torture --members 5 --faults 500 --seed $(SEED)
	@$(BIN)/groupcomm torture --members 5 --faults 100 --seed $(SEED) --majority
	@$(BIN)/groupcomm torture --members 5 --faults 100 --seed $(SEED) --tcp --majority --state --large 300000

lives: $(STAMP) ## a group through 100,000 incarnations: bounded state, steps that take no longer
	@$(BIN)/python -m tests.stacks.test_lives 100000

test: need-java $(STAMP) ## run the tests, but for those of the pipeline, of JGroups and of the proof, by up to four workers
	@$(BIN)/python -m pytest -m 'not pipeline and not jgroups and not prove and not documented and not itf and not installed and not nightly' -n $(WORKERS) --max-worker-restart 0 --dist loadscope --no-loadscope-reorder $(ARGS)

test-documented: need-java $(STAMP) ## run the commands that README and the tutorial name (after `make check`)
	@$(BIN)/python -m pytest -m documented tests/test_documented.py $(ARGS)

test-installed: need-java $(STAMP) ## install the wheels into fresh environments, and check a protocol of a stranger there
	@$(BIN)/python -m pytest -m 'installed and not nightly' tests/test_installed.py $(ARGS)

test-itf: need-java $(STAMP) ## have Rust's and Quint's readers read our traces, and compile a port in TypeScript (needs cargo and npm)
	@$(BIN)/python -m pytest -m itf tests/test_itf.py tests/test_skeleton.py $(ARGS)

test-nightly: need-java need-go $(SPARK) $(SOLVER) ## run the tests that are marked nightly: they take long, and other checks look at most of the same
	@$(BIN)/python -m pytest -m nightly tests $(ARGS)

test-pipeline: need-java $(SPARK) ## run the tests of campaigns and of the pipeline, on Spark
	@$(BIN)/python -m pytest -m 'pipeline and not nightly' tests/pipeline $(ARGS)

jgroups: need-java need-maven $(STAMP) ## hold real JGroups, four versions, against the errata and our stack (some minutes)
	@$(BIN)/groupcomm jgroups $(ARGS)

jgroups-small: need-java need-maven $(STAMP) ## the same on two versions, by a handful of schedules, and the tests of the driver
	@$(BIN)/python -m pytest -m jgroups tests/jgroups $(ARGS)
	@$(BIN)/groupcomm jgroups FLAW-66 FLAW-32 FLAW-47 FLAW-71 FLAW-73 FLAW-75/repeated FLAW-104 FLAW-27/gap NAKACK4 \
	  gms gms_concurrent flush merge links sequencer stable --version 5.5.7 --version 5.3.10 --schedules 3

lint: $(SPARK) ## ruff (rules and format) and mypy --strict
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

report: need-java $(STAMP) ## write build/report: pages to read, and JUnit XML
	@$(BIN)/groupcomm report $(ARGS)

# (Why each claim is false takes a run of TLC for each ablation: of all some minutes. The site has all.)
report-small: need-java $(STAMP) ## the same of two protocols: their ablations of all kinds take half a minute
	@$(BIN)/groupcomm report safe heartbeat $(ARGS)

site: need-java $(STAMP) ## write build/site: all documents with search, and a page a protocol (minutes after `make check`)
	@$(BIN)/groupcomm site $(ARGS)

prove: need-java $(SOLVER) ## prove STABLE's and SEQUENCER's claims, and that view identifiers are unique, in groups of any size, with an SMT solver, and test the proof's tools (the largest models, and cvc5 for all: nightly)
	@$(BIN)/groupcomm prove stable --states $(STATES) $(ARGS)
	@$(BIN)/groupcomm prove sequencer --states 300 $(ARGS)
	@$(BIN)/groupcomm prove gms --states $(GMS_STATES) $(ARGS)
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 2 -m 'prove and not nightly' tests/*/test_proof.py

mutants: need-java $(STAMP) ## break the specification and the implementation of PROTOCOL: each must be noticed
	@for protocol in $(PROTOCOL); do \
	  $(BIN)/groupcomm mutants $$protocol --spec $(ARGS) && $(BIN)/groupcomm mutants $$protocol $(ARGS) || exit; \
	  for what in guarantees conditions; do \
	    [ ! -e conformance/mutants/$${protocol}_$$what.yaml ] || $(BIN)/groupcomm mutants $$protocol --$$what || exit; done; \
	done

engine-mutants: need-java $(STAMP) ## break what judges the cores, 300 places drawn by SEED: the tests that execute them must notice
	@$(BIN)/python -m tests.engine_mutants --seed $(SEED) $(ARGS)

errata: need-java $(STAMP) ## write build/docs/errata from the manifests
	@$(BIN)/groupcomm errata $(ARGS)

release: need-java $(STAMP) ## write dist/: the vectors of all protocols, the site, and the driver (wheels); SINCE=ARCHIVE is that of the last release
	@$(BIN)/groupcomm vectors --all --out dist $(if $(SINCE),--since $(SINCE))
	@$(BIN)/groupcomm site
	@tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -I 'gzip -n' -cf dist/groupcomm-site.tar.gz -C build site
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w dist . ./conformance
	@cp locks/base.txt dist/requirements.txt && cp conformance/adapters/Containerfile dist/
	@cd dist && sha256sum groupcomm* Containerfile requirements.txt > SHA256SUMS

pipeline: need-java $(SPARK) ## have the implementation take every transition of PROTOCOL's models, on Spark
	@for protocol in $(PROTOCOL); do $(BIN)/groupcomm pipeline $$protocol $(ARGS) || exit; done

bench: need-java $(STAMP) ## measure: conformance, and the cores (writes docs/performance.md)
	@$(BIN)/python bench/measure.py $(PROTOCOL) --write $(ARGS)

bench-runtime: need-java need-maven $(RIVALS) ## measure the runtime beside PySyncObj and JGroups: 3 and 5 members on loopback (some minutes)
	@$(BIN)/python bench/compare.py $(ARGS)

audit: need-python ## ask for known flaws of all that locks/ has; without an answer it fails
	@$(PYTHON) -m venv build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: -r locks/audit.txt
	@build/audit/bin/pip-audit --strict --disable-pip $(addprefix -r ,$(wildcard locks/*.txt))

LOCK := uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
  --no-header --no-emit-package groupcomm --no-emit-package groupcomm-conformance

# Digests are of all files of a version: wheels for other systems and other Pythons, and its sources. What base has is in no other.
locks: ## renew locks/: the newest versions that pyproject.toml allows, and their digests (needs uv)
	@printf '%s\n' '-e .[dev,runtime,encryption]' '-e conformance' hatchling editables setuptools wheel | $(LOCK) - -o locks/base.txt
	@rest=$$(sed -n 's/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p' locks/base.txt); \
	for extra in conformance[pipeline] conformance[prove] .[bench]; do name=$${extra#*[}; \
	  printf -- '-e %s\n' . "$$extra" | $(LOCK) - $$rest -c locks/base.txt -o locks/$${name%]}.txt || exit; done
	@echo pip-audit | $(LOCK) - -o locks/audit.txt

clean: ## remove .venv, caches and build output
	@rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	@find impl conformance runtime tests -name __pycache__ -type d -prune -exec rm -rf {} +

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
LOCKED := $(INSTALL) --no-build-isolation --require-hashes -r

# What is fetched is in locks/ with its digests, its dependencies too; build tools are among it, so that pip fetches none.
$(STAMP): pyproject.toml conformance/pyproject.toml locks/base.txt | need-python
	@echo 'setting up .venv (once)'
	@$(PYTHON) -m venv .venv
	@$(LOCKED) locks/base.txt --only-binary :all:
	@$(INSTALL) --no-build-isolation -e . -e conformance
	@$(BIN)/python -m pip check
	@touch $@

# What Spark needs, 660 MB, for the targets that need it.
$(SPARK): locks/pipeline.txt $(STAMP)
	@echo 'installing Spark into .venv (once)'
	@$(LOCKED) locks/pipeline.txt
	@touch $@

$(SOLVER): locks/prove.txt $(STAMP)
	@echo 'installing z3 and cvc5 into .venv (once)'
	@$(LOCKED) locks/prove.txt
	@touch $@

$(RIVALS): locks/bench.txt $(STAMP)
	@echo 'installing PySyncObj into .venv (once)'
	@$(LOCKED) locks/bench.txt
	@touch $@

need-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo 'groupcomm needs Python 3.11 or newer as $(PYTHON): install it, or name another with PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'groupcomm needs the venv module of $(PYTHON): install it (Debian, Ubuntu: python3-venv)' >&2; exit 1; }

need-maven:
	@command -v mvn >/dev/null || { echo 'this needs Maven as mvn: install it (Debian, Ubuntu: maven)' >&2; exit 1; }

# The same Java that the checker takes: GROUPCOMM_JAVA, else JAVA_HOME, else the PATH.
need-java:
	@java=$${GROUPCOMM_JAVA:-$${JAVA_HOME:+$$JAVA_HOME/bin/}java}; \
	  version=$$("$$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'); \
	  test "$${version:-0}" -ge 17 || \
	  { echo "groupcomm needs Java 17 or newer as $$java: install it (Debian, Ubuntu: openjdk-17-jdk-headless)" >&2; exit 1; }

# The port needs nothing but the standard library: nothing is fetched.
port-go broken-ports: export GOFLAGS = -mod=mod
port-go broken-ports: export GOTOOLCHAIN = local
ifeq ($(shell test -w "$$HOME" || echo no),no)
port-go broken-ports: export GOCACHE ?= $(or $(TMPDIR),/tmp)/groupcomm-go
endif

need-go:
	@version=$$(go version 2>/dev/null | sed -n 's/.*go1\.\([0-9]*\).*/\1/p'); \
	  test "$${version:-0}" -ge 19 || \
	  { echo 'the port needs Go 1.19 or newer on PATH: install it (Debian, Ubuntu: golang-go)' >&2; exit 1; }
