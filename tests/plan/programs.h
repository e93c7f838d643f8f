// SPDX-License-Identifier: Apache-2.0
// Programs made by hand and at random, without graphs.
#pragma once

#include <cstring>

#include "cortex_m/program.h"
#include "plan/plan.h"
#include "tests/support/graphs.h"

namespace rushlight::testing_support {

class ProgramBuilder {
 public:
  int buffer(int64_t bytes, BufferKind kind = BufferKind::arena) {
    program.buffers.push_back({fmt::format("b{}", program.buffers.size()), kind, bytes});
    return static_cast<int>(program.buffers.size()) - 1;
  }
  int input(int64_t bytes) {
    program.inputs.push_back(port(buffer(bytes)));
    return program.inputs.back().buffer;
  }
  void output(int index) { program.outputs.push_back(port(index)); }
  // (a - b + 3) / 2: seldom saturates, so that every byte of both shows in the result.
  int add(int a, int b, std::vector<int> may_overwrite) {
    const int64_t count = bytes(a);
    kernels::AddSingleParams p{};
    for (int i = 0; i < kernels::kMaxLoops; ++i) p.loops.extent[i] = 1;
    p.loops.extent[kernels::kMaxLoops - 1] = static_cast<int32_t>(count);
    p.loops.stride_a[kernels::kMaxLoops - 1] = 1;
    p.loops.stride_b[kernels::kMaxLoops - 1] = bytes(b) == count ? 1 : 0;
    p.multiplier_a = 1;
    p.multiplier_b = -1;
    p.offset = 3;
    p.shift = 1;
    p.lo = -128;
    p.hi = 127;
    const int out = buffer(count);
    call("quantized_add_s8", p, {use(a), use(b), use(out)}, std::move(may_overwrite));
    return out;
  }
  void copy(int from, int to, int64_t output_offset = 0) {
    kernels::CopyParams p{};
    for (int i = 0; i < kernels::kMaxLoops; ++i) p.extent[i] = 1;
    p.extent[kernels::kMaxLoops - 1] = static_cast<int32_t>(std::min(bytes(from), bytes(to) - output_offset));
    p.input_stride[kernels::kMaxLoops - 1] = p.output_stride[kernels::kMaxLoops - 1] = 1;
    p.output_offset = static_cast<int32_t>(output_offset);
    call("copy_s8", p, {use(from), use(to)}, {});
  }
  int64_t bytes(int index) const { return program.buffers[static_cast<size_t>(index)].bytes; }

  Program program;

 private:
  static Binding use(int index) { return {Binding::To::buffer, index}; }
  Port port(int index) const {
    return {program.buffers[static_cast<size_t>(index)].name,
            {.dtype = DType::int8, .shape = {bytes(index)}, .quant = Quantization::per_tensor(1, 0)},
            index};
  }
  template <class Params>
  void call(const char* kernel, const Params& params, std::vector<Binding> arguments,
            std::vector<int> may_overwrite) {
    KernelCall made;
    made.kernel = static_cast<int>(kernels::find_kernel(kernel, kernels::Mode::single_) - kernels::kKernels);
    made.params.resize(sizeof params);
    std::memcpy(made.params.data(), &params, sizeof params);
    made.arguments = std::move(arguments);
    made.name = fmt::format("n{}", program.calls.size());
    made.may_overwrite = std::move(may_overwrite);
    program.calls.push_back(std::move(made));
  }
};

// Additions and copies over buffers of three sizes; a state in every third program.
inline Program random_program(uint64_t seed) {
  Random random(seed);
  ProgramBuilder b;
  std::vector<int> values;
  const auto any = [&] {
    return values[static_cast<size_t>(random.integer(0, static_cast<int64_t>(values.size()) - 1))];
  };
  for (int64_t i = random.integer(1, 2); i > 0; --i) values.push_back(b.input(random.one_in(2) ? 16 : 40));
  const int state = random.one_in(3) ? b.buffer(40, BufferKind::persistent) : -1;
  if (state >= 0) values.push_back(state);
  for (int64_t i = random.integer(2, 12); i > 0; --i) {
    // Late values are read more often: chains are where memory is taken over.
    const int a = random.one_in(2) ? values.back() : any();
    if (random.one_in(4)) {
      const int to = b.buffer(std::min(random.integer(1, 3) * 16, 2 * b.bytes(a)));  // two copies fill it
      b.copy(a, to);
      if (b.bytes(a) < b.bytes(to)) b.copy(a, to, b.bytes(to) - b.bytes(a));
      values.push_back(to);
    } else {
      const int c = any();
      const bool dense = b.bytes(c) == b.bytes(a);
      std::vector<int> may_overwrite = {0};
      if (dense) may_overwrite.push_back(1);
      if (!dense && c == a) may_overwrite.clear();
      values.push_back(b.add(a, c, may_overwrite));
    }
  }
  b.output(values.back());
  if (random.one_in(3)) b.output(any());
  if (state >= 0 && values.back() != state) b.copy(values.back(), state);
  return std::move(b.program);
}

// Every buffer in memory of its own.
inline Plan plan_without_sharing(const Program& program) {
  Plan plan;
  plan.offsets.resize(program.buffers.size());
  for (const bool persistent : {true, false}) {
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      if ((program.buffers[i].kind == BufferKind::persistent) != persistent) continue;
      plan.offsets[i] = plan.arena_bytes;
      plan.arena_bytes +=
          (program.buffers[i].bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    }
    if (persistent) plan.persistent_bytes = plan.arena_bytes;
  }
  plan.input_preserved.assign(program.inputs.size(), true);
  return plan;
}

}  // namespace rushlight::testing_support
