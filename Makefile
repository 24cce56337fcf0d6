# Every target creates .venv on first use (tools/environment.py) and installs the versions of constraints.txt into it.

PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
STARTED := $(shell date +%s)
export PYTHONUNBUFFERED = 1

# make book LIVE=1 measures on this machine instead of reading the bundled data
LIVE ?=
BUILD = $(BIN)/python tools/build_book.py --started $(STARTED) $(if $(LIVE),--live)

help:  ## say what there is
	@echo "The Roofline Course"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-16s%s\n", $$1, $$2}'
	@echo "  make book LIVE=1  the same, measured on this machine (installs torch and transformers; a GPU if there is one)"
	@echo "  make lab LIVE=1   the same, with what measuring needs"

book:  ## run the notebooks and build the site in book/_build/html
	@$(PYTHON) tools/environment.py book $(if $(LIVE),live llm)
	@$(BUILD)

serve: book  ## the same, then show it at a local address (PORT=8000)
	@$(BIN)/python tools/serve.py book/_build/html --port $(PORT)

pdf:  ## the whole book as one PDF, linked from the first page (Debian's chromium prints it)
	@$(PYTHON) tools/environment.py pdf --chromium
	@$(BUILD)
	@$(BIN)/python tools/make_pdf.py

epub:  ## the whole book as one ePub, linked from the first page (Debian's chromium sets its formulas)
	@$(PYTHON) tools/environment.py pdf --chromium
	@$(BUILD)
	@$(BIN)/python tools/make_epub.py

figures:  ## every figure of the book as SVG for slides, with its description, in build/figures
	@$(PYTHON) tools/environment.py book
	@$(BIN)/python tools/run_notebooks.py
	@$(BIN)/python tools/make_figures.py

lab:  ## open the notebooks in JupyterLab
	@$(PYTHON) tools/environment.py book $(if $(LIVE),live llm)
	@$(BIN)/jupyter lab notebooks

ARGS ?= --quick -o run.json
measure:  ## this machine's roofline, in about a minute, into run.json (ARGS="--help" shows what else there is)
	@$(PYTHON) tools/environment.py live
	@$(BIN)/roofcourse measure $(ARGS)

check:  ## ruff, and notebooks without outputs
	@$(PYTHON) tools/environment.py test
	@$(MAKE) --no-print-directory lint

test:  ## everything that CI runs
	@$(MAKE) --no-print-directory -j2 test-environment .venv-sphinx/installed  # both wait for the network
	@$(MAKE) --no-print-directory lint
	@$(BUILD)
	@$(MAKE) --no-print-directory -j2 plain other-card
	@$(BIN)/python -m pytest -n 2

test-environment:
	@$(PYTHON) tools/environment.py test live llm --chromium

# every chapter copes with another card and precision than the ones it starts from
other-card:
	@$(BIN)/python tools/run_notebooks.py --out book/_build/runs/rtx4080 -p device rtx4080 -p precision fp8_e4m3

lint:
	@$(BIN)/ruff check .
	@files=$$(ls notebooks/*.ipynb 2>/dev/null); test -z "$$files" || $(BIN)/nbstripout --keep-id --verify $$files \
	  || { echo "a notebook carries outputs: $(BIN)/nbstripout --keep-id notebooks/*.ipynb"; exit 1; }

sphinx: book .venv-sphinx/installed  ## build the same sources with plain Sphinx 9 as well, in an environment of its own
	@$(MAKE) --no-print-directory plain

plain:
	@SOURCE_DATE_EPOCH=1767225600 .venv-sphinx/bin/sphinx-build -W -n -E --keep-going -q -d book/_build/.plain \
	  -c tools/plain_sphinx book book/_build/plain && echo "Plain Sphinx is content too: book/_build/plain/index.html"

.venv-sphinx/installed: tools/plain_sphinx/requirements.txt
	@echo "installing Sphinx 9 in .venv-sphinx (the first time takes minutes)"
	@$(PYTHON) -m venv --clear .venv-sphinx
	@.venv-sphinx/bin/pip install -q --disable-pip-version-check -r $<
	@touch $@

bench:  ## the explorers against a frame of 16 ms, this CPU beside likwid and STREAM: run it on an idle machine
	@$(PYTHON) tools/environment.py test live --chromium
	@$(BUILD)
	@$(BIN)/python benchmarks/explorers.py; explored=$$?; $(BIN)/python benchmarks/peers.py && exit $$explored

clean:  ## remove what was built (not .venv)
	@rm -rf book/_build book/notebooks book/appendix/data.md book/appendix/critical.md dist build .pytest_cache .ruff_cache .hypothesis

.PHONY: help book pdf epub figures serve lab measure check test test-environment other-card lint sphinx plain bench clean
