// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/json/json.h"
#include "import/pt2/source_place.h"

namespace rushlight::pt2 {

namespace {

// Names end up in messages, in the text form of graphs and in emitted code.
bool is_word(std::string_view name, std::string_view also) {
  return !name.empty() && name.size() <= 256 && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           also.find(c) != std::string_view::npos;
  });
}

std::string word(const JsonPlace& at, std::string_view also = "") {
  std::string text = at.text();
  if (!at.failed() && !is_word(text, also))
    at.fail("is not a name (letters, digits and '_', at most 256 of them)");
  return text;
}
// Dotted, of whatever keys the model's containers have.
std::string model_name(const JsonPlace& at) {
  std::string text = at.text();
  const bool shown =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (!at.failed() && (text.empty() || text.size() > 512 || !shown)) at.fail("is not a printable name");
  return text;
}
std::string value_name(const JsonPlace& at) { return word(at); }

TensorName tensor_name(const JsonPlace& at) { return {value_name(at.member("name"))}; }

SymInt sym_int(const JsonPlace& at) {
  const auto [tag, value] = at.only_member();
  if (tag == "as_int") return value.integer();
  if (tag == "as_expr") return value.member("expr_str").text();
  at.fail(fmt::format("'{}' is not an integer or an expression", tag));
  return int64_t{0};
}

std::vector<SymInt> sym_ints(const JsonPlace& at) {
  std::vector<SymInt> values;
  for (const JsonPlace& item : at.items()) values.push_back(sym_int(item));
  return values;
}

TensorMeta tensor_meta(const JsonPlace& at) {
  return {at.member("dtype").integer(), sym_ints(at.member("sizes")), sym_ints(at.member("strides")),
          sym_int(at.member("storage_offset"))};
}

IntOrName int_or_name(const JsonPlace& at) {
  const auto [tag, value] = at.only_member();
  if (tag == "as_int") return value.integer();
  if (tag == "as_name") return value_name(value);
  at.fail(fmt::format("'{}' is not an integer or a name", tag));
  return int64_t{0};
}

std::optional<TensorName> optional_tensor(const JsonPlace& at) {
  const auto [tag, value] = at.only_member();
  if (tag == "as_none") return std::nullopt;
  if (tag == "as_tensor") return tensor_name(value);
  at.fail(fmt::format("'{}' is not a tensor or none", tag));
  return std::nullopt;
}

template <class To, class Read>
std::vector<To> list(const JsonPlace& at, Read read) {
  std::vector<To> values;
  for (const JsonPlace& item : at.items()) values.emplace_back(read(item));
  return values;
}

Argument argument(const JsonPlace& at) {
  const auto [tag, value] = at.only_member();
  if (tag == "as_none") return None{};
  if (tag == "as_tensor") return tensor_name(value);
  if (tag == "as_tensors") return list<std::optional<TensorName>>(value, tensor_name);
  if (tag == "as_optional_tensors") return list<std::optional<TensorName>>(value, optional_tensor);
  if (tag == "as_int") return value.integer();
  if (tag == "as_ints") return list<IntOrName>(value, [](const JsonPlace& item) { return item.integer(); });
  if (tag == "as_float") return value.real();
  if (tag == "as_floats") return list<double>(value, [](const JsonPlace& item) { return item.real(); });
  if (tag == "as_string") return value.text();
  if (tag == "as_bool") return value.boolean();
  if (tag == "as_sym_int") return SymIntArgument{int_or_name(value)};
  if (tag == "as_sym_ints") return list<IntOrName>(value, int_or_name);
  if (tag == "as_scalar_type") return ScalarType{value.integer()};
  return OtherArgument{std::string(tag)};
}

// Letters, digits and what separates namespaces and overloads.
std::string target(const JsonPlace& at) {
  std::string text = word(at, ".:<>-");
  constexpr std::string_view kPrefix = "torch.ops.";
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  return text;
}

