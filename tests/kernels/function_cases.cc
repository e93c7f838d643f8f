// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor, products and quotients of two, and products of matrices.
#include "tests/kernels/operands.h"

namespace rushlight {
namespace {

using namespace kernels;
using reference::Bytes;
using reference::Ints;
using reference::Wide;

void add_lookup(std::vector<KernelCase>& cases, Random& random) {
  const Bytes in = random.bytes(random.pick({1, 2, 3, 7, 15, 16, 17, 33, 64}));
  const Bytes table = random.bytes(256);
  Bytes out;
  for (int8_t x : in) out.push_back(table[static_cast<size_t>(x + 128)]);
  const LookupParams p{static_cast<int32_t>(in.size())};
  const auto builder = [&] {
    return CaseBuilder("lookup_s8", Mode::exact, p, random.tag()).input(in).input(table);
  };
  cases.push_back(builder().output(out).done());
  cases.push_back(builder().output_in_place(0, out).done());
}

// Points of any function; between them straight lines, rounded half up.
void add_interpolation(std::vector<KernelCase>& cases, Random& random) {
  const auto in = random_elements<int16_t>(random, random.pick({1, 2, 3, 7, 15, 16, 17, 33, 64}));
  const auto table = random_elements<int16_t>(random, 513);
  std::vector<int16_t> out;
  for (const int16_t x : in) {
    const int32_t place = x + 32768;
    const auto k = static_cast<size_t>(place / 128);
    const Wide weighted = Wide{table[k]} * (128 - place % 128) + Wide{table[k + 1]} * (place % 128);
    out.push_back(static_cast<int16_t>(reference::round_half_up(weighted, 128)));
  }
  const LookupParams p{static_cast<int32_t>(in.size())};
  const auto builder = [&] {
    return CaseBuilder("lookup_s16", Mode::exact, p, random.tag()).input(in).input(table);
  };
  cases.push_back(random.chance(50) ? builder().output(out).done()
                                    : builder().output_in_place(0, out).done());
}

template <class T>
void add_mul(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const Pair<T> pair = operands<T>(random);
  const double magnitude = 74.0 * 74 * (sizeof(T) == 1 ? 1 : 256);
  const MulParams p{pair.loops, random_zero_point<T>(random), random_zero_point<T>(random),
                    random.factor(magnitude), random_range<T>(random)};
  const std::string name = kernel_of<T>("quantized_mul");
  add_pair(cases, random, name.c_str(), mode, p, pair, [&](T a, T b) {
    const Wide product = Wide{a - p.zero_point_a} * (b - p.zero_point_b);
    return reference::requantize_to<T>(mode, product, p.factor, p.output);
  });
}

// Quotients as exact fractions: factors 1 / |b - zero point| times a power of two, whose ties must go up.
void add_div(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const Pair<int8_t> pair = operands(random);
  const int32_t zero_b = random.zero_point();
  const int exponent = random.in(-3, 8);  // of scale_a / (scale_b scale_out)
  Ints multipliers;
  Ints shifts;
  for (int32_t b = -128; b < 128; ++b) {
    const int32_t divisor = std::abs(b - zero_b);
    Factor f{INT32_MAX, 30};
    if (divisor != 0) {
      int e = 0;
      const double fraction = std::frexp(std::ldexp(1.0, exponent) / divisor, &e);
      const double q = std::ldexp(fraction, 31);
      f = {static_cast<int32_t>(mode == Mode::single_ ? std::ceil(q) : std::nearbyint(q)), e};
      if (fraction == 0.5) f = {1 << 30, e};
    }
    multipliers.push_back(b < zero_b ? -f.multiplier : f.multiplier);
    shifts.push_back(f.shift);
  }
  const DivParams p{pair.loops, random.zero_point(), random.range()};
  Bytes out;
  reference::for_each_index(pair.extents, [&](const Ints& at) {
    const int32_t x = pair.a.data[static_cast<size_t>(reference::dot(at, pair.a.strides))] - p.zero_point_a;
    const int32_t b = pair.b.data[static_cast<size_t>(reference::dot(at, pair.b.strides))];
    const int32_t y = b - zero_b;
    Wide quotient = x > 0 ? 1000 : x < 0 ? -1000 : 0;
    if (y != 0 && mode == Mode::single_) {
      const Wide numerator = Wide{y < 0 ? -x : x} * reference::power_of_two(exponent + 3);
      quotient = reference::round_half_up(numerator, Wide{std::abs(y)} * 8);
    } else if (y != 0) {
      quotient = reference::rescale(
          mode, y < 0 ? -x : x,
          {std::abs(multipliers[static_cast<size_t>(b + 128)]), shifts[static_cast<size_t>(b + 128)]});
    }
    out.push_back(reference::clamp(p.output.zero_point + quotient, p.output.lo, p.output.hi));
  });
  cases.push_back(CaseBuilder("quantized_div_s8", mode, p, random.tag())
                      .input(pair.a.data)
                      .input(pair.b.data)
                      .input(multipliers)
                      .input(shifts)
                      .output(out)
                      .done());
}

void add_prelu(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const PreluParams p{random.in(1, 3),     random.in(1, 9),   random.pick({1, 2, 5, 16}),
                      random.zero_point(), random.factor(74), random.range()};
  Ints multipliers;
  Ints shifts;
  std::vector<Factor> factors = random.factors(p.channels, 74);
  for (Factor& f : factors) {
    multipliers.push_back(random.chance(30) ? -f.multiplier : f.multiplier);
    shifts.push_back(f.shift);
  }
  const Bytes in = random.bytes(p.outer * p.channels * p.inner);
  Bytes out;
  reference::for_each_index({p.outer, p.channels, p.inner}, [&](const Ints& at) {
    const int32_t x = in[out.size()] - p.input_zero_point;
    const auto c = static_cast<size_t>(at[1]);
    const bool flips = multipliers[c] < 0;
    out.push_back(x >= 0 ? reference::requantize(mode, x, p.positive, p.output)
                         : reference::requantize(mode, flips ? -x : x, factors[c], p.output));
  });
  const auto builder = [&] {
    return CaseBuilder("quantized_prelu_s8", mode, p, random.tag())
        .input(in)
        .input(multipliers)
        .input(shifts);
  };
  cases.push_back(builder().output(out).done());
  cases.push_back(builder().output_in_place(0, out).done());
}

// One operand of a matrix product: its axes in any order in memory.
template <class T>
struct Matrix {
  int32_t first_stride, second_stride, batch_stride;
  std::vector<T> data;
};

template <class T>
Matrix<T> matrix(Random& random, int32_t batch, int32_t first, int32_t second) {
  const bool transposed = random.chance(40);
  const bool shared = random.chance(30);
  return {transposed ? 1 : second, transposed ? first : 1, shared ? 0 : first * second,
          random_elements<T>(random, (shared ? 1 : batch) * first * second)};
}

// docs/numerics.md, int16 activations: one rule in both modes, with the upper half of the multiplier.
int8_t matmul_output(Mode mode, Wide sum, const BatchMatmulParams& p, int8_t) {
  return reference::requantize_to<int8_t>(mode, sum, p.factor, p.output);
}
int16_t matmul_output(Mode, Wide sum, const BatchMatmulParams& p, int16_t) {
  const Wide scaled =
      reference::round_half_up(sum * p.factor.multiplier, reference::power_of_two(15 - p.factor.shift));
  return reference::clamp_to<int16_t>(scaled, p.output.lo, p.output.hi);
}

template <class T>
void add_batch_matmul(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const int32_t batch = random.in(1, 3);
  const int32_t rows = random.in(1, 5);
  const int32_t columns = random.in(1, 5);
  const int32_t depth = random.pick({1, 2, 3, 4, 7, 8, 15, 16, 17, 33});
  const Matrix<T> a = matrix<T>(random, batch, rows, depth);
  const Matrix<T> b = matrix<T>(random, batch, depth, columns);
  BatchMatmulParams p{};
  for (int d = 0; d < kMaxLoops; ++d) p.batch_extent[d] = 1;
  p.batch_extent[kMaxLoops - 1] = batch;
  p.batch_stride_a[kMaxLoops - 1] = a.batch_stride;
  p.batch_stride_b[kMaxLoops - 1] = b.batch_stride;
  p.rows = rows;
  p.columns = columns;
  p.depth = depth;
  p.a_row_stride = a.first_stride;
  p.a_depth_stride = a.second_stride;
  p.b_depth_stride = b.first_stride;
  p.b_column_stride = b.second_stride;
  p.zero_point_a = random_zero_point<T>(random);
  p.zero_point_b = random_zero_point<T>(random);
  p.factor = random.factor(std::sqrt(depth) * 74 * 74 * (sizeof(T) == 1 ? 1 : 256));
  if (sizeof(T) == 2)
    p.factor = {std::min(32767, ((p.factor.multiplier >> 15) + 1) >> 1), std::min(14, p.factor.shift)};
  p.output = random_range<T>(random);
  std::vector<T> out;
  reference::for_each_index({batch, rows, columns}, [&](const Ints& at) {
    Wide sum = 0;
    for (int32_t k = 0; k < depth; ++k) {
      const int32_t of_a = at[0] * a.batch_stride + at[1] * a.first_stride + k * a.second_stride;
      const int32_t of_b = at[0] * b.batch_stride + k * b.first_stride + at[2] * b.second_stride;
      sum += Wide{a.data[static_cast<size_t>(of_a)] - p.zero_point_a} *
             (b.data[static_cast<size_t>(of_b)] - p.zero_point_b);
    }
    out.push_back(matmul_output(mode, sum, p, T{}));
  });
  cases.push_back(CaseBuilder(kernel_of<T>("quantized_batch_matmul").c_str(), mode, p, random.tag())
                      .input(a.data)
                      .input(b.data)
                      .output(out)
                      .done());
}

}  // namespace

void add_function_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (int i = 0; i < 30 * scale; ++i) {
    add_lookup(cases, random);
    add_interpolation(cases, random);
    add_batch_matmul<int16_t>(cases, random, Mode::exact);
    for (const Mode mode : {Mode::single_, Mode::double_}) {
      add_mul<int8_t>(cases, random, mode);
      add_mul<int16_t>(cases, random, mode);
      add_div(cases, random, mode);
      add_prelu(cases, random, mode);
      add_batch_matmul<int8_t>(cases, random, mode);
    }
  }
}

}  // namespace rushlight
