#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles every row of the kernel table alone for every core, with nothing but its family header and no library, and
# fails on an undefined symbol outside a short list. Usage: scripts/check_symbols.sh [core...]
set -eu
cd "$(dirname "$0")/.."
CXX=${ARM_CXX:-arm-none-eabi-g++}
NM=${ARM_NM:-arm-none-eabi-nm}
CORES=${*:-cortex-m0 cortex-m3 cortex-m4 cortex-m7 cortex-m33 cortex-m55}
command -v "$CXX" >/dev/null || { echo "check_symbols: $CXX is not installed" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "expression header" of each row: row<&EXPRESSION>("name", Mode::m, "dialect", "header", ...
tr '\n' ' ' <kernels/table.h |
  grep -o 'row<&[^(]*>( *"[^"]*",[^"]*"[^"]*",[^"]*"[^"]*"' |
  sed 's/^row<&\([^(]*\)>( *"[^"]*",[^"]*"[^"]*",[^"]*"\([^"]*\)"/\1|\2/' >"$work/rows"
rows=$(wc -l <"$work/rows")
[ "$rows" -gt 0 ] && [ "$rows" -eq "$(grep -c 'row<&' kernels/table.h)" ] ||
  { echo "check_symbols: cannot read the rows of kernels/table.h" >&2; exit 3; }

index=0
while IFS='|' read -r expression header; do
  index=$((index + 1))
  printf '#include "%s"\nnamespace rushlight::kernels {\n[[gnu::used]] const auto row = &%s;\n}\n' \
    "$header" "$expression" >"$work/$index.cc"
  for core in $CORES; do echo "$core $index $header $expression"; done
done <"$work/rows" >"$work/jobs"

cat >"$work/one.sh" <<'EOF'
# core index header expression
object=$WORK/$1_$2.o
$CXX -std=c++17 -mcpu=$1 -mthumb -O2 -ffreestanding -fno-exceptions -fno-rtti -nostdlib -r -ffp-contract=off \
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wno-sign-conversion -I. "$WORK/$2.cc" -o "$object" || exit 1
allowed='memcpy|memset'
case $1 in  # no 64-bit multiply, division or 64-bit shift instructions
  cortex-m0|cortex-m3) allowed="$allowed|__aeabi_(lmul|u?idiv(mod)?|u?ldivmod|llsl|llsr|lasr)" ;;
esac
[ "$3" = kernels/quantize.h ] && allowed="$allowed|__aeabi_(f[a-z0-9]*|u?i2f)"
unexpected=$($NM -u "$object" | awk '{print $2}' | grep -vxE "$allowed" | tr '\n' ' ')
[ -z "$unexpected" ] || { echo "$4 on $1 needs: $unexpected" >&2; exit 1; }
EOF
export WORK="$work" CXX NM
xargs -P "$(nproc)" -L 1 sh "$work/one.sh" <"$work/jobs" || { echo "check_symbols: failed" >&2; exit 1; }
echo "check_symbols: $rows kernels need nothing but memcpy, memset and the compiler's helpers on: $CORES"
