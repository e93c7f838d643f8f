// SPDX-License-Identifier: Apache-2.0
// Samples that do not fit the model.
#include <cmath>

#include "import/npz/npz.h"
#include "tests/import/edit.h"
#include "tests/must_fail/command.h"

namespace rushlight::must_fail {
namespace {

class BadSamples : public CommandTest {
 protected:
  // The digits model takes x [1,1,8,8].
  void expect_bad(const std::string& specification, const std::string& error) {
    expect_refusal({"compile", digits("digits.pt2"), "--calibrate", specification, "-o", "out"}, 2, {error});
    expect_refusal({"run", digits("digits_pt2e.pt2"), "--input", specification, "--output", "y.npz"}, 2,
                   {error});
  }
  void expect_bad(const Tensor& x, const std::string& error) {
    write("bad.npz", npz_bytes({{"x", x}}));
    expect_bad("bad.npz:x", "bad.npz|" + error);
  }
};

Tensor filled(Shape shape, float value) {
  Tensor tensor(DType::float32, std::move(shape));
  for (float& x : tensor.as<float>()) x = value;
  return tensor;
}

TEST_F(BadSamples, Shape) {
  expect_bad(filled({4, 1, 8, 7}, 0.5F), "[4,1,8,7]|'x'|[1,1,8,8]");
  expect_bad(filled({8, 8}, 0.5F), "[8,8]|'x'|[1,1,8,8]");
  expect_bad(filled({}, 0.5F), "'x'|[1,1,8,8]");
}

TEST_F(BadSamples, DType) { expect_bad(Tensor(DType::int32, {4, 1, 8, 8}), "i32|'x'|f32"); }

TEST_F(BadSamples, Empty) { expect_bad(Tensor(DType::float32, {0, 1, 8, 8}), "no samples"); }

TEST_F(BadSamples, NotFinite) {
  for (const float value : {std::nanf(""), INFINITY, -INFINITY}) {
    Tensor x = filled({4, 1, 8, 8}, 0.5F);
    x.set(130, static_cast<double>(value));
    expect_bad(x, std::string(std::isnan(value) ? "nan" : "inf") + "|sample 2|finite");
  }
}

TEST_F(BadSamples, Names) {
  expect_bad(digits("digits_calib.npz:z"), "digits_calib.npz|'z'|x [100,1,8,8]");
  expect_bad("y=" + digits("digits_calib.npz:x"), "inputs are: x");
  expect_bad("none.npz:x", "none.npz|no such file");
  expect_bad("samples.csv", "samples.csv|.npz");
}

TEST_F(BadSamples, Files) {
  write("bad.npz", test::to_bytes("PK but no archive"));
  expect_bad("bad.npz:x", "bad.npz");
  write("bad.npy", test::to_bytes("\x93NUMPY\x01"));
  expect_bad("bad.npy", "bad.npy");
}

TEST_F(BadSamples, UnequalCounts) {
  write("x.npz", npz_bytes({{"x", filled({3, 1, 6}, 1)}}));
  write("y.npz", npz_bytes({{"y", filled({2, 1, 3}, 1)}}));
  const std::vector<std::string> only_x = {
      "compile", fixture("import/two_inputs.pt2"), "--calibrate", "x=x.npz", "-o", "out"};
  expect_refusal(only_x, 2, {"--calibrate|'y'"});
  std::vector<std::string> both = only_x;
  both.insert(both.end(), {"--calibrate", "y=y.npz"});
  expect_refusal(both, 2, {"--calibrate|2|'y'|3|'x'"});
}

TEST_F(BadSamples, Labels) {
  const std::vector<std::string> run = {"run", digits("digits_pt2e.pt2"), "--input",
                                        digits("digits_test.npz:x")};
  for (const auto& [labels, error] : {std::pair{digits("digits_test.npz"), "--labels|file.npz:array"},
                                      std::pair{digits("digits_test.npz:none"), "--labels|array"},
                                      std::pair{std::string("none.npz:y"), "none.npz|no such file"}}) {
    std::vector<std::string> arguments = run;
    arguments.insert(arguments.end(), {"--labels", labels});
    expect_refusal(arguments, 2, {error});
  }
}

}  // namespace
}  // namespace rushlight::must_fail
