// SPDX-License-Identifier: Apache-2.0
// <model>.cpp: one kernel call after another.
#include <fmt/format.h>

#include "emit/literals.h"
#include "emit/parts.h"

namespace rushlight::emit {
namespace {

constexpr size_t kLineWidth = 110;

// Collects a Params struct as an aggregate initialiser with the fields' names as comments.
struct InitializerSink : kernels::FieldSink {
  std::vector<std::string> items;  // "/*name=*/1", with what opens and closes nested structs attached

  InitializerSink() : FieldSink{begin, add_ints, end} {}

  static InitializerSink& of(FieldSink& sink) { return static_cast<InitializerSink&>(sink); }

  std::string prefix;  // opens the structs that begin with the next item
  static void begin(FieldSink& sink, const char* field) {
    of(sink).prefix += fmt::format("/*{}=*/{{", field);
  }
  static void end(FieldSink& sink) { of(sink).items.back() += "}"; }
  static void add_ints(FieldSink& sink, const char* field, const int32_t* values, int32_t count) {
    InitializerSink& self = of(sink);
    std::string item = self.prefix + fmt::format("/*{}=*/", field);
    self.prefix.clear();
    if (count == 0) {
      item += int32_literal(*values);
    } else {
      item += int32_list({values, static_cast<size_t>(count)});
    }
    self.items.push_back(std::move(item));
  }
};

// Items separated by commas, wrapped, continuation lines indented.
std::string wrapped(const std::vector<std::string>& items, size_t column, std::string_view indent) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (column + item.size() + 3 > kLineWidth) {
      text += fmt::format("\n{}", indent);
      column = indent.size();
    } else if (i > 0) {
      text += ' ';
      ++column;
    }
    text += item;
    column += item.size();
  }
  return text;
}

std::string params_definition(const KernelCall& call) {
  const auto& row = call.row();
  require(call.params.size() == static_cast<size_t>(row.params_size),
          "a call holds the params of its kernel");
  // A copy, because bytes of a vector need not be aligned for the fields.
  std::vector<int32_t> params(call.params.size() / sizeof(int32_t));
  std::memcpy(params.data(), call.params.data(), call.params.size());
  InitializerSink sink;
  row.visit(params.data(), sink);

  const std::string start = fmt::format("    static constexpr {} params = {{", row.params_type);
  return start + wrapped(sink.items, start.size(), "        ") + "};\n";
}

std::string_view element_type(kernels::Element element) {
  switch (element) {
    case kernels::Element::i8:
      return "std::int8_t";
    case kernels::Element::i16:
      return "std::int16_t";
    case kernels::Element::i32:
      return "std::int32_t";
    case kernels::Element::i64:
      return "std::int64_t";
    case kernels::Element::f32:
      return "float";
    case kernels::Element::bytes:
      return "std::byte";
  }
  throw InternalError("internal error: unknown element of a kernel's argument");
}

std::string argument_text(const Library& library, const Binding& binding, const kernels::Argument& argument) {
  const std::string_view type = element_type(argument.element);
  if (binding.to == Binding::To::buffer) {
    const bool writable = argument.output || argument.element == kernels::Element::bytes;
    return fmt::format("at<{}{}>(arena + {})", writable ? "" : "const ", type,
                       library.plan.offsets.at(static_cast<size_t>(binding.index)));
  }
  require(!argument.output, "a kernel writes no constant");
  const ConstantData& constant = library.program.constants.at(static_cast<size_t>(binding.index));
  return is_integer_array(constant) ? constant_name(constant)
                                    : fmt::format("at<const {}>({})", type, constant_name(constant));
}

std::string call_text(const Library& library, size_t index) {
  const KernelCall& call = library.program.calls[index];
  const auto& row = call.row();
  require(call.arguments.size() == static_cast<size_t>(row.argument_count), "a call binds every argument");

  const std::string where = call.source.empty() ? "" : ", " + comment_text(call.source);
  std::string text =
      fmt::format("  {{  // {}: {}{}, {}\n", index, comment_text(call.name), where, row.dialect);
  text += params_definition(call);
  text += fmt::format("    RUSHLIGHT_BEFORE_CALL({});\n", index);

  std::vector<std::string> items = {"params"};
  for (size_t i = 0; i < call.arguments.size(); ++i)
    items.push_back(argument_text(library, call.arguments[i], row.arguments[i]));
  const std::string start = fmt::format("    {}(", row.expression);
  text += start + wrapped(items, start.size(), "        ") + ");\n";
  return text + fmt::format("    RUSHLIGHT_AFTER_CALL({});\n  }}\n", index);
}

std::string includes(const Library& library) {
  std::string text = fmt::format("#include \"{}.h\"\n\n", library.name);
  std::vector<std::string_view> seen;
  for (const KernelCall& call : library.program.calls) {
    const std::string_view header = call.row().header;
    if (std::find(seen.begin(), seen.end(), header) != seen.end()) continue;
    seen.push_back(header);
    text += fmt::format("#include \"{}\"\n", header);
  }
  return text + "\n";
}

constexpr std::string_view kHooks = R"(// For measuring: statements before and after kernel call i.
#ifndef RUSHLIGHT_BEFORE_CALL
#define RUSHLIGHT_BEFORE_CALL(i) static_cast<void>(0)
#endif
#ifndef RUSHLIGHT_AFTER_CALL
#define RUSHLIGHT_AFTER_CALL(i) static_cast<void>(0)
#endif

)";

constexpr std::string_view kAt = R"(namespace {
template <class T, class Memory>
inline T* at(Memory* memory) {
  return reinterpret_cast<T*>(memory);
}
}  // namespace

)";

}  // namespace

std::string library_source(const Library& library) {
  const bool has_calls = !library.program.calls.empty();
  std::string text = banner() + includes(library) + std::string(kHooks);
  text += fmt::format("namespace {} {{\n", library.name);
  text += weights_declarations(library);
  if (has_calls) text += kAt;
  text += fmt::format("void detail::run(std::byte* {}) {{\n", has_calls ? "arena" : "");
  if (has_calls) text += "  using namespace rushlight::kernels;\n";
  for (size_t i = 0; i < library.program.calls.size(); ++i) text += call_text(library, i);
  text += "}\n\n";
  if (library.plan.persistent_bytes > 0) {
    text +=
        "void detail::reset(std::byte* arena) {\n"
        "  for (std::size_t i = 0; i < kStateBytes; ++i) arena[i] = std::byte{0};\n}\n\n";
  } else {
    text += "void detail::reset(std::byte*) {}\n\n";
  }
  return text + fmt::format("}}  // namespace {}\n", library.name);
}

}  // namespace rushlight::emit
