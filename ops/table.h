// SPDX-License-Identifier: Apache-2.0
// The op table: one row an op, in ops/rows/ by kind. Names, operands, attributes, verification, text form,
// shape inference, importer names, float evaluation of elementwise ops, quantization and the documentation's
// operator table come from these rows. Adding an op starts there; see HACKING.md.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "ops/rows/boundary.h"
#include "ops/rows/elementwise.h"
#include "ops/rows/functions.h"
#include "ops/rows/identities.h"
#include "ops/rows/layers.h"
#include "ops/rows/movement.h"
#include "ops/rows/reductions.h"

namespace rushlight {

template <size_t... n>
consteval auto joined(const std::array<OpRow, n>&... parts) {
  std::array<OpRow, (n + ...)> all{};
  size_t at = 0;
  ((std::copy(parts.begin(), parts.end(), all.begin() + at), at += n), ...);
  return all;
}

inline constexpr auto kOps =
    joined(rows::kBoundaryOps, rows::kLayerOps, rows::kElementwiseOps, rows::kFunctionOps,
           rows::kReductionOps, rows::kMovementOps, rows::kIdentityOps);

// An op: a row of the table. Written "aten.add"_op, which does not compile for a name that has no row.
enum class Op : uint16_t {};

constexpr std::optional<Op> find_op(std::string_view name) {
  for (size_t i = 0; i < kOps.size(); ++i)
    if (kOps[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}
consteval Op operator""_op(const char* text, size_t length) {
  return find_op(std::string_view(text, length)).value();
}
constexpr const OpRow& row(Op op) { return kOps[static_cast<size_t>(op)]; }
constexpr std::string_view name(Op op) { return row(op).name; }

}  // namespace rushlight
