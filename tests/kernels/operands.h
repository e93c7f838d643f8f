// SPDX-License-Identifier: Apache-2.0
// Two operands that broadcast against each other in every way, for element-wise kernels.
#pragma once

#include "tests/kernels/elements.h"

namespace rushlight {

// One operand: broadcast along some axes, its axes in any order in memory, or one element in two.
template <class T>
struct Operand {
  reference::Ints strides;  // 0 along broadcast axes
  std::vector<T> data;
  bool whole = true;  // dense, row-major, not broadcast: the output may take its memory
};

template <class T>
Operand<T> operand(Random& random, const reference::Ints& extents) {
  const size_t rank = extents.size();
  reference::Ints stored = extents;
  for (int32_t& extent : stored)
    if (random.chance(25)) extent = 1;
  if (random.chance(40)) stored = extents;
  std::vector<size_t> order(rank);  // of the axes in memory
  for (size_t d = 0; d < rank; ++d) order[d] = d;
  if (random.chance(20)) std::swap(order[0], order[rank - 1]);
  int32_t stride = random.chance(10) ? 2 : 1;
  Operand<T> result{reference::Ints(rank), {}, stride == 1 && stored == extents};
  for (size_t k = rank; k-- > 0; stride *= stored[order[k]]) {
    result.strides[order[k]] = stored[order[k]] == 1 ? 0 : stride;
    result.whole = result.whole && order[k] == k;
  }
  result.data = random_elements<T>(random, stride);
  return result;
}

template <class T>
struct Pair {
  reference::Ints extents;
  Operand<T> a, b;
  kernels::BroadcastLoops loops;
};

template <class T = int8_t>
Pair<T> operands(Random& random) {
  reference::Ints extents(static_cast<size_t>(random.in(1, kernels::kMaxLoops)));
  for (int32_t& extent : extents) extent = random.in(1, 3);
  extents.back() = random.pick({1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33});
  Pair<T> pair{extents, operand<T>(random, extents), operand<T>(random, extents), {}};
  for (int d = 0; d < kernels::kMaxLoops; ++d) {
    const int axis = d - (kernels::kMaxLoops - static_cast<int>(extents.size()));
    const size_t k = static_cast<size_t>(axis);
    pair.loops.extent[d] = axis < 0 ? 1 : extents[k];
    pair.loops.stride_a[d] = axis < 0 ? 0 : pair.a.strides[k];
    pair.loops.stride_b[d] = axis < 0 ? 0 : pair.b.strides[k];
  }
  return pair;
}

// The case and, where an operand is whole, the same in place.
template <class Params, class T, class Function>
void add_pair(std::vector<KernelCase>& cases, Random& random, const char* name, kernels::Mode mode,
              const Params& params, const Pair<T>& pair, Function function) {
  std::vector<T> out;
  reference::for_each_index(pair.extents, [&](const reference::Ints& at) {
    out.push_back(function(pair.a.data[static_cast<size_t>(reference::dot(at, pair.a.strides))],
                           pair.b.data[static_cast<size_t>(reference::dot(at, pair.b.strides))]));
  });
  const auto builder = [&] {
    CaseBuilder result(name, mode, params, random.tag());
    result.input(pair.a.data).input(pair.b.data);
    return result;
  };
  cases.push_back(builder().output(out).done());
  if (pair.a.whole) cases.push_back(builder().output_in_place(0, out).done());
  if (pair.b.whole) cases.push_back(builder().output_in_place(1, out).done());
}

}  // namespace rushlight
