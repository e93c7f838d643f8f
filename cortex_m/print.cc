// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cortex_m/program.h"

namespace rushlight {
namespace {

// "{extent: [1,2], factor: {multiplier: 3, shift: -1}}"
struct FieldPrinter : kernels::FieldSink {
  std::string text = "{";
  bool first = true;

  FieldPrinter() : kernels::FieldSink{begin, ints_field, end} {}

  void separate() {
    if (!first) text += ", ";
    first = false;
  }
  static FieldPrinter& of(kernels::FieldSink& sink) { return static_cast<FieldPrinter&>(sink); }
  static void begin(kernels::FieldSink& sink, const char* name) {
    of(sink).separate();
    of(sink).text += fmt::format("{}: {{", name);
    of(sink).first = true;
  }
  static void ints_field(kernels::FieldSink& sink, const char* name, const int32_t* values, int32_t count) {
    of(sink).separate();
    of(sink).text += count == 0 ? fmt::format("{}: {}", name, *values)
                                : fmt::format("{}: [{}]", name, fmt::join(values, values + count, ","));
  }
  static void end(kernels::FieldSink& sink) {
    of(sink).text += "}";
    of(sink).first = false;
  }
};

std::string print(const Program& program, const Binding& binding) {
  return binding.to == Binding::To::buffer ? "%" + program.buffers[static_cast<size_t>(binding.index)].name
                                           : "@" + program.constants[static_cast<size_t>(binding.index)].name;
}

}  // namespace

std::string print(const Program& program) {
  std::string text = fmt::format("program @{} rounding={} {{\n", program.name, name(program.rounding));
  for (const Port& port : program.inputs)
    text += fmt::format("  input %{}: {}\n", port.name, to_string(port.type));
  for (const Buffer& buffer : program.buffers)
    if (buffer.kind == BufferKind::persistent)
      text += fmt::format("  persistent %{}: {} bytes\n", buffer.name, buffer.bytes);
  for (const ConstantData& constant : program.constants)
    text +=
        fmt::format("  @{}: {} bytes of {}\n", constant.name, constant.bytes.size(), name(constant.dtype));
  for (const KernelCall& call : program.calls) {
    FieldPrinter fields;
    call.row().visit(call.params.data(), fields);
    std::vector<std::string> arguments;
    for (const Binding& binding : call.arguments) arguments.push_back(print(program, binding));
    text += fmt::format("  {}({}) {}}}\n", call.row().dialect, fmt::join(arguments, ", "), fields.text);
  }
  for (const Port& port : program.outputs)
    text += fmt::format("  output %{}: {}\n", program.buffers[static_cast<size_t>(port.buffer)].name,
                        to_string(port.type));
  return text + "}\n";
}

}  // namespace rushlight
