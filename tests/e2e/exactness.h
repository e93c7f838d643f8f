// SPDX-License-Identifier: Apache-2.0
// Single operators in a program, against two references written from docs/numerics.md: the exact integers
// that the declared rounding mode defines, and fake quantization in double that rounds half up.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cortex_m/program.h"
#include "tests/kernels/random.h"
#include "tests/kernels/reference.h"
#include "types/tensor.h"

namespace rushlight::e2e {

// Parameters of one tensor.
struct Quant {
  double scale;
  int32_t zero_point;

  std::string text() const;  // "<0.05:-3>"
  double real(int32_t q) const { return scale * (q - zero_point); }
};

Quant random_quant(Random& random, double greatest_real);

// What a node's result is clamped to, as text (" clamp=[0.0, 1.5]" or nothing) and in integers.
struct Clamp {
  double lo, hi;
  std::string text() const;
  kernels::OutputRange range(const Quant& out) const;
};
Clamp random_clamp(Random& random, const Quant& out);

inline kernels::Mode mode_of(Rounding rounding) {
  return rounding == Rounding::single ? kernels::Mode::single_ : kernels::Mode::double_;
}

// docs/numerics.md, "Multiplier and shift".
kernels::Factor exact_factor(double real);
// Of means, "Pooling": rounded up in `single`.
kernels::Factor exact_mean_factor(double real, Rounding rounding);

// clamp(zero point + floor(real / scale + 1/2)). Where double cannot tell a real from the middle between two
// integers it counts as the middle, and goes up: with equal scales and a mean of six values, every sixth.
struct Fake {
  int8_t integer;
  bool tie = false;  // left out of the count: rounding half up is not the operator's rule for ties
};
Fake fake_quantize(double real, const Quant& out, const kernels::OutputRange& range);

// A graph of one operator, inputs for it and what must come out.
struct Trial {
  std::string op;     // the row of the tally
  std::string graph;  // text
  std::vector<Tensor> inputs;
  std::vector<int8_t> exact;
  std::vector<Fake> fake;
};

// "i8[1,2,3]", "[1,2,3]"
std::string shape_text(const reference::Ints& shape);
Tensor int8_tensor(const reference::Ints& shape, const reference::Bytes& values);
// Values as a constant's text: "[1, -2, 3]".
template <class T>
std::string list_text(const std::vector<T>& values) {
  std::string text;
  for (const T value : values) text += (text.empty() ? "[" : ", ") + std::to_string(value);
  return text + "]";
}

// Compiles and runs; the first output.
Tensor run_graph(const std::string& text, Rounding rounding, const std::vector<Tensor>& inputs);

// Runs trials and counts, a row for each op and mode.
class Tally {
 public:
  // Expects the exact integers, and those of fake quantization within one step.
  void run(const Trial& trial, Rounding rounding);
  // Prints the rows and expects what `single` promises of each.
  void finish() const;

 private:
  struct Count {
    int64_t outputs = 0, equal_exact = 0, ties = 0, equal_fake = 0;  // ties do not count as equal
  };
  std::map<std::pair<std::string, Rounding>, Count> counts_;
};

// Of RUSHLIGHT_TEST_SEED, or a fixed one; the test prints it.
uint64_t test_seed();

}  // namespace rushlight::e2e
