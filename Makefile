# `make help` lists the targets. ARGS="..." is passed on to the command of a target.
PYTHON ?= python3
ARGS ?=
run := .venv/bin/python
pip_install := -m pip --disable-pip-version-check install --quiet
uv_compile := build/uv/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --fork-strategy fewest \
    --generate-hashes --no-annotate --no-emit-index-url --custom-compile-command "make lock" --quiet
# what git keeps of notebooks: no outputs, and nothing that JupyterLab adds
git_keeps := --keep-id --drop-empty-cells --extra-keys='cell.metadata.trusted \
    $(addprefix metadata.language_info.,codemirror_mode file_extension mimetype nbconvert_exporter pygments_lexer version)'

.DELETE_ON_ERROR:
.PHONY: all test smoke status site lab bench paper lint lock clean help FORCE

all: .venv/.ready  ## set up, then run every stale notebook (the default)
	$(run) -m privregret reproduce $(ARGS)

test: .venv/.dev  ## run the tests, with third-party packages as references
	$(run) -m pytest -n 2 --dist loadgroup --max-worker-restart 0 $(ARGS)

smoke: .venv/.ready  ## run every notebook with small parameters, into build/
	$(run) -m privregret reproduce --smoke $(ARGS)

status: .venv/.ready  ## list the stale notebooks and the reasons
	$(run) -m privregret status $(ARGS)

site: .venv/.site  ## build a static site of docs, notebooks and figures: build/site/docs/index.html
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

paper:  ## typeset the draft and the note with the published figures and numbers, into build/paper
	@command -v latexmk >/dev/null || \
	    { echo "make paper needs latexmk (Debian: apt install latexmk lmodern texlive-latex-recommended)" >&2; exit 1; }
	cd paper && FORCE_SOURCE_DATE=1 SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 0) \
	    latexmk -pdf -Werror -interaction=nonstopmode -halt-on-error -outdir=../build/paper main.tex note.tex

lint: .venv/.dev  ## check style, format and layers
	$(run) -m ruff check
	$(run) -m ruff format --check
	.venv/bin/lint-imports --cache-dir .cache/imports

lock:  ## update the lock files (ARGS=--upgrade: to the newest versions)
	$(PYTHON) -m venv --clear build/uv
	build/uv/bin/python $(pip_install) uv
	$(uv_compile) --extra notebooks --group build -o requirements.lock $(ARGS)
	for group in site dev; do $(uv_compile:pyproject.toml=) --group $$group -o requirements-$$group.lock $(ARGS) \
	    -c requirements.lock $$(sed -n 's/^\([^ =]*\)==.*/--no-emit-package \1/p' requirements.lock) || exit; done

clean:  ## remove build/ and .cache/, so that every notebook is stale
	rm -rf build .cache

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*  ## \(.*\)/\1	\2/p' Makefile

# .ready is written last, so an interrupted set-up starts over. It holds the path of the folder, because an environment
# that was moved does not work. The filter is the installed nbstripout, not code of the branch that is checked out.
ifneq ($(shell [ -x $(run) ] && cat .venv/.ready),$(realpath .))
.venv/.ready: FORCE
endif
.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import tomllib' 2>/dev/null || \
	    { echo "privregret needs Python 3.11 or later; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up .venv, once: the $$(grep -c == $<) packages of $< (about a minute, longer on a slow line)"
	@rm -rf .venv
	@$(PYTHON) -m venv .venv
	@$(run) $(pip_install) --no-deps --require-hashes -r $<
	@$(run) $(pip_install) --no-deps --no-build-isolation -e .
	@[ ! -e .git ] || git config filter.nbstripout.clean "'$(CURDIR)/$(run)' -Im nbstripout $(git_keeps)" || true
	@pwd -P >$@

# what tests and the site need beyond that
.venv/.dev .venv/.site: .venv/.%: requirements-%.lock .venv/.ready
	@echo "Adding the packages of $<, once"
	@$(run) $(pip_install) --no-deps --require-hashes -r $<
	@touch $@
