# The commands people expect. The build itself is CMake's (CMakePresets.json); this file only runs its steps.
.DEFAULT_GOAL := program
.NOTPARALLEL:

SETUP ?= scripts/setup
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
FUZZ_ALL_SECONDS ?= 180
# For `make test`, which has to finish within half an hour.
FUZZ_ALL_CI_SECONDS ?= 90
FILES ?= $(CURDIR)/src/.*(?<!_test)\.cc$$

BUILD := cmake --build
CTEST := ctest --output-on-failure -j $(JOBS) --test-dir
STAGE := scripts/stage

# Used if installed: a compiler cache, a fast linker. mold 1.10: page-align segments, or about one link in several hundred yields a binary that cannot
# start.
MOLD = -DCMAKE_EXE_LINKER_FLAGS='-fuse-ld=mold -Wl,-z,separate-loadable-segments'
FASTER = $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache) \
         $(if $(shell command -v mold),$(MOLD))
# The thread sanitizer's shadow memory needs a fixed address layout on recent kernels.
FIXED_LAYOUT = $(shell setarch -R true 2>/dev/null && echo setarch -R)

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

program: build/build.ninja ui/dist/index.html ## build the release program, build/steplens, and the recorder (default)
	@$(BUILD) build -j $(JOBS)

# The web app, embedded in the program.
ui/dist/index.html: $(shell find ui -name node_modules -prune -o -name dist -prune -o -type f -print) $(wildcard src/analysis/text/*.json)
	@$(SETUP) build
	@cd ui && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

# Only for the first configuration; CMake keeps it up to date afterwards.
build/build.ninja:
	@$(SETUP) build
	@cmake --preset release $(FASTER) -DSTEPLENS_BUILD_TESTS=OFF -DSTEPLENS_BUILD_BENCH=OFF

demo: program ## train a small transformer on two ranks, record it and show the results
	@scripts/demo build/steplens build/demo

test: setup-test ## run everything CI runs
	@$(STAGE) "lint" scripts/lint
	@$(STAGE) "clang-tidy on what changed, types of the web app" $(MAKE) --no-print-directory run-checks
	@$(STAGE) "the program and its integration tests" $(MAKE) --no-print-directory run-tests
	@$(STAGE) "unit tests with address and undefined behaviour sanitizers, fuzzing" $(MAKE) --no-print-directory run-asan
	@$(STAGE) "thread sanitizer" $(MAKE) --no-print-directory run-tsan
	@echo "==== all stages passed"

test-fast: setup-test build-tests ## run only the unit tests
	@$(CTEST) build -L fast

# The quick preset needs clang-16; without it the debug preset does the same, slower.
T_PRESET = $(if $(shell command -v clang++-16),quick,debug)
t: ## build and test one room of src: make t ROOM=analysis [T='Overlap*'], ROOM=ui for the web app
ifeq ($(ROOM),ui)
	@cd ui && npm run --silent check && npm test --silent
else
	@$(if $(ROOM),,echo "make t: which room? e.g. make t ROOM=analysis"; exit 2)
	@test -f build/$(T_PRESET)/build.ninja || { $(SETUP) build test && cmake --preset $(T_PRESET) $(FASTER) >/dev/null; }
	@$(BUILD) build/$(T_PRESET) -j $(JOBS) --target $(ROOM)_test
	@build/$(T_PRESET)/tests/$(ROOM)_test --gtest_brief=1 $(if $(T),--gtest_filter='$(T)')
endif

# Checks that need a compiler: clang-tidy on the sources that differ from BASE, and the types of the web app.
run-checks: ui/dist/index.html
	@$(SETUP) tooling
	@cmake --preset debug $(FASTER) >/dev/null
	@scripts/tidy_change build/debug $(BASE)
	@cd ui && npm run --silent check

lint: setup-test ## check layout, layers and file rules
	@scripts/lint

tidy-change: ## run clang-tidy on the sources that differ from BASE (main, else the previous commit)
	@$(SETUP)
	@cmake --preset debug $(FASTER) >/dev/null
	@scripts/tidy_change build/debug $(BASE)

tidy: ## run clang-tidy on src, or on FILES (a regular expression); takes half an hour
	@$(SETUP)
	@cmake --preset debug $(FASTER) >/dev/null
	@run-clang-tidy-19 -quiet -j $(JOBS) -p build/debug '$(FILES)'

format: ## format all sources with clang-format
	@$(SETUP) test
	@find src include python/native bench fuzz tests -name '*.h' -o -name '*.cc' | xargs clang-format-19 -i

bench: ## run the benchmarks
	@$(SETUP)
	@cmake --preset release $(FASTER) -DSTEPLENS_BUILD_BENCH=ON >/dev/null
	@$(BUILD) build -j $(JOBS)
	@scripts/bench build

install: program ## install the program below PREFIX (default /usr/local)
	@cmake --install build --prefix $(PREFIX)

package: program ## make the Debian packages (build/*.deb)
	@$(BUILD) build --target package
	@scripts/check_package build/steplens_$$(cat VERSION)_$$(dpkg --print-architecture).deb

clean: ## remove everything built
	@rm -rf build ui/dist ui/node_modules

setup-test:
	@$(SETUP) build test

build-tests: ui/dist/index.html
	@cmake --preset release $(FASTER) -DSTEPLENS_BUILD_TESTS=ON -DSTEPLENS_BUILD_UNIT_TESTS=ON -DSTEPLENS_BUILD_BENCH=OFF >/dev/null
	@$(BUILD) build -j $(JOBS)

# Tests of the release program as users get it. The unit tests are compiled only once, with the sanitizers (run-asan).
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
	@scripts/fuzz_all build/asan $(FUZZ_ALL_CI_SECONDS) --seed 1  # fixed seed; fuzz-all draws others

# Rooms that start threads or are called from several.
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

.PHONY: help program demo test test-fast t lint tidy tidy-change format bench install package clean setup-test build-tests \
        run-checks run-tests run-asan run-tsan fuzz fuzz-all
