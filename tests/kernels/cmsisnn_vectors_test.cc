// SPDX-License-Identifier: Apache-2.0
// CMSIS-NN's own int8 and int16 test vectors: kernels in the Double mode give the same integers. The vectors
// are not part of this repository; without them the test says that it was skipped.
#include "tests/kernels/cmsisnn_vectors.h"

#include <ostream>

#include "tests/kernels/run_case.h"

namespace rushlight {

void PrintTo(const CmsisNnOperator& op, std::ostream* out) { *out << op.name; }

namespace {

class CmsisNnVectors : public testing::TestWithParam<CmsisNnOperator> {};

TEST_P(CmsisNnVectors, AreEqual) {
  if (!std::filesystem::exists(vectors_folder())) GTEST_SKIP() << "no vectors at " << vectors_folder();
  const std::vector<Vector> vectors = cmsisnn_vectors(GetParam().name);
  for (const Vector& vector : vectors) check_case(GetParam().make(vector));
  RecordProperty("vectors", static_cast<int>(vectors.size()));
  EXPECT_FALSE(vectors.empty());
}

std::string test_name(const testing::TestParamInfo<CmsisNnOperator>& op) { return op.param.name; }
INSTANTIATE_TEST_SUITE_P(Layers, CmsisNnVectors,
                         testing::ValuesIn(cmsisnn_layers().begin(), cmsisnn_layers().end()), test_name);
INSTANTIATE_TEST_SUITE_P(Others, CmsisNnVectors,
                         testing::ValuesIn(cmsisnn_others().begin(), cmsisnn_others().end()), test_name);

}  // namespace
}  // namespace rushlight
