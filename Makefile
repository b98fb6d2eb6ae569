# The commands people expect. The build itself is CMake's (CMakePresets.json); this file only strings its steps together.
.DEFAULT_GOAL := program
.NOTPARALLEL:

SETUP ?= scripts/setup
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
FUZZ_ALL_SECONDS ?= 180
# In `make test`, which has half an hour for everything.
FUZZ_ALL_CI_SECONDS ?= 90
FILES ?= $(CURDIR)/src/.*(?<!_test)\.cc$$

BUILD := cmake --build
CTEST := ctest --output-on-failure -j $(JOBS) --test-dir
STAGE := scripts/stage

# Used when they are there: a compiler cache, a fast linker. mold 1.10 must begin segments at pages: else, one time in hundreds, what is to
# be protected after the start begins in a page that does not exist, and the program does not start.
MOLD = -DCMAKE_EXE_LINKER_FLAGS='-fuse-ld=mold -Wl,-z,separate-loadable-segments'
FASTER = $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache) \
         $(if $(shell command -v mold),$(MOLD))
# The thread sanitizer's shadow memory needs a fixed address layout on recent kernels.
FIXED_LAYOUT = $(shell setarch -R true 2>/dev/null && echo setarch -R)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

program: build/build.ninja ui/dist/index.html ## the release program, build/steplens, and what it records with (the default)
	@$(BUILD) build -j $(JOBS)

