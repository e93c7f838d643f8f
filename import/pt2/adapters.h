// SPDX-License-Identifier: Apache-2.0
// Operators of PyTorch that are spelled differently from the op that they mean.
#pragma once

#include <span>
#include <string_view>

#include "import/pt2/call.h"

namespace rushlight::pt2 {

struct Adapter {
  std::string_view torch;  // in functional form, without "torch.ops."
  Op op;
  // Changes the arguments into those of the op's row; null where the names agree already.
  Status (*rewrite)(Call&) = nullptr;
};

std::span<const Adapter> adapters();
const Adapter* find_adapter(std::string_view torch);

// The op whose row names this operator.
std::optional<Op> find_torch_op(std::string_view torch);

// Some row, adapter or maker of constants knows this operator.
bool is_supported(std::string_view torch);

// aten.zeros, ones and full: the tensor, if `call` is one of them.
std::optional<Result<Tensor>> constant_of(const Call& call);
// The operators that constant_of knows.
std::span<const std::string_view> constant_makers();

}  // namespace rushlight::pt2
