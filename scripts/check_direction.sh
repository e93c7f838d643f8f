#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads the includes and fails on an arrow against the design: a folder may include itself and those listed for it.
#   kernels   types <- ops <- ir <- {import, eval} <- passes <- quant <- cortex_m <- plan <- {emit, sim} <- run
#   <- report <- driver <- cli
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A allowed=(
  [kernels]=""
  [types]=""
  [ops]="types"
  [ir]="types ops"
  [import]="types ops ir"
  [eval]="types ops ir"
  [passes]="types ops ir eval"
  [quant]="types ops ir eval passes"
  [cortex_m]="types ops ir kernels"
  [plan]="types kernels cortex_m"
  [emit]="types kernels cortex_m plan"
  [sim]="types kernels cortex_m plan"
  [run]="types kernels cortex_m plan emit"
  [report]="types kernels cortex_m plan emit sim run"
  [driver]="types ops ir import eval passes quant kernels cortex_m plan emit sim run report"
  [cli]="types ops ir import eval passes quant kernels cortex_m plan emit sim run report driver"
)

failures=0
for folder in "${!allowed[@]}"; do
  [ -d "$folder" ] || continue
  while IFS=: read -r file line text; do
    included=$(sed -E 's/.*#include "([^"]+)".*/\1/' <<<"$text")
    from=${included%%/*}
    # Device sources of run/ are built against emitted folders, whose layout is their own.
    [[ $file == run/boards/* || $file == run/plugin/* ]] && continue
    # A name without a folder stands in text that the emitter writes.
    [[ $included == */* ]] || continue
    [[ $from == "$folder" ]] && continue
    [[ " ${allowed[$folder]} " == *" $from "* ]] && continue
    echo "$file:$line: $folder must not include \"$included\" (allowed: ${allowed[$folder]:-nothing else})"
    failures=$((failures + 1))
  done < <(grep -rnE '^#include "' "$folder" --include=*.h --include=*.cc || true)
done
if [ "$failures" -gt 0 ]; then
  echo "$failures includes point the wrong way"
  exit 1
fi
echo "dependency direction: good"
