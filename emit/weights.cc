// SPDX-License-Identifier: Apache-2.0
// <model>_weights.cpp: the constants, and <model>_selftest.cpp: one sample.
#include <fmt/format.h>

#include <cstring>

#include "emit/literals.h"
#include "emit/parts.h"

namespace rushlight::emit {
namespace {

// Larger arrays of integers take compilers long; as string literals they don't.
constexpr size_t kMaxArrayEntries = 4096;

std::vector<int32_t> integers(const ConstantData& constant) {
  std::vector<int32_t> values(constant.bytes.size() / sizeof(int32_t));
  if (!values.empty()) std::memcpy(values.data(), constant.bytes.data(), values.size() * sizeof(int32_t));
  return values;
}

// "const std::int32_t k_bias[16]". A string literal ends in a zero, which an array in C++ must hold as well.
std::string declarator(const ConstantData& constant) {
  const bool as_integers = is_integer_array(constant);
  return fmt::format("const {} {}[{}]", as_integers ? "std::int32_t" : "unsigned char",
                     constant_name(constant),
                     as_integers ? constant.bytes.size() / sizeof(int32_t) : constant.bytes.size() + 1);
}

}  // namespace

std::string constant_name(const ConstantData& constant) { return fmt::format("k_{}", constant.name); }

bool is_integer_array(const ConstantData& constant) {
  return constant.dtype == DType::int32 && !constant.bytes.empty() &&
         constant.bytes.size() <= kMaxArrayEntries * sizeof(int32_t);
}

std::string weights_declarations(const Library& library) {
  std::string text;
  for (const ConstantData& constant : library.program.constants)
    text += fmt::format("extern {};\n", declarator(constant));
  return text + "\n";
}

std::string weights_source(const Library& library) {
  std::string text =
      banner() + fmt::format(R"(// Constants of {0}. Integers wider than a byte are little-endian.
#include <cstdint>

#ifndef RUSHLIGHT_WEIGHTS_SECTION
#define RUSHLIGHT_WEIGHTS_SECTION
#endif

namespace {0} {{
)",
                             library.name);
  for (const ConstantData& constant : library.program.constants) {
    const std::string section = fmt::format("{}_{}_SECTION", library.macro, upper_case(constant.name));
    text += fmt::format("\n#ifndef {0}\n#define {0} RUSHLIGHT_WEIGHTS_SECTION\n#endif\n", section);
    text += fmt::format("extern {0};\nalignas(16) {1} {0} =", declarator(constant), section);
    text += is_integer_array(constant) ? fmt::format(" {};\n", int32_list(integers(constant)))
                                       : fmt::format("\n{};\n", string_literal(constant.bytes));
  }
  return text + fmt::format("\n}}  // namespace {}\n", library.name);
}

std::string selftest_source(const Library& library, const SelfTest& selftest) {
  const Program& program = library.program;
  require(selftest.inputs.size() == program.inputs.size(), "the self-test has a sample for every input");
  std::string text =
      banner() + fmt::format("#include \"{0}.h\"\n\nnamespace {0} {{\nnamespace {{\n", library.name);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const std::span<const std::byte> bytes = selftest.inputs[i].bytes();
    require(static_cast<int64_t>(bytes.size()) == program.inputs[i].type.bytes(),
            "the self-test fits the inputs");
    text += fmt::format("alignas(16) const unsigned char kSample{}[{}] =\n{};\n", i, bytes.size() + 1,
                        string_literal(bytes));
  }
  text += R"(
// FNV-1a.
std::uint32_t checksum(std::uint32_t hash, const std::byte* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<std::uint32_t>(bytes[i])) * 16777619u;
  return hash;
}
}  // namespace

bool selftest(void* memory) {
  std::byte* const arena = static_cast<std::byte*>(memory);
  Model model{memory};
)";
  for (size_t i = 0; i < program.inputs.size(); ++i)
    text += fmt::format("  for (std::size_t i = 0; i < {}; ++i) arena[{} + i] = std::byte{{kSample{}[i]}};\n",
                        program.inputs[i].type.bytes(), library.plan.offsets.at(program.inputs[i].buffer), i);
  text += "  model.run();\n  std::uint32_t hash = 2166136261u;\n";
  for (const Port& output : program.outputs)
    text += fmt::format("  hash = checksum(hash, arena + {}, {});\n", library.plan.offsets.at(output.buffer),
                        output.type.bytes());
  text += fmt::format(R"(  return hash == {}u;
}}

bool selftest(std::byte (&arena)[kArenaBytes]) {{ return selftest(static_cast<void*>(arena)); }}

}}  // namespace {}
)",
                      selftest.checksum, library.name);
  return text;
}

}  // namespace rushlight::emit
