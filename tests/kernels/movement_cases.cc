// SPDX-License-Identifier: Apache-2.0
// copy and mean: loop nests over memory in any order.
#include <algorithm>

#include "tests/kernels/elements.h"

namespace rushlight {
namespace {

using namespace kernels;
using reference::Bytes;
using reference::Ints;

// Fills the innermost places of a Params array; outer places get `rest`.
void place(int32_t (&to)[kMaxLoops], const Ints& from, int32_t rest) {
  std::fill(to, to + kMaxLoops, rest);
  std::copy(from.begin(), from.end(), to + (kMaxLoops - static_cast<int>(from.size())));
}

Ints random_extents(Random& random, size_t rank) {
  Ints extents(rank);
  for (int32_t& extent : extents) extent = random.in(1, 4);
  extents[static_cast<size_t>(random.in(0, static_cast<int32_t>(rank) - 1))] =
      random.pick({1, 2, 3, 5, 8, 17});
  return extents;
}

// The strides of a tensor whose axes stand in memory in a random order.
Ints shuffled_strides(Random& random, const Ints& extents) {
  std::vector<size_t> order(extents.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  for (size_t d = order.size(); d-- > 1;)
    if (random.chance(60))
      std::swap(order[d], order[static_cast<size_t>(random.in(0, static_cast<int32_t>(d)))]);
  Ints strides(extents.size());
  int32_t stride = 1;
  for (size_t k = order.size(); k-- > 0; stride *= extents[order[k]]) strides[order[k]] = stride;
  return strides;
}

// A box of `extents` at `corner` inside a larger tensor: what a slice reads and a concatenation writes.
struct Box {
  Ints strides;
  int32_t offset;
  int32_t elements;
};

Box random_box(Random& random, const Ints& extents) {
  Ints outer = extents;
  Ints corner(extents.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    outer[d] += random.chance(30) ? random.in(1, 3) : 0;
    corner[d] = random.in(0, outer[d] - extents[d]);
  }
  const Ints strides = shuffled_strides(random, outer);
  return {strides, reference::dot(corner, strides), reference::count(outer)};
}

template <class T>
void add_copy(std::vector<KernelCase>& cases, Random& random) {
  const Ints extents = random_extents(random, static_cast<size_t>(random.in(1, 4)));
  Box from = random_box(random, extents);
  const Box to = random_box(random, extents);
  if (random.chance(20)) from.strides.back() = 0;  // repeats an element, as expand does
  if (random.chance(20)) {                         // reads an axis backwards, as flip does
    from.offset += from.strides[0] * (extents[0] - 1);
    from.strides[0] = -from.strides[0];
  }
  CopyParams p{};
  place(p.extent, extents, 1);
  place(p.input_stride, from.strides, 0);
  place(p.output_stride, to.strides, 0);
  p.input_offset = from.offset;
  p.output_offset = to.offset;

  const std::vector<T> in = random_elements<T>(random, from.elements);
  const std::vector<T> before = random_elements<T>(random, to.elements);
  std::vector<T> out = before;
  reference::for_each_index(extents, [&](const Ints& at) {
    out[static_cast<size_t>(to.offset + reference::dot(at, to.strides))] =
        in[static_cast<size_t>(from.offset + reference::dot(at, from.strides))];
  });
  cases.push_back(CaseBuilder(kernel_of<T>("copy").c_str(), Mode::exact, p, random.tag())
                      .input(in)
                      .output_over(bytes_of(before), out)
                      .done());
}

template <class T>
void add_mean(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const Ints extents = random_extents(random, static_cast<size_t>(random.in(1, 4)));
  const Ints strides = shuffled_strides(random, extents);
  Ints kept, kept_strides, reduced, reduced_strides;
  for (size_t d = 0; d < extents.size(); ++d) {
    const bool reduce = random.chance(50);
    (reduce ? reduced : kept).push_back(extents[d]);
    (reduce ? reduced_strides : kept_strides).push_back(strides[d]);
  }
  const std::vector<T> in = random_elements<T>(random, reference::count(extents));
  const int32_t n = reference::count(reduced);
  const int32_t zero_point = random_zero_point<T>(random);
  MeanParams p{};
  place(p.kept_extent, kept, 1);
  place(p.kept_stride, kept_strides, 0);
  place(p.reduced_extent, reduced, 1);
  place(p.reduced_stride, reduced_strides, 0);
  p.offset = -n * zero_point;
  p.factor = random.factor(100.0 * n);
  p.output = random_range<T>(random);

  std::vector<T> out;
  reference::for_each_index(kept, [&](const Ints& k) {
    int32_t sum = 0;
    reference::for_each_index(reduced, [&](const Ints& r) {
      const int32_t at = reference::dot(k, kept_strides) + reference::dot(r, reduced_strides);
      sum += in[static_cast<size_t>(at)] - zero_point;
    });
    out.push_back(reference::requantize_mean_to<T>(mode, sum, p.factor, p.output));
  });
  cases.push_back(CaseBuilder(kernel_of<T>("quantized_mean").c_str(), mode, p, random.tag())
                      .input(in)
                      .output(out)
                      .done());
}

}  // namespace

void add_movement_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (int i = 0; i < 30 * scale; ++i) {
    add_copy<int8_t>(cases, random);
    add_copy<int16_t>(cases, random);
    for (const Mode mode : {Mode::single_, Mode::double_}) {
      add_mean<int8_t>(cases, random, mode);
      add_mean<int16_t>(cases, random, mode);
    }
  }
}

}  // namespace rushlight
