# Everything runs in .venv, which the first target that needs it creates.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
BROWSER := $(VENV)/.browser
EXTRAS := dev,mujoco,atari,minigrid,vizdoom,pettingzoo,envpool,wandb,tensorboard,parquet,ray,sweep

.PHONY: demo test check lint format fast presets slow web web-check docs wheel kill200 host-kills soak bench clean

demo: $(READY) ## train CartPole until it is solved, show the result and next steps
	@$(BIN)/gymnast train CartPole-v1
	@echo
	@$(BIN)/gymnast show @last
	@echo
	@echo "Put it on your path:        . $(BIN)/activate"
	@echo "See it in the browser:      gymnast studio @last"
	@echo "Watch one while it trains:  gymnast train LunarLander-v3 --studio"
	@echo "List runs:                  gymnast runs"

test: check presets slow ## what CI runs: check, every preset, then the slow tests

check: lint web-check fast ## run on every change

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/gymnast config check

format: $(TOOLS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fast: $(TOOLS)
	$(BIN)/pytest -q -n 2 -m "not slow"

presets: $(TOOLS) ## every built-in preset: train briefly, evaluate, record, replay, check its facts
	$(BIN)/gymnast check --all

slow: $(TOOLS) $(BROWSER)
	$(BIN)/pytest -q -n 2 -m slow

web: ## build the studio's pages into the package; needs Node 20.19 or newer
	cd web && npm install --no-save && npm run build

web-check: ## types and unit tests of the pages, and whether the built files are current
	web/check

docs: $(TOOLS) ## regenerate the generated pages
	$(BIN)/python -m gymnast.metrics.docs
	$(BIN)/python -m gymnast.runs.layout > docs/run-directory.md
	$(BIN)/python -m gymnast.insight.results > docs/results.md
	$(BIN)/python docs/images/results.py
	$(BIN)/python docs/algorithms/make.py

wheel: $(READY) ## build dist/*.whl for this machine, with the native engine
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .

kill200: $(TOOLS) ## kill -9 runs of every backend and engine 200 times, resume and compare: 25 minutes
	$(BIN)/python -m tests.e2e.kills --kills 200 --store

host-kills: $(TOOLS) ## kill -9 100 hosts and 20 trainings on hosts, resume elsewhere and compare: 12 minutes
	$(BIN)/python -m tests.e2e.host_kills --kills 100 --learner-kills 20 --store

soak: $(TOOLS) ## one hour of LunarLander and tag with live control, stops and kills; measures memory, handles, disk
	$(BIN)/python -m tests.e2e.soak --minutes 60 --out docs/studies/soak.json

bench: $(READY) ## compare with other libraries: one hour, on an otherwise idle machine
	$(BIN)/pip install --quiet "gymnast[bench]"
	benchmarks/setup
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.recurrent
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.recording
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.backends
	$(BIN)/python -m benchmarks.tag
	$(BIN)/python -m benchmarks.solving

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis

# gymnast with its native engine: all that the demo needs.
$(READY): pyproject.toml CMakeLists.txt $(wildcard native/*)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable ".[box2d,toy-text]"
	touch $@

# What tests need in addition: tools, and the environments of every family. gymnast is installed already,
# so this installs only the dependencies of the extras and builds nothing.
$(TOOLS): $(READY)
	$(BIN)/pip install --quiet "gymnast[$(EXTRAS)]"
	$(BIN)/pip install --quiet --no-deps "MinAtar>=1.0.15" # without its plotting dependencies
	touch $@

# Chromium, in which tests open the studio. Where it cannot be installed, these tests are skipped by name.
$(BROWSER): $(TOOLS)
	command -v chromium >/dev/null || if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
		then apt-get update -qq && apt-get install -y -qq chromium >/dev/null; \
		else echo "Chromium is not installed: tests of the studio's pages will be skipped."; fi
	touch $@
