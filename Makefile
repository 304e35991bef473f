# `make help` lists the targets. ARGS="..." is passed on to the command of a target, PYTHON=... is for .ci/set-up.
ARGS ?=
run := .venv/bin/python
uv_compile := build/uv/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --fork-strategy fewest \
    --generate-hashes --no-annotate --no-emit-index-url --custom-compile-command "make lock" --quiet
count = $(words $(wildcard $(1)/*/*.ipynb))
# while a command runs, no set-up removes .venv under it (where there is flock)
hold := exec 9<.; flock -s 9 2>/dev/null;

.DELETE_ON_ERROR:
.PHONY: all test mutants smoke status site lab bench paper lint lock filter clean help FORCE

all: .venv/.ready  ## set up, then run every stale notebook (the default)
	@$(hold) exec $(run) -m privregret reproduce $(ARGS)

# three at a time, since some wait for processes and clocks
test: .venv/.dev  ## run the tests, with third-party packages as references
	@$(hold) exec $(run) -m pytest -n 3 --dist loadgroup --max-worker-restart 0 $(ARGS)

mutants: .venv/.dev  ## plant faults, one by one, and print those that no test catches (ARGS="--random 20 --seed 1")
	@$(hold) exec $(run) tests/mutants.py $(ARGS)

smoke: .venv/.ready  ## run every notebook with small parameters, into build/
	@$(hold) exec $(run) -m privregret reproduce --smoke $(ARGS)

status: .venv/.ready  ## list the stale notebooks and the reasons
	@$(hold) exec $(run) -m privregret status $(ARGS)

site: .venv/.site  ## build a static site of docs, notebooks and figures: build/site/index.html
	@rm -rf build/source build/site
	@mkdir -p build/source
	@cp -R docs notebooks figures CONTRIBUTING.md CHANGELOG.md build/source
	@cat README.md docs/index.md >build/source/index.md
	@[ $(call count,build/notebooks) = $(call count,notebooks) ] || echo \
	    "$(call count,build/notebooks) of $(call count,notebooks) notebooks have run: the other pages have no outputs (run make before)"
	@$(hold) exec $(run) -m sphinx -W --keep-going -q -j 2 -c docs build/source build/site $(ARGS)

lab: .venv/.ready  ## open the notebooks in JupyterLab
	@$(hold) cd notebooks && exec env JUPYTER_CONFIG_PATH="$$PWD/.jupyter$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}" \
	    ../$(run) -m jupyterlab $(if $(filter 0,$(shell id -u)),--allow-root) $(ARGS)

bench: .venv/.ready  ## time the kernels
	@$(hold) exec $(run) benchmarks/run.py $(ARGS)

paper:  ## typeset the draft, the note and the software paper with the published figures and numbers, into build/paper
	@command -v latexmk >/dev/null || \
	    { echo "make paper needs latexmk (Debian: apt install latexmk lmodern texlive-latex-recommended)" >&2; exit 1; }
	cd paper && FORCE_SOURCE_DATE=1 SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 0) \
	    latexmk -pdf -Werror -interaction=nonstopmode -halt-on-error -outdir=../build/paper main.tex note.tex software.tex

lint: .venv/.dev  ## check style, format and layers
	$(run) -m ruff check
	$(run) -m ruff format --check
	.venv/bin/lint-imports --cache-dir .cache/imports

lock:  ## update the lock files (ARGS=--upgrade: to the newest versions)
	$${PYTHON:-python3} -m venv --clear build/uv
	build/uv/bin/python -m pip install --quiet uv
	$(uv_compile) --extra notebooks --group build -o requirements.lock $(ARGS)
	for group in site dev; do $(uv_compile:pyproject.toml=) --group $$group -o requirements-$$group.lock $(ARGS) \
	    -c requirements.lock $$(sed -n 's/^\([^ =]*\)==.*/--no-emit-package \1/p' requirements.lock) || exit; done

clean:  ## remove build/ and .cache/, so that every notebook is stale
	rm -rf build .cache

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*  ## \(.*\)/\1	\2/p' Makefile

filter:  ## have git keep no outputs of notebooks, as every target does that sets up
	@sh .ci/set-up filter

# .ready and what tests and the site need beyond it: made again if they are not as the locks ask, whatever their times
.venv/.ready: FORCE
	@sh .ci/set-up
.venv/.dev .venv/.site: .venv/.%: .venv/.ready FORCE
	@sh .ci/set-up $*