NodeSpec node(const JsonPlace& at) {
  NodeSpec n;
  n.target = target(at.member("target"));
  for (const JsonPlace& input : at.member("inputs").items())
    n.inputs.push_back({input.member("name").text(), argument(input.member("arg"))});
  n.outputs = list<Argument>(at.member("outputs"), argument);
  // Nodes that give nothing may lack a name.
  n.name = at.has("name") ? value_name(at.member("name")) : n.target;
  if (at.has("metadata") && at.member("metadata").has("stack_trace"))
    n.source = source_place(at.member("metadata").member("stack_trace").text());
  return n;
}

InputSpec input_spec(const JsonPlace& at) {
  const auto [tag, value] = at.only_member();
  if (tag == "parameter")
    return {InputKind::parameter, tensor_name(value.member("arg")),
            model_name(value.member("parameter_name"))};
  if (tag == "buffer")
    return {InputKind::buffer, tensor_name(value.member("arg")), model_name(value.member("buffer_name")),
            value.member("persistent").boolean()};
  if (tag == "tensor_constant")
    return {InputKind::tensor_constant, tensor_name(value.member("arg")),
            model_name(value.member("tensor_constant_name"))};
  if (tag == "user_input") return {InputKind::user_input, argument(value.member("arg")), ""};
  if (tag == "constant_input") return {InputKind::constant_input, None{}, value.member("name").text()};
  return {InputKind::other, None{}, std::string(tag)};
}

OutputSpec output_spec(const JsonPlace& at) {
  const auto [tag, value] = at.only_member();
  if (tag == "user_output") return {OutputKind::user_output, argument(value.member("arg")), ""};
  if (tag == "buffer_mutation")
    return {OutputKind::buffer_mutation, tensor_name(value.member("arg")),
            model_name(value.member("buffer_name"))};
  return {OutputKind::other, None{}, std::string(tag)};
}

Range range(const JsonPlace& at) {
  Range r;
  if (at.has("min_val")) r.min = at.member("min_val").integer();
  if (at.has("max_val")) r.max = at.member("max_val").integer();
  return r;
}

void check_version(const JsonPlace& top) {
  const JsonPlace version = top.member("schema_version");
  const int64_t major = version.member("major").integer();
  if (!top.failed() && major != kSchemaMajor)
    version.fail(fmt::format(
        "is {}; only {} is known. Export the model again with torch 2.9 or newer (2.13 is tested)", major,
        kSchemaMajor));
}

Program program(const JsonPlace& top) {
  check_version(top);
  Program p;
  if (top.has("torch_version")) p.torch_version = top.member("torch_version").text();
  const JsonPlace module = top.member("graph_module");
  const JsonPlace graph = module.member("graph");
  p.inputs = list<InputSpec>(module.member("signature").member("input_specs"), input_spec);
  p.outputs = list<OutputSpec>(module.member("signature").member("output_specs"), output_spec);
  p.nodes = list<NodeSpec>(graph.member("nodes"), node);
  for (const auto& [name, meta] : graph.member("tensor_values").members())
    p.tensors.emplace(name, tensor_meta(meta));
  if (top.has("range_constraints"))
    for (const auto& [symbol, r] : top.member("range_constraints").members())
      p.ranges.emplace(symbol, range(r));
  return p;
}

Payloads payloads(const JsonPlace& top) {
  Payloads all;
  for (const auto& [name, at] : top.member("config").members()) {
    // Entries for objects that are not tensors have other members; the graph can't use them as tensors.
    if (!at.has("path_name")) continue;
    Payload p;
    p.file = word(at.member("path_name"), ".-");
    p.pickled = at.has("use_pickle") && at.member("use_pickle").boolean();
    if (at.has("tensor_meta")) p.meta = tensor_meta(at.member("tensor_meta"));
    all.emplace(name, std::move(p));
  }
  return all;
}

template <class T>
Result<T> read(std::string_view text, const std::string& where, T (*reader)(const JsonPlace&)) {
  auto json = parse_json(text, where);
  if (!json) return forward(json);
  JsonContext context(*json, where);
  T value = reader(JsonPlace(*json, context));
  if (context.failed()) return tl::unexpected(context.take_error());
  return value;
}

}  // namespace

Result<Program> parse_program(std::string_view text, const std::string& where) {
  return read(text, where, program);
}

Result<Payloads> parse_payloads(std::string_view text, const std::string& where) {
  return read(text, where, payloads);
}

}  // namespace rushlight::pt2
