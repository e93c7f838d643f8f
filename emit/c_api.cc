// SPDX-License-Identifier: Apache-2.0
// <model>_c.h and <model>_c.cpp: the Model class's calls for C, on the arena's address.
#include <fmt/format.h>

#include "emit/literals.h"
#include "emit/parts.h"

namespace rushlight::emit {
namespace {

std::string port_macros(const Library& library, const std::vector<Port>& ports, std::string_view kind) {
  std::string text = fmt::format("#define {}_{}_COUNT {}\n", library.macro, kind, ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string prefix = fmt::format("#define {}_{}{}", library.macro, kind, i);
    text += fmt::format("// {}\n", port_comment(ports[i]));
    text += fmt::format("{}_ELEMENTS {}\n", prefix, ports[i].type.elements());
    text += fmt::format("{}_BYTES {}\n", prefix, ports[i].type.bytes());
    if (!ports[i].type.quantized()) continue;
    text +=
        fmt::format("{}_SCALE {}\n", prefix, float_literal(static_cast<float>(ports[i].type.quant.scale())));
    text += fmt::format("{}_ZERO_POINT ({})\n", prefix, ports[i].type.quant.zero_point());
  }
  return text + "\n";
}

// The element type if all ports share it.
std::string_view common_type(const std::vector<Port>& ports) {
  if (ports.empty()) return "void";
  for (const Port& port : ports)
    if (port.type.dtype != ports[0].type.dtype) return "void";
  return spelling(ports[0].type.dtype).type;
}

std::string input_signature(const Library& library) {
  return fmt::format("{}* {}_input(void* arena, int index)", common_type(library.program.inputs),
                     library.name);
}
std::string output_signature(const Library& library) {
  return fmt::format("const {}* {}_output(const void* arena, int index)",
                     common_type(library.program.outputs), library.name);
}

std::string port_function(const Library& library, const std::vector<Port>& ports,
                          const std::string& signature, std::string_view constness) {
  std::string text = signature + " {\n  switch (index) {\n";
  for (size_t i = 0; i < ports.size(); ++i)
    text +=
        fmt::format("    case {}: return reinterpret_cast<{}{}*>(static_cast<{}std::byte*>(arena) + {});\n",
                    i, constness, common_type(ports), constness, library.plan.offsets.at(ports[i].buffer));
  return text + "    default: return nullptr;\n  }\n}\n";
}

}  // namespace

std::string c_header(const Library& library) {
  std::string text = banner() + fmt::format(R"(//
// The calls of {name}.h for C (C99 and later). The arena is {macro}_ARENA_BYTES bytes at a multiple of
// {macro}_ARENA_ALIGNMENT. {name}_init binds it and clears recurrent state.
// An index of no input or output gives NULL.
#pragma once

#include <stdint.h>

#define {macro}_ARENA_BYTES {bytes}
#define {macro}_ARENA_ALIGNMENT {alignment}

)",
                                            fmt::arg("name", library.name), fmt::arg("macro", library.macro),
                                            fmt::arg("bytes", arena_bytes(library.plan)),
                                            fmt::arg("alignment", kArenaAlignment));
  text += port_macros(library, library.program.inputs, "INPUT");
  text += port_macros(library, library.program.outputs, "OUTPUT");
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  text += fmt::format("void {}_init(void* arena);\n", library.name);
  text += input_signature(library) + ";\n";
  text += fmt::format("void {}_run(void* arena);\n", library.name);
  text += output_signature(library) + ";\n";
  text += fmt::format("// Clears recurrent state.\nvoid {}_reset(void* arena);\n", library.name);
  text += fmt::format(
      "// Runs a stored sample; 1 if its outputs are right. Binds the arena anew.\n"
      "int {}_selftest(void* arena);\n",
      library.name);
  return text + "\n#ifdef __cplusplus\n}\n#endif\n";
}

std::string c_source(const Library& library) {
  const std::string& name = library.name;
  std::string text =
      banner() + fmt::format("#include \"{0}_c.h\"\n\n#include \"{0}.h\"\n\nextern \"C\" {{\n\n", name);
  const std::string reset = fmt::format("{{ {}::detail::reset(static_cast<std::byte*>(arena)); }}\n", name);
  text += fmt::format("void {}_init(void* arena) {}", name, reset);
  text += port_function(library, library.program.inputs, input_signature(library), "");
  text += fmt::format("void {0}_run(void* arena) {{ {0}::detail::run(static_cast<std::byte*>(arena)); }}\n",
                      name);
  text += port_function(library, library.program.outputs, output_signature(library), "const ");
  text += fmt::format("void {}_reset(void* arena) {}", name, reset);
  text += fmt::format("int {0}_selftest(void* arena) {{ return {0}::selftest(arena) ? 1 : 0; }}\n", name);
  return text + "\n}  // extern \"C\"\n";
}

}  // namespace rushlight::emit
