// SPDX-License-Identifier: Apache-2.0
// Identities at inference: passes remove them before anything else.
#pragma once

#include "ops/op.h"
#include "ops/shapes.h"

namespace rushlight::rows {

using enum AttributeKind;

inline constexpr auto kIdentityOps = std::to_array<OpRow>({
    {.name = "aten.dropout",
     .summary = "the identity at inference",
     .operands = {{{"input"}}},
     .attributes = {{{"p", real, "0.5"}, {"train", boolean, "false"}}},
     .shape = shapes::same_as_input,
     .quant = QuantRule::same,
     .torch = {"aten.dropout.default", "aten.feature_dropout.default", "aten.alpha_dropout.default"}},
    {.name = "aten.alias",
     .summary = "the identity",
     .operands = {{{"input"}}},
     .shape = shapes::same_as_input,
     .quant = QuantRule::same,
     .torch = {"aten.alias.default", "aten.detach.default", "aten.lift_fresh_copy.default",
               "aten.clone.default"}},
    {.name = "aten.contiguous",
     .summary = "the identity: memory order is the compiler's business",
     .operands = {{{"input"}}},
     .shape = shapes::same_as_input,
     .quant = QuantRule::same,
     .torch = {"aten.contiguous.default"}},
});

}  // namespace rushlight::rows
