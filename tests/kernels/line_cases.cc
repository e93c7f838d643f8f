// SPDX-License-Identifier: Apache-2.0
// What looks along one axis or over groups of elements: softmax, extremes and their positions; and movement
// by tables.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/elements.h"

namespace rushlight {
namespace {

using namespace kernels;
using reference::Bytes;
using reference::Ints;
using reference::Wide;

template <class T>
struct LinesOf {
  int32_t outer, count, inner;
  std::vector<T> data;
  size_t at(int32_t o, int32_t k, int32_t i) const {
    return static_cast<size_t>((o * count + k) * inner + i);
  }
};

using Line = LinesOf<int8_t>;

template <class T = int8_t>
LinesOf<T> random_lines(Random& random) {
  LinesOf<T> line{random.in(1, 3), random.pick({1, 2, 3, 10, 12, 17, 33}), random.pick({1, 1, 2, 5}), {}};
  line.data = random_elements<T>(random, line.outer * line.count * line.inner);
  return line;
}

// visit(o, i, greatest element of the line)
template <class T, class Visit>
void for_each_line(const LinesOf<T>& line, Visit visit) {
  for (int32_t o = 0; o < line.outer; ++o)
    for (int32_t i = 0; i < line.inner; ++i) {
      int32_t greatest = line.data[line.at(o, 0, i)];
      for (int32_t k = 0; k < line.count; ++k)
        greatest = std::max<int32_t>(greatest, line.data[line.at(o, k, i)]);
      visit(o, i, greatest);
    }
}

Ints exponentials(double scale, int bits) {
  Ints table;
  for (int d = 0; d < 256; ++d)
    table.push_back(static_cast<int32_t>(std::nearbyint(std::ldexp(std::exp(-d * scale), bits))));
  return table;
}

void add_softmax(std::vector<KernelCase>& cases, Random& random) {
  const Line line = random_lines(random);
  const Ints table = exponentials(std::exp2(random.unit() * 8 - 7), random.pick({24, 20, 10}));
  SoftmaxParams p{line.outer, line.count, line.inner, 1 << 30, 9, 9, {-128, -128, 127}};
  if (random.chance(50))
    p = {line.outer,       line.count, line.inner,    random.in(1 << 30, INT32_MAX),
         random.in(1, 12), 13,         random.range()};
  Bytes out(line.data.size());
  for_each_line(line, [&](int32_t o, int32_t i, int32_t greatest) {
    Wide sum = 0;
    for (int32_t k = 0; k < line.count; ++k)
      sum += table[static_cast<size_t>(greatest - line.data[line.at(o, k, i)])];
    for (int32_t k = 0; k < line.count; ++k) {
      const Wide e = table[static_cast<size_t>(greatest - line.data[line.at(o, k, i)])];
      const Wide y = reference::round_half_up(e * p.multiplier, sum * reference::power_of_two(31 - p.shift));
      out[line.at(o, k, i)] = reference::clamp(p.output.zero_point + y, p.output.lo, p.output.hi);
    }
  });
  cases.push_back(CaseBuilder("softmax_s8", Mode::exact, p, random.tag())
                      .input(line.data)
                      .input(table)
                      .output(out)
                      .done());
}

// Fixed-point numbers of TensorFlow Lite's softmax, in wide integers.
namespace tflite {

Wide high(Wide a, Wide b) { return reference::round_half_up(a * b, reference::power_of_two(31)); }
Wide shifted(Wide a, int k) { return reference::round_half_away(a, reference::power_of_two(k)); }
Wide saturated(Wide a) { return std::min<Wide>(INT32_MAX, std::max<Wide>(INT32_MIN, a)); }

// e^(a / 2^26) for a <= 0, in Q0.31.
Wide exponential(Wide a) {
  if (a == 0) return INT32_MAX;
  const Wide quarter = reference::power_of_two(24);
  const Wide rest = ((a % quarter) + quarter) % quarter - quarter;
  const Wide x = saturated(rest * 32) + reference::power_of_two(28);
  const Wide x2 = high(x, x);
  const Wide x3 = high(x2, x);
  const Wide x4 = high(x2, x2);
  const Wide series = shifted(high(shifted(x4, 2) + x3, 715827883) + x2, 1);
  Wide result = saturated(Wide{1895147668} + high(1895147668, x + series));
  const Wide whole = (rest - a) / quarter;  // of quarters
  const int64_t powers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  for (int k = 0; k < 7; ++k)
    if (whole / reference::power_of_two(k) % 2 == 1) result = high(result, powers[k]);
  return result;
}

// e / sum in units of 2^-bits, from the least integer of T, which has so many bits.
template <class T>
T probability(Wide e, Wide sum) {
  int zeros = 0;
  while ((sum << zeros) < reference::power_of_two(31)) ++zeros;
  const Wide fraction = (sum << zeros) - reference::power_of_two(31);
  const Wide half = (fraction + reference::power_of_two(31)) / 2;
  Wide y = 1515870810 + high(half, -1010580540);
  for (int i = 0; i < 3; ++i) y += saturated(high(y, reference::power_of_two(29) - high(half, y)) * 4);
  const Wide scale = saturated(y * 2);
  constexpr int bits = 8 * sizeof(T);
  constexpr int32_t lo = std::numeric_limits<T>::min();
  return reference::clamp_to<T>(shifted(high(scale, e), 12 - zeros + 31 - bits) + lo, lo, -lo - 1);
}

}  // namespace tflite

template <class T>
void add_softmax_tflite(std::vector<KernelCase>& cases, Random& random) {
  Line line = random_lines(random);
  if (random.chance(5)) line = {1, 600, 1, random.bytes(600, 20, 21)};  // sums above 511
  // Input scales from 2^-7 to 2: 2^26 of them as multiplier and shift.
  const double real = std::exp2(26 + random.unit() * 8 - 7);
  int shift = 0;
  const double fraction = std::frexp(std::min(real, 2147483647.0), &shift);
  const int32_t multiplier =
      static_cast<int32_t>(std::min(2147483647.0, std::nearbyint(std::ldexp(fraction, 31))));
  const auto radius = static_cast<int32_t>(std::floor(std::ldexp(31.0, 26 - shift)));
  const SoftmaxTfliteParams p{line.outer, line.count, line.inner, multiplier, shift, -radius};
  std::vector<T> out(line.data.size());
  for_each_line(line, [&](int32_t o, int32_t i, int32_t greatest) {
    const auto e = [&](int32_t k) {
      const int32_t d = line.data[line.at(o, k, i)] - greatest;
      return tflite::exponential(
          tflite::high(tflite::saturated(Wide{d} * reference::power_of_two(shift)), multiplier));
    };
    const auto counts = [&](int32_t k) { return line.data[line.at(o, k, i)] - greatest >= -radius; };
    Wide sum = 0;
    for (int32_t k = 0; k < line.count; ++k)
      if (counts(k)) sum += tflite::shifted(e(k), 12);
    for (int32_t k = 0; k < line.count; ++k)
      out[line.at(o, k, i)] = counts(k) ? tflite::probability<T>(e(k), sum) : std::numeric_limits<T>::min();
  });
  cases.push_back(CaseBuilder(sizeof(T) == 1 ? "softmax_tflite_s8" : "softmax_tflite_s8_s16", Mode::exact, p,
                              random.tag())
                      .input(line.data)
                      .output(out)
                      .done());
}

// `table` at place 65536 = its last point, by a straight line between neighbours, rounded half up.
Wide on_line(const std::vector<int16_t>& table, Wide place) {
  const auto k = static_cast<size_t>(place / 128);
  const Wide left = table[k];
  return left + reference::round_half_up((table[k + 1] - left) * (place % 128), 128);
}

void add_softmax_s16(std::vector<KernelCase>& cases, Random& random) {
  const LinesOf<int16_t> line = random_lines<int16_t>(random);
  std::vector<int16_t> exp_table;
  std::vector<int16_t> reciprocals;
  for (int k = 0; k <= 512; ++k) {
    exp_table.push_back(static_cast<int16_t>(std::min(32767.0, std::round(32768 * std::exp(k / 51.2 - 10)))));
    reciprocals.push_back(static_cast<int16_t>(std::min(32767.0, std::round(32768 / (1 + k / 512.0)))));
  }
  const Factor f{random.in(1 << 30, INT32_MAX), random.in(-6, 3)};
  const SoftmaxS16Params p{line.outer, line.count, line.inner, f.multiplier, f.shift};
  std::vector<int16_t> out(line.data.size());
  for_each_line(line, [&](int32_t o, int32_t i, int32_t greatest) {
    const auto e = [&](int32_t k) {
      const Wide d = reference::rescale(Mode::double_, line.data[line.at(o, k, i)] - greatest, f);
      return on_line(exp_table, std::max<Wide>(0, d + 65535));
    };
    Wide sum = 0;
    for (int32_t k = 0; k < line.count; ++k) sum += e(k);
    int bits = 0;  // 2^bits <= sum < 2^(bits + 1)
    while (reference::power_of_two(bits + 1) <= sum) ++bits;
    // (1 + f) 2^16, of which the table takes f.
    const Wide normal = reference::round_half_up(sum * reference::power_of_two(30 - bits), 1 << 14);
    const Wide scale = on_line(reciprocals, normal - 65536);
    for (int32_t k = 0; k < line.count; ++k) {
      const Wide twice = reference::floor_divide(e(k) * scale, reference::power_of_two(bits - 1));
      out[line.at(o, k, i)] = static_cast<int16_t>(reference::floor_divide(twice + 1, 2));
    }
  });
  const auto builder = [&] {
    CaseBuilder result("softmax_s16", Mode::exact, p, random.tag());
    result.input(line.data).input(exp_table).input(reciprocals);
    return result;
  };
  cases.push_back(builder().output(out).done());
  cases.push_back(builder().output_in_place(0, out).done());
}

// log2 of x with 16 fraction bits by repeated squaring of a 32-bit mantissa, cut after each.
Wide log2_q16(Wide x) {
  int exponent = 0;
  while (reference::power_of_two(exponent + 1) <= x) ++exponent;
  Wide mantissa = x * reference::power_of_two(31 - exponent);
  Wide result = exponent;
  for (int bit = 0; bit < 16; ++bit) {
    const Wide square = mantissa * mantissa;
    const bool above_two = square >= reference::power_of_two(63);
    result = 2 * result + (above_two ? 1 : 0);
    mantissa = square / reference::power_of_two(above_two ? 32 : 31);
  }
  return result;
}

void add_log_softmax(std::vector<KernelCase>& cases, Random& random) {
  const Line line = random_lines(random);
  const int sum_bits = random.pick({24, 20});
  const double scale = std::exp2(random.unit() * 6 - 6);
  const double out_scale = std::exp2(random.unit() * 4 - 6);
  const Ints table = exponentials(scale, sum_bits);
  const int bits = random.in(16, 23);
  const LogSoftmaxParams p{line.outer,
                           line.count,
                           line.inner,
                           sum_bits,
                           static_cast<int32_t>(std::nearbyint(std::ldexp(scale / out_scale, bits))),
                           static_cast<int32_t>(std::nearbyint(std::ldexp(std::log(2.0) / out_scale, bits))),
                           bits,
                           random.range()};
  Bytes out(line.data.size());
  for_each_line(line, [&](int32_t o, int32_t i, int32_t greatest) {
    Wide sum = 0;
    double exact = 0;
    for (int32_t k = 0; k < line.count; ++k) {
      sum += table[static_cast<size_t>(greatest - line.data[line.at(o, k, i)])];
      exact += std::exp(-scale * (greatest - line.data[line.at(o, k, i)]));
    }
    const Wide logarithm = log2_q16(sum) - Wide{sum_bits} * 65536;
    // The method is as good as it says; against the true exponentials those of the table cost a little more.
    const double method = static_cast<double>(static_cast<int64_t>(logarithm)) / 65536;
    const double of_table = std::log2(static_cast<double>(static_cast<int64_t>(sum))) - sum_bits;
    EXPECT_LE(method, of_table + 1e-12);
    EXPECT_LT(of_table - method, 0x1p-16 + 0x1p-30);
    EXPECT_NEAR(method, std::log2(exact), 0x1p-14);
    for (int32_t k = 0; k < line.count; ++k) {
      const Wide d = greatest - line.data[line.at(o, k, i)];
      const Wide y = -reference::floor_divide(logarithm * p.unit, 65536) - d * p.step;
      out[line.at(o, k, i)] =
          reference::clamp(p.output.zero_point + reference::round_half_up(y, reference::power_of_two(bits)),
                           p.output.lo, p.output.hi);
    }
  });
  cases.push_back(CaseBuilder("log_softmax_s8", Mode::exact, p, random.tag())
                      .input(line.data)
                      .input(table)
                      .output(out)
                      .done());
}

template <class T>
void add_argmax(std::vector<KernelCase>& cases, Random& random) {
  LinesOf<T> line = random_lines<T>(random);
  if (random.chance(40))  // ties
    for (T& x : line.data) x = static_cast<T>(random.in(-1, 1));
  const bool least = random.chance(50);
  Ints out;
  for (int32_t o = 0; o < line.outer; ++o)
    for (int32_t i = 0; i < line.inner; ++i) {
      std::vector<int32_t> values;
      for (int32_t k = 0; k < line.count; ++k) values.push_back(line.data[line.at(o, k, i)]);
      const auto found = least ? std::min_element(values.begin(), values.end())
                               : std::max_element(values.begin(), values.end());
      out.push_back(static_cast<int32_t>(found - values.begin()));
    }
  const ArgmaxParams p{line.outer, line.count, line.inner, least ? 1 : 0};
  cases.push_back(CaseBuilder(kernel_of<T>("argmax").c_str(), Mode::exact, p, random.tag())
                      .input(line.data)
                      .output(out)
                      .done());
}

template <class T>
void add_embedding(std::vector<KernelCase>& cases, Random& random) {
  const EmbeddingParams p{random.in(1, 6), random.in(1, 9), random.pick({1, 3, 4, 17})};
  const std::vector<T> table = random_elements<T>(random, p.rows * p.width);
  Ints indices;
  std::vector<T> out;
  for (int32_t i = 0; i < p.count; ++i) {
    indices.push_back(random.chance(10) ? random.pick({-1, p.rows, INT32_MIN, INT32_MAX})
                                        : random.in(0, p.rows - 1));
    const int32_t row = std::clamp(indices.back(), 0, p.rows - 1);
    for (int32_t k = 0; k < p.width; ++k) out.push_back(table[static_cast<size_t>(row * p.width + k)]);
  }
  cases.push_back(CaseBuilder(kernel_of<T>("embedding").c_str(), Mode::exact, p, random.tag())
                      .input(indices)
                      .input(table)
                      .output(out)
                      .done());
}

// A tensor of up to three axes whose every axis is reordered, repeated or filled.
template <class T>
void add_gather(std::vector<KernelCase>& cases, Random& random) {
  const Ints extents = {random.in(1, 3), random.in(1, 4), random.in(1, 5)};
  const int32_t run = random.pick({1, 1, 2, 5, 17});
  GatherParams p{};
  p.run = run;
  p.fill = sizeof(T) == 1 ? random.zero_point() : random.in(INT16_MIN, INT16_MAX);
  const std::vector<T> in = random_elements<T>(random, reference::count(extents) * run);
  Ints offsets;
  Ints sizes;
  std::vector<Ints> maps;
  for (int d = 0; d < kMaxLoops; ++d) {
    const int axis = d - (kMaxLoops - 3);
    p.extent[d] = 1;
    if (axis < 0) {
      offsets.push_back(0);
      continue;
    }
    p.extent[d] = random.in(1, 6);
    sizes.push_back(p.extent[d]);
    int32_t step = run;
    for (int k = axis + 1; k < 3; ++k) step *= extents[static_cast<size_t>(k)];
    maps.emplace_back();
    for (int32_t i = 0; i < p.extent[d]; ++i) {
      maps.back().push_back(random.chance(20) ? -1 : random.in(0, extents[static_cast<size_t>(axis)] - 1));
      offsets.push_back(maps.back().back() < 0 ? INT32_MIN : maps.back().back() * step);
    }
  }
  std::vector<T> out;
  reference::for_each_index(sizes, [&](const Ints& at) {
    int32_t from = 0;
    bool filled = false;
    for (size_t d = 0; d < 3; ++d) {
      const int32_t i = maps[d][static_cast<size_t>(at[d])];
      filled = filled || i < 0;
      from = from * extents[d] + std::max(i, 0);
    }
    for (int32_t k = 0; k < run; ++k)
      out.push_back(filled ? static_cast<T>(p.fill) : in[static_cast<size_t>(from * run + k)]);
  });
  cases.push_back(CaseBuilder(kernel_of<T>("gather").c_str(), Mode::exact, p, random.tag())
                      .input(in)
                      .input(offsets)
                      .output(out)
                      .done());
}

template <class T>
void add_extreme(std::vector<KernelCase>& cases, Random& random) {
  const Ints kept = {random.in(1, 3), random.in(1, 5)};
  const Ints reduced = {random.in(1, 3), random.pick({1, 2, 7, 16})};
  // In memory: kept 0, reduced 0, kept 1, reduced 1.
  const Ints whole = reference::row_major({kept[0], reduced[0], kept[1], reduced[1]});
  ReduceParams p{};
  for (int d = 0; d < kMaxLoops; ++d) p.kept_extent[d] = p.reduced_extent[d] = 1;
  for (int d = 0; d < 2; ++d) {
    p.kept_extent[kMaxLoops - 2 + d] = kept[static_cast<size_t>(d)];
    p.kept_stride[kMaxLoops - 2 + d] = whole[static_cast<size_t>(2 * d)];
    p.reduced_extent[kMaxLoops - 2 + d] = reduced[static_cast<size_t>(d)];
    p.reduced_stride[kMaxLoops - 2 + d] = whole[static_cast<size_t>(2 * d + 1)];
  }
  const OutputRange range = random_range<T>(random);
  p.lo = range.lo;
  p.hi = range.hi;
  const std::vector<T> in = random_elements<T>(random, reference::count(kept) * reference::count(reduced));
  for (const bool greatest : {true, false}) {
    std::vector<T> out;
    reference::for_each_index(kept, [&](const Ints& k) {
      std::vector<int32_t> group;
      reference::for_each_index(reduced, [&](const Ints& r) {
        group.push_back(in[static_cast<size_t>(reference::dot({k[0], r[0], k[1], r[1]}, whole))]);
      });
      out.push_back(reference::clamp_to<T>(greatest ? *std::max_element(group.begin(), group.end())
                                                    : *std::min_element(group.begin(), group.end()),
                                           p.lo, p.hi));
    });
    cases.push_back(
        CaseBuilder(kernel_of<T>(greatest ? "amax" : "amin").c_str(), Mode::exact, p, random.tag())
            .input(in)
            .output(out)
            .done());
  }
}

}  // namespace

void add_line_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (int i = 0; i < 50 * scale; ++i) {
    add_softmax(cases, random);
    add_softmax_tflite<int8_t>(cases, random);
    add_softmax_tflite<int16_t>(cases, random);
    add_log_softmax(cases, random);
    add_softmax_s16(cases, random);
    add_argmax<int8_t>(cases, random);
    add_argmax<int16_t>(cases, random);
    add_embedding<int8_t>(cases, random);
    add_embedding<int16_t>(cases, random);
    add_gather<int8_t>(cases, random);
    add_gather<int16_t>(cases, random);
    add_extreme<int8_t>(cases, random);
    add_extreme<int16_t>(cases, random);
  }
}

}  // namespace rushlight
