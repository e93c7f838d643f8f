// SPDX-License-Identifier: Apache-2.0
// <model>.h: the Model class and what is known about it at compile time.
#include <fmt/format.h>

#include "emit/literals.h"
#include "emit/parts.h"

namespace rushlight::emit {
namespace {

std::string shape_list(const Shape& shape) {
  if (shape.empty()) return "{1}";  // a scalar
  return fmt::format("{{{}}}", fmt::join(shape, ", "));
}

bool all_ports_have_type(const std::vector<Port>& ports, DType dtype) {
  for (const Port& port : ports)
    if (port.type.dtype != dtype) return false;
  return true;
}

std::string introduction(const Library& library) {
  const std::string_view core = library.program.target ? library.program.target->core : "any core";
  std::string text = banner() + fmt::format(R"(//
// {name}, compiled for {core}, requantization mode {rounding}. C++17, freestanding: no heap, no exceptions, no
// interpreter, nothing of a C library but memcpy and memset.
//
//   alignas({name}::kArenaAlignment) static std::byte arena[{name}::kArenaBytes];
//   {name}::Model model{{arena}};
//   ... write the integers of model.input(0) ...
//   model.run();
//   ... read model.output(0) ...
//
// Memory      all working memory is the arena, {arena} bytes, aligned to 16; nothing else is ever written.
// Reentrancy  models with arenas of their own may run at the same time; one model in one thread at a time.
// Buffers     inputs and outputs lie in the arena. Outputs stay valid until the next run().
)",
                                            fmt::arg("name", library.name), fmt::arg("core", core),
                                            fmt::arg("rounding", name(library.program.rounding)),
                                            fmt::arg("arena", arena_bytes(library.plan)));
  text += fmt::format(
      R"(// Placement   constants are const and stay in flash. To move them, define for {name}_weights.cpp
//             RUSHLIGHT_WEIGHTS_SECTION or, for one constant, {macro}_<CONSTANT>_SECTION (names: see that file)
//             as an attribute, e.g. __attribute__((section(".dtcm"))).
// C           {name}_c.h
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/quantize.h"

)",
      fmt::arg("name", library.name), fmt::arg("macro", library.macro));
  return text;
}

std::string port_constants(const Port& port, std::string_view prefix, const std::string& note) {
  std::string text = fmt::format("// {}\n{}", port_comment(port), note.empty() ? "" : "// " + note + "\n");
  text +=
      fmt::format("inline constexpr std::int32_t k{}Shape[] = {};\n", prefix, shape_list(port.type.shape));
  text += fmt::format("inline constexpr std::size_t k{}Elements = {};\n", prefix, port.type.elements());
  if (port.type.quantized()) {
    text += fmt::format("inline constexpr float k{}Scale = {};\n", prefix,
                        float_literal(static_cast<float>(port.type.quant.scale())));
    text += fmt::format("inline constexpr std::int32_t k{}ZeroPoint = {};\n", prefix,
                        port.type.quant.zero_point());
  }
  return text + "\n";
}

std::string all_port_constants(const Library& library) {
  const Program& program = library.program;
  std::string text =
      fmt::format("inline constexpr int kInputCount = {};\ninline constexpr int kOutputCount = {};\n\n",
                  program.inputs.size(), program.outputs.size());
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const bool preserved = library.plan.input_preserved.at(i);
    std::string note = preserved ? "run() leaves this buffer as it was."
                                 : "run() overwrites this buffer: write the input anew before each run().";
    text += port_constants(program.inputs[i], fmt::format("Input{}", i), note);
    text.pop_back();
    text += fmt::format("inline constexpr bool kInput{}Preserved = {};\n\n", i, preserved);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i)
    text += port_constants(program.outputs[i], fmt::format("Output{}", i), "");
  return text;
}

constexpr std::string_view kSpan = R"(// A stretch of elements that belongs to someone else.
template <class T>
struct Span {
  T* first;
  std::size_t count;

  constexpr T* data() const { return first; }
  constexpr std::size_t size() const { return count; }
  constexpr T& operator[](std::size_t i) const { return first[i]; }
  constexpr T* begin() const { return first; }
  constexpr T* end() const { return first + count; }
};

)";

// An accessor for all ports of one type; an index of no such port gives an empty span.
std::string accessor(const Library& library, const std::vector<Port>& ports, DType dtype, bool inputs) {
  const auto [type, suffix] = spelling(dtype);
  const std::string element =
      fmt::format("{}{}{}", inputs ? "" : "const ", dtype == DType::float32 ? "" : "std::", type);
  std::string text = fmt::format("  Span<{0}> {1}{2}(int index) {3}{{\n    switch (index) {{\n", element,
                                 inputs ? "input" : "output", suffix, inputs ? "" : "const ");
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].type.dtype == dtype)
      text += fmt::format("      case {}: return {{reinterpret_cast<{}*>(arena_ + {}), {}}};\n", i, element,
                          library.plan.offsets[ports[i].buffer], ports[i].type.elements());
  return text + "      default: return {nullptr, 0};\n    }\n  }\n";
}

std::string accessors(const Library& library) {
  std::string text;
  for (const bool inputs : {true, false}) {
    const std::vector<Port>& ports = inputs ? library.program.inputs : library.program.outputs;
    for (const DTypeRow& row : kDTypes) {
      bool used = row.dtype == DType::int8 && all_ports_have_type(ports, DType::int8);
      for (const Port& port : ports) used = used || port.type.dtype == row.dtype;
      if (used) text += accessor(library, ports, row.dtype, inputs);
    }
  }
  return text;
}

