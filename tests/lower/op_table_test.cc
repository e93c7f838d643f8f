// SPDX-License-Identifier: Apache-2.0
// No row of the op table without a way to the device.
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "cortex_m/lower.h"
#include "ops/table.h"

namespace rushlight {
namespace {

TEST(OpTable, EveryRowIsLoweredOrRemovedByAPass) {
  for (size_t i = 0; i < kOps.size(); ++i)
    EXPECT_TRUE(has_lowering(static_cast<Op>(i)))
        << kOps[i].name << " has a row in ops/table.h but no lowering rule";
}

TEST(OpTable, TorchNamesAreUnique) {
  std::set<std::string_view> names;
  for (const OpRow& op : kOps)
    for (std::string_view torch : op.torch)
      if (!torch.empty()) {
        EXPECT_TRUE(names.insert(torch).second) << torch;
      }
}

}  // namespace
}  // namespace rushlight
