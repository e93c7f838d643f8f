// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "types/dtype.h"
#include "types/result.h"
#include "types/shape.h"

namespace rushlight {

struct NpyHeader {
  DType dtype = DType::float32;
  bool fortran_order = false;
  Shape shape;
};

// The Python dictionary at the start of an .npy file, e.g.
// "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".
Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& where);
std::string npy_header(const NpyHeader& header);

}  // namespace rushlight
