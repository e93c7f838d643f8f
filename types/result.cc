// SPDX-License-Identifier: Apache-2.0
#include "types/result.h"

namespace rushlight {

std::string Error::text() const {
  std::string lines;
  for (const Diagnostic& d : diagnostics) {
    if (!lines.empty()) lines += '\n';
    if (!d.where.empty()) lines += d.where + ": ";
    lines += d.what;
  }
  return lines;
}

}  // namespace rushlight
