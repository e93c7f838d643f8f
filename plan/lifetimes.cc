// SPDX-License-Identifier: Apache-2.0
#include "plan/lifetimes.h"

#include <algorithm>

namespace rushlight {
namespace {

constexpr int kNever = -2;

bool is_port(const std::vector<Port>& ports, int buffer) {
  return std::any_of(ports.begin(), ports.end(), [&](const Port& p) { return p.buffer == buffer; });
}

// The one buffer that the call writes; -1 if there are several or none.
int output_buffer(const KernelCall& call) {
  int found = -1;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.row().arguments[i].output) continue;
    if (found >= 0) return -1;
    found = call.arguments[i].index;
  }
  return found;
}

}  // namespace

std::vector<Lifetime> lifetimes(const Program& program) {
  std::vector<Lifetime> result(program.buffers.size(), {kNever, kNever});
  const auto note = [&](int buffer, int call) {
    Lifetime& life = result[static_cast<size_t>(buffer)];
    life.first = life.first == kNever ? call : std::min(life.first, call);
    life.last = std::max(life.last, call);
  };
  for (const Port& input : program.inputs) note(input.buffer, -1);
  const auto calls = static_cast<int>(program.calls.size());
  for (int i = 0; i < calls; ++i)
    for (const Binding& binding : program.calls[static_cast<size_t>(i)].arguments)
      if (binding.to == Binding::To::buffer) note(binding.index, i);
  for (const Port& output : program.outputs) note(output.buffer, calls);
  for (size_t b = 0; b < result.size(); ++b)
    if (program.buffers[b].kind == BufferKind::persistent) result[b] = {-1, calls};
  return result;
}

std::vector<std::pair<int, int>> takeovers(const Program& program, const std::vector<Lifetime>& lifetimes) {
  std::vector<std::pair<int, int>> found;
  std::vector<bool> taken(program.buffers.size(), false);
  for (size_t i = 0; i < program.calls.size(); ++i) {
    const KernelCall& call = program.calls[i];
    const int output = output_buffer(call);
    if (output < 0 || call.row().overlap != kernels::Overlap::elementwise) continue;
    const auto at = static_cast<int>(i);
    if (lifetimes[static_cast<size_t>(output)].first != at || is_port(program.inputs, output)) continue;
    for (int argument : call.may_overwrite) {
      const int input = call.arguments[static_cast<size_t>(argument)].index;
      const auto in = static_cast<size_t>(input);
      // The other arguments must not read the same memory in another order.
      bool only_here = true;
      for (size_t k = 0; k < call.arguments.size(); ++k)
        if (call.arguments[k] == call.arguments[static_cast<size_t>(argument)])
          only_here = only_here && std::count(call.may_overwrite.begin(), call.may_overwrite.end(), k) > 0;
      const bool dies = lifetimes[in].last == at && program.buffers[in].kind == BufferKind::arena;
      const bool same_size = program.buffers[in].bytes == program.buffers[static_cast<size_t>(output)].bytes;
      if (!only_here || !dies || !same_size || taken[in]) continue;
      taken[in] = true;
      found.emplace_back(input, output);
      break;
    }
  }
  return found;
}

}  // namespace rushlight
