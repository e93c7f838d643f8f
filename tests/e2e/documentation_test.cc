// SPDX-License-Identifier: Apache-2.0
// Pages that are generated must be as the tables are.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "driver/operators.h"
#include "tests/e2e/programs.h"

namespace rushlight::e2e {
namespace {

TEST(Documentation, OperatorsPageIsTheOpTable) {
  std::ostringstream page;
  page << std::ifstream(source_file("docs/operators.md")).rdbuf();
  EXPECT_EQ(page.str(), operators_page()) << "rushlight ops --markdown > docs/operators.md";
}

}  // namespace
}  // namespace rushlight::e2e
