# Everything runs in a virtual environment of its own that the first target makes.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
RUNTIME = $(VENV)/.runtime
DEVELOPMENT = $(VENV)/.development
BENCHMARK = $(VENV)/.benchmark
SITE = $(VENV)/.site
REWRITTEN = $(VENV)/.rewritten
S3 = $(VENV)/.s3
SYSTEM = $(VENV)/.system
WORKERS ?= auto
CORPUS ?=
CONSTRAINTS = tests/constraints.txt

# Tests start many interpreters: each would compile Trundle anew where the environment forbids bytecode.
unexport PYTHONDONTWRITEBYTECODE

# Much of what is tested writes through to the disk; in memory that takes no time.
MEMORY := $(shell [ -w /dev/shm ] && ! grep -qs " /dev/shm .*noexec" /proc/mounts && \
	df -Pk /dev/shm | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')
PLACE = $(if $(MEMORY),TMPDIR=$(MEMORY)) $(if $(CORPUS),CORPUS="$(abspath $(CORPUS))")
PYTEST = $(PLACE) $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal
CONFIRMED = TRUNDLE_TESTS=all $(PLACE) $(BIN)/python tests/support/confirmed.py

.PHONY: demo test test-all test-cluster check bench docs guides pictures house corpus mutants mutmut format constraints clean

demo: $(RUNTIME) ## Run the main job on the example, as a story in the terminal.
	@$(if $(CORPUS),CORPUS="$(abspath $(CORPUS))") $(BIN)/python examples/crm/demo.py

test: $(REWRITTEN) $(SYSTEM) ## Run the tests to run before each change; laws with some examples.
	$(PYTEST) -m "not full and not cluster" $(TESTS)

test-all: $(if $(TESTS),,test) $(DEVELOPMENT) $(SYSTEM) $(S3) ## Run all tests: those of `test`, then what it leaves out, and laws with all examples.
	$(CONFIRMED) --numprocesses $(WORKERS) --dist worksteal -m "not cluster$(if $(TESTS),, and (full or more))" -- $(TESTS)

test-cluster: $(DEVELOPMENT) ## Run the tests that need a real cluster; the first time builds it, which needs Go. LONG=1 for all of them.
	@$(BIN)/python tests/support/control_plane.py
	$(CONFIRMED) --numprocesses 3 --dist loadfile -m "cluster$(if $(LONG),, and not long)" -- $(or $(TESTS),tests/cluster tests/api)

check: $(DEVELOPMENT) ## Check format, lint and types.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy benchmarks

bench: $(BENCHMARK) ## Measure conversions against hand-written ones, in one run.
	@$(BIN)/python benchmarks/conversion.py
	@$(if $(CORPUS),CORPUS="$(abspath $(CORPUS))") $(BIN)/python benchmarks/generation.py
	@$(if $(CORPUS),CORPUS="$(abspath $(CORPUS))") $(BIN)/python benchmarks/importing.py
	@$(BIN)/python benchmarks/startup.py
	@$(BIN)/python benchmarks/channels.py
	@$(BIN)/python benchmarks/resolving.py
	@$(BIN)/python benchmarks/contracts.py
	@$(BIN)/python benchmarks/methods.py
	@$(BIN)/python benchmarks/catalog.py
	@$(BIN)/python benchmarks/store.py
	@$(BIN)/python benchmarks/scale.py
	@$(BIN)/python benchmarks/growth.py
	@$(BIN)/python benchmarks/serving.py
	@$(BIN)/python benchmarks/webhook.py
	@$(BIN)/python benchmarks/models.py
	@$(BIN)/python benchmarks/pages.py

docs: $(SITE) ## Build the documentation site into build/site, in the folder of this version.
	@$(BIN)/python docs/site/build.py build/site

guides: $(DEVELOPMENT) $(SYSTEM) ## Write what commands print today into the guides; GUIDES="docs/tutorial.md" for some of them.
	@PYTHONPATH=tests/support $(BIN)/python tests/docs/guides.py $(GUIDES)

pictures: $(DEVELOPMENT) $(SYSTEM) ## Take the pictures of the page that the guides show.
	@PYTHONPATH=tests/support $(BIN)/python tests/docs/pictures.py

house: $(DEVELOPMENT) ## Draw the rooms and their imports for docs/architecture.md.
	@$(BIN)/python tests/support/house.py

corpus: $(DEVELOPMENT) ## Prove the conversions of published schemas with three seeds; CORPUS="FOLDER..." has them in FOLDER/schemas.
	@PYTHONPATH=tests/support $(BIN)/python tests/support/corpora.py $(CORPUS)

mutants: $(DEVELOPMENT) ## Damage plans and decisions, and count which damage `verify` finds.
	@PYTHONPATH=tests/support $(BIN)/python tests/mutants/run.py $(PROJECTS)

mutmut: $(DEVELOPMENT) ## Change the code of bags and merges line by line, and count which changes tests find.
	@$(BIN)/python -m pip install --quiet --group mutants
	@$(BIN)/mutmut run
	@$(BIN)/mutmut results

format: $(DEVELOPMENT) ## Put the code in order.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

constraints: ## Renew the versions of what tests run with.
	@$(PYTHON) -m venv --clear $(VENV)/renewed
	@$(VENV)/renewed/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(VENV)/renewed/bin/python -m pip install --quiet --editable ".[all]" --group dev --group site
	@echo "# What tests run with; \`make constraints\` renews it." >$(CONSTRAINTS)
	@$(VENV)/renewed/bin/python -m pip freeze --exclude-editable >>$(CONSTRAINTS)
	@rm -rf $(VENV)/renewed

clean: ## Remove what the other targets made.
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis mutants examples/crm/crm

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Trundle needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || \
		($(PYTHON) -m pip install --quiet --user virtualenv && $(PYTHON) -m virtualenv --quiet $(VENV))
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(RUNTIME): pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --editable ".[all]"
	@touch $@

$(DEVELOPMENT): pyproject.toml $(RUNTIME)
	@$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --group dev
	@touch $@

# pytest rewrites the assertions of a test module where it is first imported: half of the modules in each of two processes, rather than all in each worker.
$(REWRITTEN): $(DEVELOPMENT)
	@for half in 0 1; do \
		find tests -name "test_*.py" | sort | awk "NR % 2 == $$half" | \
			xargs $(BIN)/python -m pytest --collect-only -q --numprocesses 0 >/dev/null 2>&1 & \
	done; wait
	@touch $@

# A client of S3 and a server. botocore wants an older dateutil than clients of Kubernetes: a folder of their own, before the others.
$(S3): pyproject.toml $(RUNTIME)
	@grep -v "^python-dateutil=" $(CONSTRAINTS) >$(VENV)/s3.txt
	@rm -rf $(VENV)/s3
	@$(BIN)/python -m pip install --quiet --no-warn-conflicts --constraint $(VENV)/s3.txt --target $(VENV)/s3 --group s3
	@touch $@

$(SITE): pyproject.toml $(RUNTIME)
	@$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --group site
	@touch $@

$(BENCHMARK): pyproject.toml $(RUNTIME)
	@$(BIN)/python -m pip install --quiet --group bench
	@touch $@

# What tests run against and pip does not have; where it cannot be had they are skipped, and say so.
$(SYSTEM): | $(VENV)/bin/python
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		! { command -v docker-registry && command -v skopeo && command -v openssl && command -v chromium && command -v pgbouncer && \
			ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1; then \
		export DEBIAN_FRONTEND=noninteractive; \
		mkdir -p /etc/postgresql-common/createcluster.d; \
		echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/no-main-cluster.conf; \
		{ apt-get -qq update && apt-get -qq install --yes --no-install-recommends \
			chromium docker-registry skopeo openssl pgbouncer postgresql; } >/dev/null || echo "apt-get failed; some tests are skipped"; \
	fi
	@touch $@