std::string model_class(const Library& library) {
  std::string text = fmt::format(R"(namespace detail {{
// run() and reset() of the model in `arena`, which must have been bound before.
void run(std::byte* arena);
void reset(std::byte* arena);
}}  // namespace detail

class Model {{
 public:
  // Binds to the arena, which must be aligned to kArenaAlignment and outlive the model, and clears recurrent state.
  explicit Model(std::byte (&arena)[kArenaBytes]) : Model(static_cast<void*>(arena)) {{}}
  template <std::size_t kBytes>
  explicit Model(std::byte (&)[kBytes]) = delete;  // an arena has kArenaBytes bytes
  // The same for memory that the caller knows to be large enough.
  explicit Model(void* arena) : arena_(static_cast<std::byte*>(arena)) {{ reset(); }}

  // An index of no input or output of that type gives an empty span.
)");
  text += accessors(library);
  text += R"(
  // Outputs from inputs (and, in a recurrent model, from the state that earlier runs left).
  void run() { detail::run(arena_); }
  // Clears recurrent state.
  void reset() { detail::reset(arena_); }

 private:
  std::byte* arena_;
};

// Binds a model to the arena, runs it on a stored sample and compares a checksum of the outputs.
bool selftest(std::byte (&arena)[kArenaBytes]);
bool selftest(void* arena);

)";
  return text;
}

bool has_integers(const Port& port) {
  return port.type.quantized() && (port.type.dtype == DType::int8 || port.type.dtype == DType::int16);
}

// Template specializations for the quantized ports, so that quantize<1>(...) is checked at compile time.
std::string port_traits(const std::vector<Port>& ports, std::string_view kind) {
  std::string text = fmt::format("template <int kIndex>\nstruct {};\n", kind);
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!has_integers(ports[i])) continue;
    const Quantization& quant = ports[i].type.quant;
    const auto scale = static_cast<float>(quant.scale());
    text += fmt::format("template <>\nstruct {}<{}> {{\n", kind, i);
    text += fmt::format("  using Integer = std::{};\n  static constexpr int bits = {};\n",
                        spelling(ports[i].type.dtype).type, 8 * size_of(ports[i].type.dtype));
    text += fmt::format("  static constexpr float scale = {}, inverse_scale = {};\n", float_literal(scale),
                        float_literal(static_cast<float>(1.0 / quant.scale())));
    text += fmt::format("  static constexpr std::int32_t zero_point = {}, lo = {}, hi = {};\n}};\n",
                        quant.zero_point(), quant.lo, quant.hi);
  }
  return text;
}

bool has_quantized_port(const std::vector<Port>& ports) {
  for (const Port& port : ports)
    if (has_integers(port)) return true;
  return false;
}

constexpr std::string_view kQuantize = R"(
// Integers of input kInput from reals, rounding half to even as PyTorch does. Float code is linked only if called.
template <int kInput = 0>
inline void quantize(const float* reals, std::size_t count, Span<typename detail::InputType<kInput>::Integer> integers) {
  using Type = detail::InputType<kInput>;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t q =
        Type::zero_point + rushlight::kernels::round_half_even_saturated<Type::bits + 2>(reals[i] * Type::inverse_scale);
    integers[i] = static_cast<typename Type::Integer>(q < Type::lo ? Type::lo : q > Type::hi ? Type::hi : q);
  }
}
template <int kInput = 0, std::size_t kCount>
inline void quantize(const float (&reals)[kCount], Span<typename detail::InputType<kInput>::Integer> integers) {
  quantize<kInput>(reals, kCount, integers);
}
)";

constexpr std::string_view kDequantize = R"(
// Reals that the integers of output kOutput stand for.
template <int kOutput = 0>
inline void dequantize(Span<const typename detail::OutputType<kOutput>::Integer> integers, float* reals) {
  using Type = detail::OutputType<kOutput>;
  for (std::size_t i = 0; i < integers.size(); ++i)
    reals[i] = static_cast<float>(integers[i] - Type::zero_point) * Type::scale;
}
)";

std::string float_helpers(const Program& program) {
  std::string text;
  if (has_quantized_port(program.inputs))
    text += "namespace detail {\n" + port_traits(program.inputs, "InputType") + "}  // namespace detail\n" +
            std::string(kQuantize) + "\n";
  if (has_quantized_port(program.outputs))
    text += "namespace detail {\n" + port_traits(program.outputs, "OutputType") + "}  // namespace detail\n" +
            std::string(kDequantize) + "\n";
  return text;
}

}  // namespace

std::string library_header(const Library& library) {
  std::string text = introduction(library);
  text += fmt::format("namespace {} {{\n\n", library.name);
  text += fmt::format("inline constexpr std::size_t kArenaBytes = {};\n", arena_bytes(library.plan));
  text += fmt::format("inline constexpr std::size_t kArenaAlignment = {};\n", kArenaAlignment);
  text += fmt::format(
      "// Recurrent state, at the arena's start: what reset() clears.\n"
      "inline constexpr std::size_t kStateBytes = {};\n\n",
      library.plan.persistent_bytes);
  text += all_port_constants(library);
  text += kSpan;
  text += model_class(library);
  text += float_helpers(library.program);
  return text + fmt::format("}}  // namespace {}\n", library.name);
}

}  // namespace rushlight::emit
