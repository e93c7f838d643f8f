// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/random.h"

namespace rushlight {

// Every family starts from the seed, so that its cases do not depend on the families before it.
std::vector<KernelCase> all_cases(uint64_t seed, int scale) {
  std::vector<KernelCase> cases;
  for (const auto add : kCaseFamilies) {
    Random random{seed};
    add(cases, random, scale);
  }
  return cases;
}

}  // namespace rushlight
