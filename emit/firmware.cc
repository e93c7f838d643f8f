// SPDX-License-Identifier: Apache-2.0
#include "emit/firmware.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "cortex_m/names.h"
#include "emit/literals.h"
#include "emit/parts.h"
#include "types/embedded.h"

namespace rushlight {
namespace {

void check_names(const Program& program) {
  require(emit::is_identifier(program.name) && library_name(program.name) == program.name,
          "a program's name is usable as a C++ namespace: " + program.name);
  std::set<std::string> names;
  for (const ConstantData& constant : program.constants) {
    require(emit::is_identifier(constant.name), "a constant's name is a C identifier: " + constant.name);
    require(names.insert(constant.name).second, "constants have different names: " + constant.name);
  }
}

void check_ports(const Program& program) {
  for (const std::vector<Port>* ports : {&program.inputs, &program.outputs})
    for (const Port& port : *ports)
      require(port.type.layout == Layout::row_major || layouts_coincide(port.type.shape),
              "ports are row-major: " + port.name);
}

}  // namespace

namespace emit {

std::string banner(std::string_view comment) {
  return fmt::format("{0} SPDX-License-Identifier: Apache-2.0\n{0} {1}\n", comment, kGenerated);
}

ElementSpelling spelling(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return {"int8_t", ""};
    case DType::float32:
      return {"float", "_f32"};
    case DType::uint8:
      return {"uint8_t", "_u8"};
    case DType::int16:
      return {"int16_t", "_i16"};
    case DType::int32:
      return {"int32_t", "_i32"};
    default:
      break;
  }
  throw InternalError("internal error: a device program has no tensors of type " +
                      std::string(rushlight::name(dtype)));
}

std::string port_comment(const Port& port) {
  std::string text = fmt::format("\"{}\": {}{}", comment_text(port.name), spelling(port.type.dtype).type,
                                 to_string(port.type.shape));
  if (port.type.quantized()) {
    const int32_t zero_point = port.type.quant.zero_point();
    text += fmt::format(", real = {} * (integer {} {})", static_cast<float>(port.type.quant.scale()),
                        zero_point < 0 ? '+' : '-', std::abs(zero_point));
  }
  return text;
}

// A copy of a source file, with what tells write_folder whose it is after its licence line.
static std::string marked_as_generated(const std::string& text) {
  const size_t line = text.find('\n') + 1;
  require(text.starts_with("// SPDX-License-Identifier:"), "a source file starts with its licence");
  return fmt::format("{}// {}\n{}", text.substr(0, line), kGenerated, text.substr(line));
}

FileSet kernel_headers(const Program& program) {
  std::set<std::string> wanted = {
      "kernels/quantize.h"};  // quantize() and dequantize() of the library's header
  for (const KernelCall& call : program.calls) wanted.insert(call.row().header);

  FileSet headers;
  while (!wanted.empty()) {
    const std::string path = *wanted.begin();
    wanted.erase(wanted.begin());
    const auto& files = embedded_files();
    const auto file = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.path == path; });
    require(file != files.end(), "a kernel header is embedded: " + path);
    const std::string& text = headers[path] = marked_as_generated(file->text);

    constexpr std::string_view include = "#include \"kernels/";
    for (size_t at = text.find(include); at != std::string::npos; at = text.find(include, at + 1)) {
      const size_t begin = at + include.size() - std::string_view("kernels/").size();
      const std::string other = text.substr(begin, text.find('"', begin) - begin);
      if (!headers.contains(other)) wanted.insert(other);
    }
  }
  return headers;
}

}  // namespace emit

uint32_t output_checksum(const std::vector<Tensor>& outputs) {
  uint32_t hash = 2166136261u;
  for (const Tensor& output : outputs)
    for (const std::byte byte : output.bytes()) hash = (hash ^ static_cast<uint32_t>(byte)) * 16777619u;
  return hash;
}

FileSet emit_firmware(const Program& program, const Plan& plan, const SelfTest& selftest) {
  check_names(program);
  check_ports(program);
  require(plan.offsets.size() == program.buffers.size(), "the plan places every buffer");
  const emit::Library library{program, plan, program.name, emit::upper_case(program.name)};

  FileSet files = emit::kernel_headers(program);
  files[library.name + ".h"] = emit::library_header(library);
  files[library.name + ".cpp"] = emit::library_source(library);
  files[library.name + "_c.h"] = emit::c_header(library);
  files[library.name + "_c.cpp"] = emit::c_source(library);
  files[library.name + "_weights.cpp"] = emit::weights_source(library);
  files[library.name + "_selftest.cpp"] = emit::selftest_source(library, selftest);
  files["CMakeLists.txt"] = emit::cmake_lists(library);
  files["example/main.cpp"] = emit::example_source(library);
  return files;
}

}  // namespace rushlight
