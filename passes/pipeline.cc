// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include <fmt/format.h>

#include "ir/text.h"
#include "ir/verify.h"

namespace rushlight {

Result<bool> run_passes(Graph& graph, std::span<const Pass> passes, const PassObserver& observe) {
  for (const Pass& pass : passes) {
    if (Status s = pass.run(graph); !s) return forward(s);
    if (Status valid = verify(graph); !valid)
      throw InternalError(fmt::format("pass {} left an invalid graph:\n{}\n{}", pass.name,
                                      valid.error().text(), print(graph, {.max_constant_elements = 8})));
    if (observe && !observe(pass.name, graph)) return false;
  }
  return true;
}

}  // namespace rushlight
