# Needs Python 3.11 or newer with pip, and make. Everything is installed into .venv and nowhere else.
#
#   make demo       compare all learners in the paper's setting: a table, and a picture in demo.png
#   make serve      a poll that people can vote in, on this machine, with its links
#   make test       formatter, linter, strict type checker, tests
#   make docs       build the site into site/; warnings are errors
#   make setup      only install
#   make format     format the code and fix what the linter can fix
#   make bench      run the benchmarks
#   make test-busy  run the tests three times in a row beside 8 busy processes
#   make lock       bring requirements.lock in line with pyproject.toml (LOCK_FLAGS=--upgrade: newest)
#   make clean      remove all that the other commands have made

PYTHON ?= python3
LOCK_FLAGS ?=
PYTEST_ARGS ?=
POLL = "Team lunch" --option curry --option pizza --option soup --option salad \
	--voter Ann --voter Bob --voter Cleo --voter Dan --join
DEMO = fairduel simulate --environment paper --preset as_run --runs 30 --plot demo.png

VENV := .venv
BIN := $(VENV)/bin
LOCKED := $(VENV)/locked
INSTALLED := $(VENV)/installed
SCRIPTS := $(wildcard benchmarks/*.py docs/mkdocs/*.py examples/*.py)

# All cores, up to 8: more would wait for the longest test. The kernels are compiled once before,
# since every process would compile them for itself.
PYTEST = $(BIN)/python -c 'import fairduel.experiments.warm' && \
	$(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal $(PYTEST_ARGS)

# Trust the certificates of the machine, as pip does: closed networks have their own.
export UV_SYSTEM_CERTS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where this is set every import compiles all over again, and takes 2 to 4 times as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo serve test types suite docs setup format bench test-busy lock clean

demo: setup
	$(BIN)/$(DEMO)

serve: setup # the links are shown when the poll is made: make clean forgets it
	test -e lunch.db || $(BIN)/fairduel poll new $(POLL) --db lunch.db
	$(BIN)/fairduel serve --db lunch.db

test: setup
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	@$(MAKE) --no-print-directory -j2 types suite # the type checker needs one core only

types: setup
	$(BIN)/python -m mypy src tests $(SCRIPTS)

suite: setup
	$(PYTEST)

docs: setup # with --quiet mkdocs would pass over warnings
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "site/index.html; to search it too: python3 -m http.server --directory site"

setup: $(INSTALLED)

format: setup
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

bench: setup
	missed=0; for file in benchmarks/[!_]*.py; do \
		echo "== $$file"; $(BIN)/python "$$file" || missed=1; done; exit $$missed

# The busy ones end with the shell that started them, however that ends. Twice as many tests run at
# once, so that they get two thirds of the machine and are more crowded still.
test-busy: setup
	$(BIN)/python -c 'import fairduel.experiments.warm'
	@busy=; trap 'kill $$busy; wait' EXIT; trap 'exit 130' INT TERM; \
	for process in 1 2 3 4 5 6 7 8; do \
		while kill -0 $$$$ 2> /dev/null; do n=0; while [ $$n -lt 99999 ]; do n=$$((n + 1)); done; done & \
		busy="$$busy $$!"; done; \
	for run in 1 2 3; do echo "== run $$run of 3, beside$$busy"; $(PYTEST) -n 16 --maxprocesses 16 || exit; done

lock: setup
	$(BIN)/python -m uv pip compile --universal --python-version 3.11 --generate-hashes \
		--no-header --quiet --all-extras --group dev $(LOCK_FLAGS) \
		--output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist site demo.png lunch.db*
	find . -name __pycache__ -prune -exec rm -rf {} +

# A new environment with exactly what the lock says. Debian's Python may have no ensurepip: then its
# own pip puts one there. uv takes seconds; where it can't work, pip installs the same by the same
# hashes.
$(LOCKED): requirements.lock
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("fairduel needs Python 3.11 \
	or newer, and this is %d.%d: name another one, as in make PYTHON=python3.12" \
	% sys.version_info[:2])'
	$(PYTHON) -m venv --clear $(VENV) > /dev/null 2>&1 || \
		$(PYTHON) -m venv --clear --without-pip $(VENV)
	sed -n '/^pip==/,/[^\\]$$/p' requirements.lock > $(VENV)/pip.txt
	sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.txt
	$(BIN)/python -c 'import pip' 2> /dev/null || $(PYTHON) -m pip --python $(BIN)/python \
		install --quiet --require-hashes -r $(VENV)/pip.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv.txt && \
	$(BIN)/python -m uv pip sync --python $(BIN)/python --require-hashes \
		--compile-bytecode requirements.lock || \
	$(BIN)/python -m pip install --require-hashes -r requirements.lock
	@touch $@

# A call of its own, since a directory can't have a hash.
$(INSTALLED): $(LOCKED) pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@
