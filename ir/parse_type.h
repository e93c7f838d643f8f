// SPDX-License-Identifier: Apache-2.0
// The parts of the text form below the statement: types and constants' elements.
#pragma once

#include "ir/scanner.h"
#include "types/tensor.h"
#include "types/tensor_type.h"

namespace rushlight {

// "i8[1,3,8,8]{channels_last}<0.5:-3>"
bool parse_type(Scanner& in, TensorType& type);

// The elements of a constant, at least one: "[0.5, -1.0]", all of them, or what follows "splat", one for all.
bool parse_list(Scanner& in, Tensor& data);
bool parse_splat(Scanner& in, Tensor& data);

}  // namespace rushlight
