// SPDX-License-Identifier: Apache-2.0
// Shares no code with the planner on purpose.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "plan/plan.h"

namespace rushlight {
namespace {

constexpr int kNobody = -1;

class Checker {
 public:
  Checker(const Program& program, const Plan& plan) : program_(program), plan_(plan) {}

  Status run() {
    if (Status s = check_places(); !s) return s;
    owner_.assign(static_cast<size_t>(plan_.arena_bytes), kNobody);
    for (size_t b = 0; b < program_.buffers.size(); ++b)
      if (program_.buffers[b].kind == BufferKind::persistent) write(static_cast<int>(b));
    for (const Port& input : program_.inputs) write(input.buffer);
    for (const KernelCall& call : program_.calls)
      if (Status s = follow(call); !s) return s;
    for (const Port& output : program_.outputs)
      if (Status s = read(output.buffer, "the caller"); !s) return s;
    for (size_t b = 0; b < program_.buffers.size(); ++b)
      if (program_.buffers[b].kind == BufferKind::persistent)
        if (Status s = read(static_cast<int>(b), "the next run"); !s) return s;
    for (size_t i = 0; i < program_.inputs.size(); ++i)
      if (plan_.input_preserved[i])
        if (Status s = read(program_.inputs[i].buffer, "the caller, who is told that it is preserved,"); !s)
          return s;
    return {};
  }

 private:
  const Buffer& buffer(int index) const { return program_.buffers[static_cast<size_t>(index)]; }
  int64_t begin(int index) const { return plan_.offsets[static_cast<size_t>(index)]; }
  int64_t end(int index) const { return begin(index) + buffer(index).bytes; }

  tl::unexpected<Error> wrong(int index, std::string what) const {
    return input_error(fmt::format("plan of {}, buffer {}", program_.name, buffer(index).name),
                       std::move(what));
  }

  Status check_places() const {
    if (plan_.offsets.size() != program_.buffers.size())
      return input_error("plan of " + program_.name, "has not one offset a buffer");
    if (plan_.input_preserved.size() != program_.inputs.size())
      return input_error("plan of " + program_.name, "does not say of each input whether it is preserved");
    if (plan_.persistent_bytes < 0 || plan_.persistent_bytes > plan_.arena_bytes)
      return input_error("plan of " + program_.name, fmt::format("has {} persistent bytes in an arena of {}",
                                                                 plan_.persistent_bytes, plan_.arena_bytes));
    int64_t total = 0;
    for (const Buffer& b : program_.buffers) total += b.bytes + kArenaAlignment;
    for (const OffsetConstraint& c : program_.constraints) total += std::abs(c.distance);
    if (plan_.arena_bytes > total)
      return input_error(
          "plan of " + program_.name,
          fmt::format("has an arena of {} bytes; all buffers side by side take less", plan_.arena_bytes));
    for (int b = 0; b < static_cast<int>(program_.buffers.size()); ++b) {
      if (begin(b) < 0 || begin(b) > plan_.arena_bytes - buffer(b).bytes)
        return wrong(b, fmt::format("lies at {} with {} bytes, outside the arena of {} bytes", begin(b),
                                    buffer(b).bytes, plan_.arena_bytes));
      const bool constrained = std::any_of(program_.constraints.begin(), program_.constraints.end(),
                                           [&](const OffsetConstraint& c) { return c.second == b; });
      if (begin(b) % kArenaAlignment != 0 && !constrained)
        return wrong(b, fmt::format("starts at {}, no multiple of {}", begin(b), kArenaAlignment));
      if (buffer(b).kind == BufferKind::persistent && end(b) > plan_.persistent_bytes)
        return wrong(b, "is persistent, but reset() would not clear it");
    }
    for (const OffsetConstraint& c : program_.constraints)
      if (begin(c.second) != begin(c.first) + c.distance)
        return wrong(c.second,
                     fmt::format("is not {} bytes from buffer {}", c.distance, buffer(c.first).name));
    return {};
  }

  void write(int index) { std::fill(owner_.begin() + begin(index), owner_.begin() + end(index), index); }

  Status read(int index, const std::string& reader) const {
    for (int64_t at = begin(index); at < end(index); ++at)
      if (const int found = owner_[static_cast<size_t>(at)]; found != index)
        return wrong(index, fmt::format("is read by {}, but its byte {} then belongs to {}", reader,
                                        at - begin(index), found == kNobody ? "nobody" : buffer(found).name));
    return {};
  }

  bool overlap(int a, int b) const { return begin(a) < end(b) && begin(b) < end(a); }

  Status follow(const KernelCall& call) {
    const kernels::KernelRow& row = call.row();
    std::vector<size_t> written;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (call.arguments[i].to != Binding::To::buffer) continue;
      const bool scratch = row.arguments[i].element == kernels::Element::bytes;
      if (row.arguments[i].output || scratch) {
        written.push_back(i);
      } else if (Status s = read(call.arguments[i].index, "call " + call.name); !s) {
        return s;
      }
    }
    for (size_t w : written)
      for (size_t i = 0; i < call.arguments.size(); ++i)
        if (i != w && call.arguments[i].to == Binding::To::buffer)
          if (Status s = check_pair(call, w, i); !s) return s;
    for (size_t w : written) write(call.arguments[w].index);
    return {};
  }

  // A written argument against another one of the same call.
  Status check_pair(const KernelCall& call, size_t written, size_t other) const {
    const int a = call.arguments[written].index;
    const int b = call.arguments[other].index;
    if (!overlap(a, b)) return {};
    const bool exact = begin(a) == begin(b) && end(a) == end(b);
    const bool allowed =
        call.row().overlap == kernels::Overlap::elementwise && exact &&
        std::count(call.may_overwrite.begin(), call.may_overwrite.end(), static_cast<int>(other)) > 0;
    if (allowed) return {};
    return wrong(a, fmt::format("is written by call {} ({}) over buffer {}, which that kernel does not allow",
                                call.name, call.row().name, buffer(b).name));
  }

  const Program& program_;
  const Plan& plan_;
  std::vector<int> owner_;  // the buffer whose contents each byte of the arena holds
};

}  // namespace

Status check(const Program& program, const Plan& plan) { return Checker(program, plan).run(); }

}  // namespace rushlight
