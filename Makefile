# `make help` lists the targets. ARGS="..." is passed on to the command of a target.
PYTHON ?= python3
ARGS ?=
run := .venv/bin/python
pip_install := -m pip --disable-pip-version-check install --quiet
# what git keeps of notebooks: no outputs, and nothing that JupyterLab adds
git_keeps := --keep-id --drop-empty-cells --extra-keys='cell.metadata.trusted \
    $(addprefix metadata.language_info.,codemirror_mode file_extension mimetype nbconvert_exporter pygments_lexer version)'
two_at_once := -n 2 --dist loadgroup
fast := bounds divergence environment estimates examples findings house instances interface noise

.DELETE_ON_ERROR:
.PHONY: all test test-fast faults smoke status check site lab bench bench-peers paper lint format lock test-floors clean help FORCE

all: .venv/.ready  ## set up, then run every stale notebook (the default)
	$(run) -m privregret reproduce $(ARGS)

test: .venv/.witnesses  ## run the tests, with third-party packages as references
	$(run) -m pytest $(two_at_once) $(ARGS)

test-fast: .venv/.ready  ## run the tests that take less than two minutes together
	$(run) -m pytest $(two_at_once) $(fast:%=tests/test_%.py) $(ARGS)

faults: .venv/.ready  ## plant every fault: each must flip the verdicts about it (ten minutes)
	$(run) -m pytest $(two_at_once) --every-fault tests/test_planted.py $(ARGS)

smoke: .venv/.ready  ## run every notebook with small parameters, into build/
	$(run) -m privregret reproduce --smoke $(ARGS)

status: .venv/.ready  ## list the stale notebooks and the reasons
	$(run) -m privregret status $(ARGS)

check: .venv/.ready  ## run all afresh: whatever moved is then changed in git
	$(run) -m privregret reproduce --fresh $(ARGS)
	git diff --stat --exit-code figures paper README.md

site: .venv/.ready  ## build a static site of docs, notebooks and figures: build/site/docs/index.html
	rm -rf build/source build/site
	mkdir -p build/source
	cp -R docs notebooks figures README.md CONTRIBUTING.md CHANGELOG.md build/source
	[ ! -d build/notebooks ] || cp -R build/notebooks build/source
	$(run) -m sphinx -W --keep-going -q -j 2 -c docs build/source build/site $(ARGS)

lab: .venv/.ready  ## open the notebooks in JupyterLab
	cd notebooks && JUPYTER_CONFIG_PATH="$$PWD/.jupyter$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}" \
	    ../$(run) -m jupyterlab $(if $(filter 0,$(shell id -u)),--allow-root) $(ARGS)

bench: .venv/.ready  ## time the kernels
	$(run) benchmarks/run.py $(ARGS)

bench-peers: .venv-peers/.ready  ## time UCB1, KL-UCB and EXP3 next to other libraries
	PYTHONPATH=src .venv-peers/bin/python benchmarks/peers.py $(ARGS)

lint: .venv/.ready  ## check style, format, layers and types
	$(run) -m ruff check
	$(run) -m ruff format --check
	.venv/bin/lint-imports --cache-dir .cache/imports
	$(run) -m mypy

format: .venv/.ready  ## format the code and the notebooks
	$(run) -m ruff check --fix-only
	$(run) -m ruff format

paper:  ## typeset the draft with the published figures and numbers
	@command -v latexmk >/dev/null || \
	    { echo "make paper needs latexmk (Debian: apt install latexmk lmodern texlive-latex-recommended)" >&2; exit 1; }
	mkdir -p build/paper
	cd paper && FORCE_SOURCE_DATE=1 SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 0) \
	    latexmk -pdf -interaction=nonstopmode -halt-on-error -outdir=../build/paper main.tex
	@$(PYTHON) paper/check_log.py build/paper/main.log
	cd paper && FORCE_SOURCE_DATE=1 SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 0) \
	    latexmk -pdf -interaction=nonstopmode -halt-on-error -outdir=../build/paper note.tex
	@$(PYTHON) paper/check_log.py build/paper/note.log
	@echo "The draft with its supplement is build/paper/main.pdf, the note on constants build/paper/note.pdf"

