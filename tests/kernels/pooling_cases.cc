// SPDX-License-Identifier: Apache-2.0
// Average pooling: windows from kernel, stride, padding and ceil_mode, or adaptive.
#include <map>

#include "tests/kernels/elements.h"

namespace rushlight {
namespace {

using namespace kernels;
using reference::Bytes;
using reference::Ints;

// A window along one axis in padded coordinates: taps first..end-1, of which `counted` enter the divisor.
struct Span {
  int32_t first, end, counted;
};

struct PoolAxis {
  int32_t input;
  std::vector<Span> spans;
};

PoolAxis random_windows(Random& random, int32_t input, bool count_padding) {
  PoolAxis axis{input, {}};
  const int32_t kernel = random.in(1, 4);
  const int32_t stride = random.in(1, 3);
  const int32_t pad = random.in(0, kernel / 2);
  const bool ceil_mode = random.chance(40);
  // PyTorch: in ceil_mode a window may run beyond the padding,
  // where it counts nothing, but must start before it.
  for (int32_t first = -pad; first < input + (ceil_mode ? 0 : pad); first += stride) {
    if (!ceil_mode && first + kernel > input + pad) break;
    const int32_t end = first + kernel;
    const int32_t inside = std::min(end, input) - std::max(first, 0);
    const int32_t padded = std::min(end, input + pad) - first;
    axis.spans.push_back({first, end, count_padding ? padded : inside});
    if (first + kernel >= input + pad) break;
  }
  return axis;
}

PoolAxis adaptive_windows(Random& random, int32_t input) {
  PoolAxis axis{input, {}};
  const int32_t outputs = random.in(1, input);
  for (int32_t i = 0; i < outputs; ++i) {
    const int32_t first = i * input / outputs;
    const int32_t end = ((i + 1) * input + outputs - 1) / outputs;
    axis.spans.push_back({first, end, end - first});
  }
  return axis;
}

PoolAxis global_window(int32_t input) { return {input, {{0, input, input}}}; }

// The kernel's table of one axis, and the classes' counted extents in order of first use.
Ints window_table(const PoolAxis& axis, Ints& classes) {
  Ints table;
  for (const Span& span : axis.spans) {
    const int32_t first = std::max(span.first, 0);
    const int32_t end = std::min(span.end, axis.input);
    size_t index = 0;
    while (index < classes.size() && classes[index] != span.counted) ++index;
    if (index == classes.size()) classes.push_back(span.counted);
    table.insert(table.end(), {first, end - first, static_cast<int32_t>(index)});
  }
  return table;
}

template <class T>
struct Pool {
  PoolAxis y, x;
  AveragePool2dParams params;
  Ints rows, columns;
  Ints row_classes, column_classes;
  std::vector<T> input;
};

template <class T>
Pool<T> random_pool(Random& random) {
  const int32_t height = random.in(1, 7);
  const int32_t width = random.in(1, 7);
  const int32_t kind = random.in(0, 5);
  const bool count_padding = random.chance(50);
  Pool<T> pool;
  pool.y = kind == 0   ? global_window(height)
           : kind == 1 ? adaptive_windows(random, height)
                       : random_windows(random, height, count_padding);
  pool.x = kind == 0   ? global_window(width)
           : kind == 1 ? adaptive_windows(random, width)
                       : random_windows(random, width, count_padding);
  if (pool.y.spans.empty()) pool.y = global_window(height);
  if (pool.x.spans.empty()) pool.x = global_window(width);
  pool.rows = window_table(pool.y, pool.row_classes);
  pool.columns = window_table(pool.x, pool.column_classes);
  pool.params = {random.in(1, 2),
                 height,
                 width,
                 static_cast<int32_t>(pool.y.spans.size()),
                 static_cast<int32_t>(pool.x.spans.size()),
                 random.pick({1, 2, 3, 4, 5, 8, 17}),
                 static_cast<int32_t>(pool.column_classes.size()),
                 random_zero_point<T>(random),
                 random_range<T>(random)};
  pool.input = random_elements<T>(random, pool.params.batch * height * width * pool.params.channels);
  return pool;
}

// finish(sum over the window of x - zero point, padding being 0; divisor) for every output.
template <class T, class Finish>
std::vector<T> pool_reference(const Pool<T>& pool, Finish finish) {
  const AveragePool2dParams& p = pool.params;
  const reference::Image image{pool.input, p.input_height, p.input_width, p.channels, p.input_zero_point};
  std::vector<T> out;
  reference::for_each_index({p.batch, p.output_height, p.output_width, p.channels}, [&](const Ints& at) {
    const Span& row = pool.y.spans[static_cast<size_t>(at[1])];
    const Span& column = pool.x.spans[static_cast<size_t>(at[2])];
    int32_t sum = 0;
    for (int32_t y = row.first; y < row.end; ++y)
      for (int32_t x = column.first; x < column.end; ++x) sum += image.real(at[0], y, x, at[3]);
    out.push_back(finish(sum, row.counted * column.counted));
  });
  return out;
}

template <class T>
void add_factor_pool(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const Pool<T> pool = random_pool<T>(random);
  std::map<int32_t, Factor> factor_of;  // by divisor
  Ints factors;
  for (const int32_t row : pool.row_classes) {
    for (const int32_t column : pool.column_classes) {
      const Factor f = factor_of.try_emplace(row * column, random.factor(80.0 * row * column)).first->second;
      factors.insert(factors.end(), {f.multiplier, f.shift});
    }
  }
  const std::vector<T> out = pool_reference(pool, [&](int32_t sum, int32_t divisor) {
    return reference::requantize_mean_to<T>(mode, sum, factor_of.at(divisor), pool.params.output);
  });
  cases.push_back(CaseBuilder(kernel_of<T>("quantized_avg_pool2d").c_str(), mode, pool.params, random.tag())
                      .input(pool.input)
                      .input(pool.rows)
                      .input(pool.columns)
                      .input(factors)
                      .output(out)
                      .done());
}

// Input and output share the quantization, so the stored integers are averaged: zp + real / divisor.
template <class T>
void add_divide_pool(std::vector<KernelCase>& cases, Random& random) {
  Pool<T> pool = random_pool<T>(random);
  pool.params.output.zero_point = pool.params.input_zero_point;
  Ints divisors;
  for (const int32_t row : pool.row_classes)
    for (const int32_t column : pool.column_classes) divisors.push_back(row * column);
  const std::vector<T> out = pool_reference(pool, [&](int32_t sum, int32_t divisor) {
    const reference::Wide stored = sum + pool.params.input_zero_point * divisor;
    return reference::clamp_to<T>(reference::round_half_away(stored, divisor), pool.params.output.lo,
                                  pool.params.output.hi);
  });
  cases.push_back(CaseBuilder(kernel_of<T>("quantized_avg_pool2d_divide").c_str(), Mode::double_, pool.params,
                              random.tag())
                      .input(pool.input)
                      .input(pool.rows)
                      .input(pool.columns)
                      .input(divisors)
                      .output(out)
                      .done());
}

// Dilated taps from a start that may lie in the padding; only those inside count.
struct Taps {
  Ints table;                // first inside, number
  std::vector<Ints> inside;  // positions, an output each
};

Taps random_taps(Random& random, int32_t input, int32_t dilation) {
  Taps taps;
  const int32_t kernel = random.in(1, 3);
  const int32_t stride = random.in(1, 3);
  for (int32_t start = -random.in(0, kernel / 2); start < input; start += stride) {
    Ints inside;
    for (int32_t k = 0; k < kernel; ++k)
      if (start + k * dilation >= 0 && start + k * dilation < input) inside.push_back(start + k * dilation);
    if (inside.empty()) continue;
    taps.table.insert(taps.table.end(), {inside.front(), static_cast<int32_t>(inside.size())});
    taps.inside.push_back(std::move(inside));
  }
  return taps;
}

template <class T>
void add_max_pool(std::vector<KernelCase>& cases, Random& random) {
  MaxPool2dParams p{};
  p.batch = random.in(1, 3);
  p.input_height = random.in(1, 6);
  p.input_width = random.in(1, 6);
  p.channels = random.pick({1, 2, 3, 4, 8, 17});
  p.dilation_height = random.in(1, 2);
  p.dilation_width = random.in(1, 2);
  const OutputRange range = random_range<T>(random);
  p.lo = range.lo;
  p.hi = range.hi;
  const Taps y = random_taps(random, p.input_height, p.dilation_height);
  const Taps x = random_taps(random, p.input_width, p.dilation_width);
  p.output_height = static_cast<int32_t>(y.inside.size());
  p.output_width = static_cast<int32_t>(x.inside.size());
  const std::vector<T> in = random_elements<T>(random, p.batch * p.input_height * p.input_width * p.channels);
  std::vector<T> out;
  reference::for_each_index({p.batch, p.output_height, p.output_width, p.channels}, [&](const Ints& at) {
    int32_t greatest = INT32_MIN;
    for (const int32_t r : y.inside[static_cast<size_t>(at[1])])
      for (const int32_t c : x.inside[static_cast<size_t>(at[2])])
        greatest = std::max<int32_t>(
            greatest,
            in[static_cast<size_t>(((at[0] * p.input_height + r) * p.input_width + c) * p.channels + at[3])]);
    out.push_back(reference::clamp_to<T>(greatest, p.lo, p.hi));
  });
  cases.push_back(CaseBuilder(kernel_of<T>("max_pool2d").c_str(), Mode::exact, p, random.tag())
                      .input(in)
                      .input(y.table)
                      .input(x.table)
                      .output(out)
                      .done());
}

Ints random_blends(Random& random, int32_t input, int32_t outputs, int32_t denominator) {
  Ints table;
  for (int32_t o = 0; o < outputs; ++o) {
    const int32_t first = random.in(0, input - 1);
    table.insert(table.end(), {first, std::min(first + 1, input - 1), random.in(0, denominator)});
  }
  return table;
}

void add_bilinear(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  UpsampleBilinear2dParams p{};
  p.batch = random.in(1, 2);
  p.input_height = random.in(1, 4);
  p.input_width = random.in(1, 4);
  p.output_height = random.in(1, 6);
  p.output_width = random.in(1, 6);
  p.channels = random.pick({1, 2, 3, 5, 8});
  p.row_denominator = random.pick({1, 2, 4, 3, 7, 1024, 2048});
  p.column_denominator = random.pick({1, 2, 4, 3, 7, 1024, 2048});
  p.input_zero_point = random.zero_point();
  p.factor = random.factor(74.0 * p.row_denominator * p.column_denominator);
  p.output = random.range();
  const Ints rows = random_blends(random, p.input_height, p.output_height, p.row_denominator);
  const Ints columns = random_blends(random, p.input_width, p.output_width, p.column_denominator);
  const Bytes in = random.bytes(p.batch * p.input_height * p.input_width * p.channels);
  const reference::Image image{in, p.input_height, p.input_width, p.channels, p.input_zero_point};
  Bytes out;
  reference::for_each_index({p.batch, p.output_height, p.output_width, p.channels}, [&](const Ints& at) {
    const int32_t* r = &rows[static_cast<size_t>(3 * at[1])];
    const int32_t* c = &columns[static_cast<size_t>(3 * at[2])];
    reference::Wide sum = 0;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        sum += reference::Wide{i == 0 ? p.row_denominator - r[2] : r[2]} *
               (j == 0 ? p.column_denominator - c[2] : c[2]) * image.real(at[0], r[i], c[j], at[3]);
    out.push_back(reference::requantize_mean(mode, sum, p.factor, p.output));
  });
  cases.push_back(CaseBuilder("upsample_bilinear2d_s8", mode, p, random.tag())
                      .input(in)
                      .input(rows)
                      .input(columns)
                      .output(out)
                      .done());
}

}  // namespace

void add_pooling_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (int i = 0; i < 30 * scale; ++i) {
    for (const Mode mode : {Mode::single_, Mode::double_}) {
      add_factor_pool<int8_t>(cases, random, mode);
      add_factor_pool<int16_t>(cases, random, mode);
    }
    add_divide_pool<int8_t>(cases, random);
    add_divide_pool<int16_t>(cases, random);
    add_max_pool<int8_t>(cases, random);
    add_max_pool<int16_t>(cases, random);
    add_bilinear(cases, random, Mode::single_);
    add_bilinear(cases, random, Mode::double_);
  }
}

}  // namespace rushlight
