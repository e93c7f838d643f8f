// SPDX-License-Identifier: Apache-2.0
// CMakeLists.txt and example/main.cpp of a library.
#include <fmt/format.h>

#include "emit/parts.h"

namespace rushlight::emit {

std::string cmake_lists(const Library& library) {
  return banner("#") +
         fmt::format(
             R"(# In a project of your own: add_subdirectory(this folder), target_link_libraries(firmware PRIVATE {0}).
cmake_minimum_required(VERSION 3.13)
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  project({0} CXX)
endif()

add_library({0} STATIC {0}.cpp {0}_c.cpp {0}_weights.cpp {0}_selftest.cpp)
target_include_directories({0} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_compile_features({0} PUBLIC cxx_std_17)
# What is not called is not linked (with -Wl,--gc-sections).
target_compile_options({0} PRIVATE -O2 -ffreestanding -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections)
)",
             library.name);
}

std::string example_source(const Library& library) {
  const Program& program = library.program;
  std::string text =
      banner() + fmt::format(R"(// One inference. Add your start-up code, linker script and data.
#include "{0}.h"

alignas({0}::kArenaAlignment) static std::byte arena[{0}::kArenaBytes];

int main() {{
  {0}::Model model{{arena}};  // binds, clears recurrent state; no allocation
)",
                             library.name);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const DType dtype = program.inputs[i].type.dtype;
    const bool reals = (dtype == DType::int8 || dtype == DType::int16) && program.inputs[i].type.quantized();
    text += fmt::format("\n  auto in{0} = model.input{1}({0});\n", i, spelling(dtype).suffix);
    if (reals) {
      text += fmt::format("  static const float samples{0}[{1}::kInput{0}Elements] = {{}};  // your data\n",
                          i, library.name);
      text += fmt::format("  {}::quantize<{}>(samples{}, in{});\n", library.name, i, i, i);
    } else {
      text += fmt::format("  for (auto& x : in{}) x = 0;  // your data\n", i);
    }
  }
  text += "\n  model.run();\n\n";
  if (program.outputs.empty()) return text + "  return 0;\n}\n";
  text += fmt::format("  auto scores = model.output{}(0);\n", spelling(program.outputs[0].type.dtype).suffix);
  return text + R"(  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (scores[i] > scores[best]) best = i;
  return static_cast<int>(best);
}
)";
}

}  // namespace rushlight::emit