lock:  ## update both lock files (ARGS=--upgrade: to the newest versions)
	rm -rf build/uv
	$(PYTHON) -m venv build/uv
	build/uv/bin/python $(pip_install) uv
	build/uv/bin/uv pip compile pyproject.toml --extra notebooks --extra dev --extra site --universal --python-version 3.11 --generate-hashes \
	    --fork-strategy fewest --no-annotate --no-emit-index-url --custom-compile-command "make lock" --quiet -o requirements.lock $(ARGS)
	build/uv/bin/uv pip compile --group witnesses --constraint requirements.lock --universal --python-version 3.11 --generate-hashes \
	    --no-emit-package attrs --no-emit-package numpy --no-emit-package scipy \
	    --fork-strategy fewest --no-annotate --no-emit-index-url --custom-compile-command "make lock" --quiet -o requirements-witnesses.lock $(ARGS)

test-floors: .venv-floors/.ready  ## run the tests with the oldest versions that pyproject.toml allows (Python 3.11)
	.venv-floors/bin/python $(pip_install) --no-deps --no-build-isolation -e .
	.venv-floors/bin/python -m pytest $(two_at_once) $(ARGS)

clean:  ## remove build/ and .cache/, so that every notebook is stale
	rm -rf build .cache

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1: /p' Makefile | while IFS=: read -r name text; do printf '%-12s%s\n' "$$name" "$$text"; done

# .ready is written last, so an interrupted set-up starts over. It holds the path of the folder, because an environment
# that was moved does not work. The filter is the installed nbstripout, not code of the branch that is checked out.
ifneq ($(shell $(run) -c 'print(open(".venv/.ready").read())' 2>/dev/null),$(CURDIR))
.venv/.ready: FORCE
endif
.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "privregret needs Python 3.11 or later; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up .venv, once:"
	@rm -rf .venv
	@$(PYTHON) -m venv .venv
	@echo "  installing the $$(grep -c == requirements.lock) packages of requirements.lock (about a minute, longer on a slow line)"
	@$(run) $(pip_install) --require-hashes -r requirements.lock
	@echo "  installing privregret itself"
	@$(run) $(pip_install) --no-deps --no-build-isolation -e .
	@[ ! -e .git ] || git config filter.nbstripout.clean "'$(CURDIR)/$(run)' -Im nbstripout $(git_keeps)" || true
	@pwd -P >$@

# Packages that only tests need. No dependencies: the other lock has them.
.venv/.witnesses: .venv/.ready requirements-witnesses.lock
	@echo "Adding the packages of requirements-witnesses.lock (some seconds, once)"
	@$(run) $(pip_install) --no-deps --require-hashes -r requirements-witnesses.lock
	@touch $@

# Every `>=` of pyproject.toml read as `==`.
floors := import tomllib; t = tomllib.load(open("pyproject.toml", "rb")); p = t["project"]; \
    groups = [p["dependencies"], *p["optional-dependencies"].values(), t["dependency-groups"]["witnesses"]]; \
    print(*{d.replace(">=", "==") for d in sum(groups, [])}, sep="\n")

# Other libraries at their newest versions, and what privregret itself needs.
peers := import tomllib; t = tomllib.load(open("pyproject.toml", "rb")); \
    print(*t["project"]["dependencies"], *t["dependency-groups"]["peers"], sep="\n")

# One environment for each of these two lists.
.venv-%/.ready: pyproject.toml
	rm -rf .venv-$*
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -c '$($*)' >.venv-$*/wanted.txt
	.venv-$*/bin/python $(pip_install) -r .venv-$*/wanted.txt
	@touch $@
