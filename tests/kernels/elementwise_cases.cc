// SPDX-License-Identifier: Apache-2.0
// maximum, minimum and add, with every way of broadcasting.
#include "tests/kernels/operands.h"

namespace rushlight {
namespace {

using namespace kernels;
using reference::Bytes;
using reference::Ints;
using reference::Wide;

// The family of kernels/binary.h.
struct BinaryFunction {
  const char* name;
  int32_t (*apply)(int32_t a, int32_t b);
};
const BinaryFunction kBinaryFunctions[] = {
    {"maximum", [](int32_t a, int32_t b) { return a > b ? a : b; }},
    {"minimum", [](int32_t a, int32_t b) { return a < b ? a : b; }},
};

template <class T>
void add_binary(std::vector<KernelCase>& cases, Random& random, const BinaryFunction& function) {
  const Pair<T> pair = operands<T>(random);
  add_pair(cases, random, kernel_of<T>(function.name).c_str(), Mode::exact, BinaryParams{pair.loops}, pair,
           [&](T a, T b) { return static_cast<T>(function.apply(a, b)); });
}

// int16: sums are int64, and multipliers take all of int32.
void add_add_single_s16(std::vector<KernelCase>& cases, Random& random) {
  const Pair<int16_t> pair = operands<int16_t>(random);
  const OutputRange range = random_range<int16_t>(random);
  const int32_t shift = random.in(0, 30);
  const int32_t limit = static_cast<int32_t>(std::min<int64_t>(INT32_MAX, int64_t{8} << shift));
  const int32_t m_a = random.chance(20) ? random.pick({limit, 1 << shift}) : random.in(1, limit);
  const int32_t m_b = random.chance(20) ? random.pick({-limit, -(1 << shift)}) : random.in(-limit, limit);
  const int32_t half = shift == 0 ? 0 : 1 << (shift - 1);
  const AddSingleParams p{pair.loops, m_a, m_b, half, shift, range.lo, range.hi};
  add_pair(cases, random, "quantized_add_s16", Mode::single_, p, pair, [&](int16_t a, int16_t b) {
    const Wide sum = Wide{m_a} * a + Wide{m_b} * b;
    return reference::clamp_to<int16_t>(reference::round_half_up(sum, reference::power_of_two(shift)),
                                        range.lo, range.hi);
  });
}

void add_add_single(std::vector<KernelCase>& cases, Random& random) {
  const Pair<int8_t> pair = operands(random);
  const OutputRange range = random.range();
  const int32_t zero_a = random.zero_point();
  const int32_t zero_b = random.zero_point();
  const double ratio_a = std::exp2(random.unit() * 8 - 5);
  const double sign = random.pick({1, -1});
  const double ratio_b = sign * std::exp2(random.unit() * 8 - 5);
  // The largest shift that keeps everything in int32.
  int32_t shift = random.chance(70) ? 22 : random.in(0, 22);
  while (shift > 0 && (255 * (ratio_a + std::fabs(ratio_b)) + 129) * std::exp2(shift) > 0x7fff0000) --shift;
  const int32_t m_a = static_cast<int32_t>(std::lround(ratio_a * std::exp2(shift)));
  const int32_t m_b = static_cast<int32_t>(std::lround(ratio_b * std::exp2(shift)));
  const int32_t half = shift == 0 ? 0 : 1 << (shift - 1);
  const int32_t offset = -m_a * zero_a - m_b * zero_b + half + range.zero_point * (1 << shift);
  const AddSingleParams p{pair.loops, m_a, m_b, offset, shift, range.lo, range.hi};
  add_pair(cases, random, "quantized_add_s8", Mode::single_, p, pair, [&](int8_t a, int8_t b) {
    const Wide sum = Wide{m_a} * (a - zero_a) + Wide{m_b} * (b - zero_b);
    return reference::clamp(range.zero_point + reference::round_half_up(sum, reference::power_of_two(shift)),
                            range.lo, range.hi);
  });
}

template <class T>
void add_add_double(std::vector<KernelCase>& cases, Random& random) {
  const Pair<T> pair = operands<T>(random);
  const int32_t half = 1 << 30;
  // Twice the larger scale: at least one factor is 1/2, at most that the other.
  Factor factor_a{half, 0};
  Factor factor_b{random.in(1 << 30, INT32_MAX), random.in(-6, -1)};
  if (random.chance(10)) factor_b = {random.in(1 << 30, INT32_MAX), random.in(-32, -1)};
  if (random.chance(20)) factor_b = factor_a;
  if (random.chance(50)) std::swap(factor_a, factor_b);
  const Factor factor_out{random.in(1 << 30, INT32_MAX), random.chance(90)
                                                             ? random.in(-22, -16) + (sizeof(T) == 1 ? 0 : 5)
                                                             : random.in(-32, 4)};
  const AddDoubleParams p{pair.loops,
                          random_zero_point<T>(random),
                          random_zero_point<T>(random),
                          factor_a,
                          factor_b,
                          random.in(0, 1),
                          random.chance(95) ? factor_out : Factor{0, 0},
                          random_range<T>(random)};
  add_pair(cases, random, kernel_of<T>("quantized_add").c_str(), Mode::double_, p, pair, [&](T a, T b) {
    const Wide unit = reference::power_of_two(sizeof(T) == 1 ? 20 : 15);
    const Wide x = reference::rescale(Mode::double_, (a - p.zero_point_a) * unit, p.factor_a);
    const Wide y = reference::rescale(Mode::double_, (b - p.zero_point_b) * unit, p.factor_b);
    return reference::requantize_to<T>(Mode::double_, p.negate_b ? x - y : x + y, p.factor_out, p.output);
  });
}

}  // namespace

void add_elementwise_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (int i = 0; i < 30 * scale; ++i) {
    for (const BinaryFunction& function : kBinaryFunctions) {
      add_binary<int8_t>(cases, random, function);
      add_binary<int16_t>(cases, random, function);
    }
    add_add_single(cases, random);
    add_add_single_s16(cases, random);
    add_add_double<int8_t>(cases, random);
    add_add_double<int16_t>(cases, random);
  }
}

}  // namespace rushlight
