// SPDX-License-Identifier: Apache-2.0
#include "sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace rushlight {
namespace {

struct alignas(kArenaAlignment) Line {
  std::array<std::byte, kArenaAlignment> bytes;
};

constexpr size_t kCanaryLines = 4;
constexpr std::byte kCanary{0xA5};

std::vector<Line> lines_for(int64_t bytes) {
  return std::vector<Line>(static_cast<size_t>((bytes + kArenaAlignment - 1) / kArenaAlignment));
}

}  // namespace

struct Simulator::Memory {
  std::vector<Line> arena;
  std::vector<std::vector<Line>> constants;

  std::byte* at(int64_t offset) { return arena.front().bytes.data() + offset; }
};

Simulator::Simulator(const Program& program, const Plan& plan, std::byte poison)
    : program_(program), plan_(plan), poison_(poison), memory_(std::make_unique<Memory>()) {
  memory_->arena = lines_for(plan.arena_bytes + static_cast<int64_t>(kCanaryLines) * kArenaAlignment);
  for (const ConstantData& constant : program.constants) {
    std::vector<Line> copy = lines_for(static_cast<int64_t>(constant.bytes.size()) + 1);
    std::memcpy(copy.data(), constant.bytes.data(), constant.bytes.size());
    memory_->constants.push_back(std::move(copy));
  }
  reset();
}

Simulator::~Simulator() = default;

void Simulator::reset() { std::memset(memory_->at(0), 0, static_cast<size_t>(plan_.persistent_bytes)); }

Result<std::vector<Tensor>> Simulator::run(std::span<const Tensor> inputs) {
  require(inputs.size() == program_.inputs.size(), "one tensor for each input of the program");
  const auto arena_end = static_cast<size_t>(plan_.arena_bytes);
  const auto persistent = static_cast<size_t>(plan_.persistent_bytes);
  std::memset(memory_->at(plan_.persistent_bytes), static_cast<int>(poison_), arena_end - persistent);
  std::memset(memory_->at(plan_.arena_bytes), static_cast<int>(kCanary), kCanaryLines * kArenaAlignment);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = program_.inputs[i];
    require(inputs[i].dtype() == port.type.dtype && inputs[i].shape() == port.type.shape,
            "an input tensor has its port's type");
    std::memcpy(memory_->at(plan_.offsets[static_cast<size_t>(port.buffer)]), inputs[i].bytes().data(),
                inputs[i].bytes().size());
  }
  for (const KernelCall& call : program_.calls) {
    std::array<void*, kernels::kMaxArguments> arguments{};
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const auto index = static_cast<size_t>(call.arguments[i].index);
      arguments[i] = call.arguments[i].to == Binding::To::buffer
                         ? static_cast<void*>(memory_->at(plan_.offsets[index]))
                         : static_cast<void*>(memory_->constants[index].data());
    }
    call.row().invoke(call.params.data(), arguments.data());
    const std::byte* canary = memory_->at(plan_.arena_bytes);
    if (std::any_of(canary, canary + kCanaryLines * kArenaAlignment,
                    [](std::byte b) { return b != kCanary; }))
      throw InternalError(
          fmt::format("kernel call {} ({}) wrote behind the arena", call.name, call.row().name));
  }
  std::vector<Tensor> outputs;
  for (const Port& port : program_.outputs) {
    Tensor output(port.type.dtype, port.type.shape);
    std::memcpy(output.bytes().data(), memory_->at(plan_.offsets[static_cast<size_t>(port.buffer)]),
                output.bytes().size());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace rushlight
