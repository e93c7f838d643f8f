// SPDX-License-Identifier: Apache-2.0
// Files of the source tree that travel inside the executable: kernel headers and the emulated boards'
// start-up code.
#pragma once

#include <string>
#include <vector>

namespace rushlight {

struct EmbeddedFile {
  std::string path;  // relative to the source tree, e.g. "kernels/linear.h"
  std::string text;
};

const std::vector<EmbeddedFile>& embedded_files();

}  // namespace rushlight