# The web app, embedded in the program.
ui/dist/index.html: $(shell find ui -name node_modules -prune -o -name dist -prune -o -type f -print) $(wildcard src/analysis/text/*.json)
	@$(SETUP) build
	@cd ui && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

# Only the first configuration is made here; CMake keeps it up to date afterwards.
build/build.ninja:
	@$(SETUP) build
	@cmake --preset release $(FASTER) -DSTEPLENS_BUILD_TESTS=OFF -DSTEPLENS_BUILD_BENCH=OFF

demo: program ## trains a small transformer on two ranks, records it and shows what steplens says about it
	@scripts/demo build/steplens build/demo

test: setup-test ## everything CI runs
	@$(STAGE) "lint" scripts/lint
	@$(STAGE) "clang-tidy on what changed, types of the web app" $(MAKE) --no-print-directory run-checks
	@$(STAGE) "the program and its integration tests" $(MAKE) --no-print-directory run-tests
	@$(STAGE) "unit tests with address and undefined behaviour sanitizers, fuzzing" $(MAKE) --no-print-directory run-asan
	@$(STAGE) "thread sanitizer" $(MAKE) --no-print-directory run-tsan
	@echo "==== all stages passed"

test-fast: setup-test build-tests ## the unit tests alone
	@$(CTEST) build -L fast

# Each file is compiled by itself: after the first time a change is built and tested in seconds.
t: ## one room of src on the debug preset: make t ROOM=analysis [T='Overlap*'], ROOM=ui for the web app
ifeq ($(ROOM),ui)
	@cd ui && npm run --silent check && npm test --silent
else
	@$(if $(ROOM),,echo "make t: which room? e.g. make t ROOM=analysis"; exit 2)
	@test -f build/debug/build.ninja || { $(SETUP) build test && cmake --preset debug $(FASTER) >/dev/null; }
	@$(BUILD) build/debug -j $(JOBS) --target $(ROOM)_test
	@build/debug/tests/$(ROOM)_test --gtest_brief=1 $(if $(T),--gtest_filter='$(T)')
endif

# What takes a compiler: clang-tidy on the sources that differ from BASE, and the types of the web app.
run-checks: ui/dist/index.html
	@$(SETUP) tooling
	@cmake --preset debug $(FASTER) >/dev/null
	@scripts/tidy_change build/debug $(BASE)
	@cd ui && npm run --silent check

lint: setup-test ## layout, layers and file rules
	@scripts/lint

tidy-change: ## clang-tidy over the sources that differ from BASE (main, else the commit before)
	@$(SETUP)
	@cmake --preset debug $(FASTER) >/dev/null
	@scripts/tidy_change build/debug $(BASE)

tidy: ## clang-tidy over src, or over FILES (a regular expression); takes half an hour
	@$(SETUP)
	@cmake --preset debug $(FASTER) >/dev/null
	@run-clang-tidy-19 -quiet -j $(JOBS) -p build/debug '$(FILES)'

format: ## lays out all sources with clang-format
	@$(SETUP) test
	@find src include python/native bench fuzz tests -name '*.h' -o -name '*.cc' | xargs clang-format-19 -i

bench: ## the benchmarks
	@$(SETUP)
	@cmake --preset release $(FASTER) -DSTEPLENS_BUILD_BENCH=ON >/dev/null
	@$(BUILD) build -j $(JOBS)
	@scripts/bench build

install: program ## copies the program below PREFIX (default /usr/local)
	@cmake --install build --prefix $(PREFIX)

clean: ## removes everything built
	@rm -rf build ui/dist ui/node_modules

setup-test:
	@$(SETUP) build test

build-tests: ui/dist/index.html
	@cmake --preset release $(FASTER) -DSTEPLENS_BUILD_TESTS=ON -DSTEPLENS_BUILD_UNIT_TESTS=ON -DSTEPLENS_BUILD_BENCH=OFF >/dev/null
	@$(BUILD) build -j $(JOBS)

# The program as users get it, from outside. The unit tests are compiled once, with the sanitizers (run-asan).
run-tests: ui/dist/index.html
	@cmake --preset release $(FASTER) -DSTEPLENS_BUILD_TESTS=ON -DSTEPLENS_BUILD_UNIT_TESTS=OFF -DSTEPLENS_BUILD_BENCH=OFF >/dev/null
	@$(BUILD) build -j $(JOBS)
	@$(CTEST) build -LE fast
	@scripts/skips build

# One build serves both: the fuzzers need the same instrumentation as the sanitizer run of the tests.
run-asan:
	@cmake --preset asan $(FASTER) >/dev/null
	@$(BUILD) build/asan -j $(JOBS) --target unit_tests fuzzers steplens
	@$(CTEST) build/asan -L fast
	@scripts/skips build/asan
	@scripts/fuzz build/asan $(FUZZ_SECONDS)
	@scripts/fuzz_all build/asan $(FUZZ_ALL_CI_SECONDS) --seed 1  # certain: other seeds are drawn by fuzz-all

# Rooms that start threads or are called from many.
TSAN_ROOMS := base readers collect server
run-tsan:
	@cmake --preset tsan $(FASTER) >/dev/null
	@$(BUILD) build/tsan -j $(JOBS) --target $(TSAN_ROOMS:%=%_test)
	@$(FIXED_LAYOUT) $(CTEST) build/tsan -R '^($(subst $() $(),|,$(TSAN_ROOMS)))$$'
	@scripts/skips build/tsan

fuzz: setup-test ## the fuzz targets, FUZZ_SECONDS each
	@cmake --preset fuzz $(FASTER) >/dev/null
	@$(BUILD) build/fuzz -j $(JOBS) --target fuzzers
	@scripts/fuzz build/fuzz $(FUZZ_SECONDS)

# A sound basis for a release: FUZZ_ALL_SECONDS=7200 or more. Each run draws another seed and prints it.
fuzz-all: setup-test ui/dist/index.html ## every command and the server on damaged captures, FUZZ_ALL_SECONDS in all
	@cmake --preset asan $(FASTER) >/dev/null
	@$(BUILD) build/asan -j $(JOBS) --target steplens
	@scripts/fuzz_all build/asan $(FUZZ_ALL_SECONDS)

.PHONY: help program demo test test-fast t lint tidy tidy-change format bench install clean setup-test build-tests \
        run-checks run-tests run-asan run-tsan fuzz fuzz-all
