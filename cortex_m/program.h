// SPDX-License-Identifier: Apache-2.0
// A lowered model: kernel calls in order, over buffers and constants. The planner places its buffers, the
// simulator runs it, the emitter prints it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cortex_m/target.h"
#include "kernels/table.h"
#include "types/tensor_type.h"

namespace rushlight {

enum class Rounding : uint8_t { single, double_rounding };  // see docs/numerics.md
constexpr std::string_view name(Rounding rounding) {
  return rounding == Rounding::single ? "single" : "double";
}

enum class BufferKind : uint8_t {
  arena,       // lives from its first writer to its last reader
  persistent,  // lives on between runs, cleared by reset(): recurrent state, ring buffers
};

// Memory of one tensor or one kernel's scratch.
struct Buffer {
  std::string name;
  BufferKind kind = BufferKind::arena;
  int64_t bytes = 0;
};

// Read-only data: packed weights, folded biases, multipliers, tables.
struct ConstantData {
  std::string name;  // a C identifier
  DType dtype = DType::int8;
  std::vector<std::byte> bytes;
};

// A kernel argument: a whole buffer or a whole constant.
struct Binding {
  enum class To : uint8_t { buffer, constant } to = To::buffer;
  int index = 0;
  bool operator==(const Binding&) const = default;
};

struct KernelCall {
  int kernel = 0;                  // row of kernels::kKernels
  std::vector<std::byte> params;   // the row's Params struct
  std::vector<Binding> arguments;  // in the order of the kernel's signature, scratch included
  std::string name;                // of the source node
  std::string source;              // "net.py:12", or empty
  // Arguments (inputs) whose memory the output may take over exactly: the kernel's row allows it, and
  // elements of both stand in the same order.
  std::vector<int> may_overwrite;
  int64_t macs = 0;          // multiply-accumulates, for reports
  int accumulator_bits = 0;  // that the greatest accumulator can need, sign included; 0: not a layer

  const kernels::KernelRow& row() const { return kernels::kKernels[kernel]; }
  bool operator==(const KernelCall&) const = default;
};

// An input or output of the program. int8 (quantization in the type) or float32, row-major.
struct Port {
  std::string name;
  TensorType type;
  int buffer = 0;
};

// Two buffers that the planner must place at a fixed distance: offset(second) == offset(first) + distance.
struct OffsetConstraint {
  int first = 0;
  int second = 0;
  int64_t distance = 0;
};

// Something that the model's author may want to know; the program is right all the same.
struct Note {
  std::string node;
  std::string source;  // "net.py:12", or empty
  std::string text;
};

struct Program {
  std::string name;  // a C identifier
  Rounding rounding = Rounding::single;
  const Target* target = nullptr;  // null: portable kernels only
  std::vector<Buffer> buffers;
  std::vector<ConstantData> constants;
  std::vector<KernelCall> calls;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<OffsetConstraint> constraints;
  std::vector<Note> notes;
};

// The program as text, one line a call: for `inspect --after lower` and tests.
std::string print(const Program& program);

}  // namespace rushlight
