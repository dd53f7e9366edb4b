# The two commands of the README, and what developers use besides. `make help` lists them.
SHELL := /bin/bash
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
VENV ?= .venv
CMAKE_ARGS ?=
CTEST_ARGS ?=
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release
# One test more than cores: some of them wait for a limit to pass.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)

.DEFAULT_GOAL := build
.PHONY: build program bootstrap demo test bench bench-diagnose peers examples lint install wheel torture asan tsan clean help

build: bootstrap ## build the release program build/stoker, and every test
	@mkdir -p $(BUILD)
	@$(CONFIGURE) -DSTOKER_TESTS=ON $(CMAKE_ARGS) > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }
	@grep -h '^-- Python package.*left out' $(BUILD)/configure.log || true
	@ninja -C $(BUILD) -j $(JOBS)

NEEDS = --program
PARTS = stoker_program
# Where torch cannot be had, the trainer is no part of it and the demo says so.
demo: NEEDS = --trainer
demo: PARTS = stoker_program trainer
# A folder that is already configured keeps its tests; a new one does without what only they need.
program: ## build build/stoker alone, with nothing installed that only tests and lint need
	@tools/bootstrap $(NEEDS)
	@mkdir -p $(BUILD)
	@$(CONFIGURE) $$(test -e $(BUILD)/CMakeCache.txt || echo -DSTOKER_TESTS=OFF) $(CMAKE_ARGS) \
	  > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }
	@ninja -C $(BUILD) -j $(JOBS) $(PARTS)

bootstrap: ## install packages and the Python environment (needs root only when something is missing)
	@tools/bootstrap

demo: program ## the whole story on this machine, into demo/
	@$(BUILD)/stoker demo --out demo

test: build ## build and run every test
	@cd $(BUILD) && ctest --output-on-failure -j $(TEST_JOBS) $(CTEST_ARGS)

bench: build ## run the benchmarks, each checks its own result
	@tools/run_benchmarks.py --build $(BUILD)

bench-diagnose: build ## plant 32 causes and print how often `stoker diagnose` names them (about an hour)
	@$(VENV)/bin/python -m bench.diagnose.inject --build $(BUILD) && $(VENV)/bin/python -m bench.diagnose.loaders --stoker $(BUILD)/stoker && $(VENV)/bin/python -m tools.make_pages

peers: build ## race the feed against torch, DALI, Grain, tf.data, SPDL, Lhotse, Streaming and WebDataset (about 20 minutes)
	@$(VENV)/bin/python -m bench.peers.feed --stoker $(BUILD)/stoker && $(VENV)/bin/python -m tools.make_pages

examples: build ## run the Python examples, each with its framework in an environment of its own (downloads them; 6 GB of disk, more with CUDA)
	@$(VENV)/bin/python tools/run_examples.py --build $(BUILD)

lint: build ## formatting, clang-tidy, layers, instructions, sizes, ruff, mypy
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" tools/lint.py --build $(BUILD) --jobs $(JOBS)

install: build ## install into PREFIX (default /usr/local)
	@cmake --install $(BUILD) --prefix $(PREFIX)

wheel: ## wheels of the Python package for every Python 3.10 to 3.13 found here, into dist/
	@python3 tools/make_wheel.py

torture: build ## what takes minutes: faults at every call and allocation, limits, a million batches
	@tools/torture --build $(BUILD)

asan tsan: bootstrap ## the tests under a sanitizer, in a build folder of their own
	@cmake --preset $@ > /dev/null
	@ninja -C build-$@ -j $(JOBS)
	@cd build-$@ && ctest --output-on-failure -j $(TEST_JOBS) $(CTEST_ARGS)

clean: ## remove what was built
	@rm -rf build build-* demo dist

help: ## this list
	@grep -hE '^[a-z -]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z -]+):.*## /\1\t/' | expand -t 16
