// SPDX-License-Identifier: Apache-2.0
// What a target such as "aten.add_.Tensor" says by its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rushlight::pt2 {

// "aten.add.Tensor" for "aten.add_.Tensor"; nothing for a target that does not write into its first operand.
// Ops whose underscore does not change any element ("aten.detach_") give nothing either.
std::optional<std::string> functional_form(std::string_view target);

// The result may share memory with the first operand.
bool may_alias(std::string_view target);

}  // namespace rushlight::pt2
