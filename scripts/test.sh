#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check of the project: formatting, dependency direction, unit, pass, kernel, end-to-end and must-fail tests, the
# symbols of kernels, then the tests that need no emulator again under sanitizers, with a fuzz smoke.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { echo "== $* ($(date +%T))"; }

step packages
scripts/install_packages.sh test

step format
mapfile -t sources < <(git ls-files '*.cc' '*.h' '*.c' '*.cpp')
clang-format-19 --dry-run -Werror "${sources[@]}"

step dependency direction
scripts/check_direction.sh

step release build
cmake --preset release -DRUSHLIGHT_TESTS=ON >/dev/null
cmake --build --preset release 2>&1 | tail -n 1

step kernel symbols
scripts/check_symbols.sh

step sanitizer build
cmake --preset debug-sanitize >/dev/null
cmake --build --preset debug-sanitize 2>&1 | tail -n 1

step sanitizer tests
ctest --preset debug-sanitize -j2 2>&1 | tail -n 8

step emulated boards
# Tests of the cores skip where a tool is missing, for people without them; here that would hide everything.
build/release/rushlight verify models/digits/digits_pt2e.pt2 --target cortex-m4 --samples 1

step tests
ctest --preset release -j2 2>&1 | grep -vE '^ *[0-9]+/[0-9]+ Test .*Passed|^ *Start '
