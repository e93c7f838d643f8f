#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds rushlight, compiles the digits model for two cores and runs it there (emulated) on real samples.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh build
[ -f build/release/build.ninja ] || cmake --preset release -DRUSHLIGHT_TESTS=OFF >/dev/null
# Ninja's own progress line on a terminal; the whole log only if something fails.
if [ -t 1 ]; then
  cmake --build --preset release --target rushlight rushlight_icount
else
  cmake --build --preset release --target rushlight rushlight_icount >build/build.log || { cat build/build.log; exit 1; }
fi

model=models/digits
rushlight=build/release/rushlight
for target in cortex-m55 cortex-m4; do
  out=build/quickstart/$target
  echo
  "$rushlight" compile "$model/digits.pt2" --calibrate "$model/digits_calib.npz:x" --target "$target" -o "$out" |
    grep -E "^digits for|arena"
  "$rushlight" run "$model/digits.pt2" --calibrate "$model/digits_calib.npz:x" --target "$target" \
    --input "$model/digits_test.npz:x" --labels "$model/digits_test.npz:y"
  echo "  firmware: $out"
done
echo
echo "Next: $rushlight compile your_model.pt2 --calibrate your_samples.npz:x --target cortex-m4 -o out/"
