# SPDX-License-Identifier: BSD-3-Clause
# The one entry point: every target brings what it needs, so `make demo` works on a fresh clone.
SHELL := /bin/bash
ROOT := $(CURDIR)
VENV ?= $(ROOT)/.venv
BUILD ?= $(ROOT)/cmake-out
PRESET ?= linux
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
MODEL ?= mv2
PYTEST_ARGS ?=
SHARD ?=
PROCESSES := -n $(JOBS) --dist loadfile
WHEEL_ARGS ?=
RELEASE ?= $(ROOT)/build/release
PYTHON_BIN := $(VENV)/bin/python

export VENV
export VIRTUAL_ENV := $(VENV)
export PATH := $(VENV)/bin:$(PATH)
export EXECUTORCH_BUILD_DIR := $(BUILD)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help setup configure build wheel demo check test test-slow test-full tiers unit bench lint format size requirements api docs site release clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## System packages, .venv, Python packages, third-party sources
	@./scripts/setup.sh

configure: setup
	@if [ ! -f "$(BUILD)/build.ninja" ]; then cmake --preset $(PRESET) -B "$(BUILD)"; fi

build: configure ## Build everything of the preset (PRESET=linux) into cmake-out
	@cmake --build "$(BUILD)"

wheel: setup ## A release wheel in dist/, for glibc 2.27 and later (WHEEL_ARGS="--python python3.12": for other interpreters)
	@$(PYTHON_BIN) scripts/release_wheel.py $(WHEEL_ARGS)

demo: configure ## Export MobileNetV2 (MODEL=mv2; MODEL=smollm2 writes text), run it from Python, C++ and on XNNPACK, compare with eager PyTorch
	@cmake --build "$(BUILD)" --target python_modules executor_runner
	@$(PYTHON_BIN) -m executorch.examples.demo.$(if $(filter smollm2,$(MODEL)),smollm2,demo --model $(MODEL))

check: build ## Two minutes: C++ tests, lint, and the Python tests that the change reaches by imports, on the tree
	@ctest --test-dir "$(BUILD)" --output-on-failure -j $(JOBS)
	@./scripts/lint.sh
	@$(PYTHON_BIN) -m executorch.tools.tiers reached -- $(PYTEST_ARGS)

test: build ## Six minutes: C++ tests (ctest), then the fast Python tests (pytest) on the wheel, installed in build/installed
	@rm -rf "$(BUILD)/results"
	@ctest --test-dir "$(BUILD)" --output-on-failure -j $(JOBS)
	@$(PYTHON_BIN) -m executorch.tools.skipped "$(BUILD)/results"
	@$(PYTHON_BIN) scripts/installed.py -q $(PROCESSES) --tier fast $(PYTEST_ARGS)

test-slow: build ## The Python tests of more than a second; SHARD=3/8: one part of eight, SHARD=drawn: the commit's
	@$(PYTHON_BIN) scripts/installed.py --reuse -q $(PROCESSES) --tier slow $(if $(SHARD),--shard $(SHARD)) $(PYTEST_ARGS)

test-full: build ## Everything there is, sanitizers and interoperability included; goes on where it stopped; writes docs/results
	@$(PYTHON_BIN) -m executorch.tools.results.full_run

tiers: setup ## Whether a test of the last runs took three times what its tier allows
	@$(PYTHON_BIN) -m executorch.tools.tiers over

unit: check ## The same as check

bench: build ## Operators and networks beside eager PyTorch, in the same run
	@$(PYTHON_BIN) -m tools.bench.ops
	@$(PYTHON_BIN) -m executorch.tools.bench.networks

lint: setup ## ruff, clang-format, and the rules of the repository
	@./scripts/lint.sh

format: setup ## Lay out C++ and Python sources
	@./scripts/lint.sh --fix

size: setup ## Size of the core with the verifier, and of each operator, against their limits
	@./test/size/size.sh

requirements: setup ## Which promises the last runs of the tests proved, and which are superseded, waived or open
	@$(PYTHON_BIN) -m executorch.tools.requirements.report

api: setup ## Which documented C++ and Python names exist here (build/api.md)
	@$(PYTHON_BIN) -m executorch.tools.api.report --write build/api.md --generated "$(BUILD)/generated"

docs: requirements api ## Regenerate the generated pages
	@$(PYTHON_BIN) -m executorch.tools.requirements.report --page test/requirements/state.md >/dev/null
	@$(PYTHON_BIN) -m tools.operator_page
	@$(PYTHON_BIN) -m tools.backend_operators --pages

site: setup ## The documents as pages with a search: build/site/html/index.html; after make build with the texts of native modules
	@$(PYTHON_BIN) -m executorch.tools.site

release: wheel build ## Everything of a release that can be made here, with sums, in a folder (RELEASE=build/release); CONTRIBUTING.md has the steps
	@$(PYTHON_BIN) -m executorch.tools.packaging.release $(RELEASE)

clean: ## Remove build trees and caches; leaves .venv
	@./install_executorch.sh --clean
