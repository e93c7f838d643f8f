// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/pt2/adapters.h"
#include "import/pt2/composites.h"
#include "import/pt2/converter.h"
#include "import/pt2/targets.h"
#include "ir/verify.h"

namespace rushlight::pt2 {

Result<Graph> convert(Archive& archive, const Names& names, const Binding& binding, const std::string& file) {
  return Converter(archive, names, binding, file).run();
}

namespace {

// Checks that the exporter wrote into the program; what they state holds by construction.
bool states_only(std::string_view target) { return target == "aten._assert_tensor_metadata.default"; }

// "aten.conv2d.default, attribute stride: found 0"
std::string sentence(const NodeSpec& node, const Diagnostic& d) {
  if (d.where.empty()) return fmt::format("{} {}", node.target, d.what);
  return fmt::format("{}, {}: {}", node.target, d.where, d.what);
}

}  // namespace

tl::unexpected<Error> Converter::at(const NodeSpec& node, Error error) const {
  const std::string source = node.source.empty() ? "" : ", at " + node.source;
  for (Diagnostic& d : error.diagnostics)
    d = {fmt::format("{}: node '{}'", file_, node.name), sentence(node, d) + source};
  return tl::unexpected(std::move(error));
}

tl::unexpected<Error> Converter::at(const NodeSpec& node, std::string what) const {
  return at(node, Error{Fault::input, {{"", std::move(what)}}});
}

Result<Graph> Converter::run() {
  if (auto added = add_inputs(); !added) return forward(added);
  for (size_t n = 0; n < program_.nodes.size(); ++n) {
    if (!names_.node_live(n)) continue;
    if (auto converted = convert_node(program_.nodes[n], static_cast<int>(n)); !converted)
      return forward(converted);
  }
  if (!problems_.empty()) return tl::unexpected(problems_.error(file_));
  if (auto added = add_outputs(); !added) return forward(added);
  if (auto added = add_states(); !added) return forward(added);
  graph_.remove_dead();
  if (auto finite = check_constants(); !finite) return forward(finite);
  if (auto verified = verify(graph_); !verified) {
    for (Diagnostic& d : verified.error().diagnostics) d.where = fmt::format("{}: {}", file_, d.where);
    return forward(verified);
  }
  return std::move(graph_);
}

// Fails for what is wrong with the file; what is only unsupported is remembered, and the node's results get
// the types that the file says, so that the nodes behind it can be looked at too.
Status Converter::convert_node(const NodeSpec& node, int index) {
  if (is_integer_node(node)) return fold_integers(node);
  const auto settle = [&](Status status) -> Status {
    if (status) return status;
    if (status.error().fault == Fault::input && !reads_placeholder(node))
      return at(node, std::move(status.error()));
    if (status.error().fault == Fault::no)
      for (const Diagnostic& d : status.error().diagnostics) problems_.add(node, sentence(node, d));
    bind_placeholders(node);
    return {};
  };
  if (auto settled = settle(convert_results(node)); !settled) return settled;
  if (!functional_form(node.target)) return {};
  return settle(write_in_place(node, index));
}

Status Converter::convert_results(const NodeSpec& node) {
  if (states_only(node.target)) return {};
  if (!is_supported(functional_form(node.target).value_or(node.target)))
    return unsupported("", "is not supported");
  auto call = resolve(node);
  if (!call) return forward(call);
  const size_t values = graph_.value_count();
  auto made = convert_call(*call);
  if (!made) return forward(made);
  if (auto bounded = count_constants(values); !bounded) return bounded;
  return bind_results(node, *made);
}

// Nodes make constants too (filled, cast or transposed ones); a few bytes in the file must not become
// gigabytes here.
Status Converter::count_constants(size_t first_new) {
  for (size_t i = first_new; i < graph_.value_count(); ++i)
    if (graph_.is_constant(static_cast<ValueId>(i)))
      made_bytes_ += graph_.type(static_cast<ValueId>(i)).bytes();
  if (made_bytes_ <= kMaxFileBytes) return {};
  return input_error(
      "", fmt::format("brings the constants that nodes make to more than {} bytes", kMaxFileBytes));
}

Result<ValueId> Converter::operand(const std::string& name) const {
  const Bound& found = bound(name);
  if (const auto* id = std::get_if<ValueId>(&found)) return *id;
  if (std::holds_alternative<int64_t>(found))
    return input_error("", fmt::format("takes the integer '{}' for a tensor", name));
  return unsupported("", fmt::format("reads '{}', a secondary result that is not computed", name));
}

Result<Call> Converter::resolve(const NodeSpec& node) {
  Call call{.graph = graph_,
            .target = functional_form(node.target).value_or(node.target),
            .node = node.name,
            .source = node.source};
  const auto* output = node.outputs.empty() ? nullptr : std::get_if<TensorName>(&node.outputs.front());
  if (output != nullptr) {
    // The first of several results is not named as the node is.
    call.name = output->name;
    auto type = file_type(output->name, "result");
    if (!type) return forward(type);
    call.result = std::move(*type);
  }
  for (const NamedArgument& input : node.inputs)
    if (auto added = add_argument(node, input, call); !added) return forward(added);
  return call;
}

Status Converter::add_argument(const NodeSpec& node, const NamedArgument& input, Call& call) {
  const auto& [name, value] = input;
  const auto put = [&](Attribute attribute) { call.attributes.insert_or_assign(name, std::move(attribute)); };
  if (std::holds_alternative<None>(value)) put({});
  if (const auto* v = std::get_if<bool>(&value)) put(*v);
  if (const auto* v = std::get_if<int64_t>(&value)) put(*v);
  if (const auto* v = std::get_if<double>(&value)) {
    if (std::isnan(*v)) return input_error(fmt::format("argument '{}'", name), "is not a number");
    put(*v);
  }
  if (const auto* v = std::get_if<std::string>(&value)) put(*v);
  if (const auto* v = std::get_if<OtherArgument>(&value)) call.others.emplace(name, v->tag);
  if (const auto* v = std::get_if<std::vector<double>>(&value)) call.reals.emplace(name, *v);
  if (const auto* v = std::get_if<ScalarType>(&value)) {
    if (const auto dtype = dtype_of_scalar_type(v->code))
      put(std::string(rushlight::name(*dtype)));
    else
      call.others.emplace(name, scalar_type_name(v->code));
  }
  if (std::holds_alternative<SymIntArgument>(value)) {
    auto number = integer_of(node, value);
    if (!number) return forward(number);
    put(*number);
  }
  if (const auto* v = std::get_if<std::vector<IntOrName>>(&value)) {
    Integers numbers;
    for (const IntOrName& item : *v) {
      auto number = integer_of(node, item);
      if (!number) return forward(number);
      numbers.push_back(*number);
    }
    put(std::move(numbers));
  }
  return add_tensors(input, call);
}

Status Converter::add_tensors(const NamedArgument& input, Call& call) {
  const auto* list = std::get_if<std::vector<std::optional<TensorName>>>(&input.value);
  const auto* single = std::get_if<TensorName>(&input.value);
  if (list == nullptr && single == nullptr) return {};
  std::vector<ValueId>& values = call.tensors[input.name];
  for (size_t i = 0; i < (single != nullptr ? 1 : list->size()); ++i) {
    if (single == nullptr && !(*list)[i]) {
      values.push_back(ValueId::none);
      continue;
    }
    auto id = operand(single != nullptr ? single->name : (*list)[i]->name);
    if (!id) return forward(id);
    values.push_back(*id);
  }
  return {};
}

Result<std::vector<ValueId>> Converter::convert_call(Call& call) {
  if (auto made = constant_of(call)) {
    if (!*made) return tl::unexpected(std::move(made->error()));
    return std::vector{graph_.add_constant(call.name, std::move(**made))};
  }
  const size_t nodes = graph_.nodes.size();
  auto values = add_nodes(call);
  if (!values) return forward(values);
  for (size_t n = nodes; n < graph_.nodes.size(); ++n) {
    if (auto checked = check_quantization(graph_, graph_.nodes[n]); !checked) return forward(checked);
    if (auto checked = check_roles(graph_.nodes[n]); !checked) return forward(checked);
  }
  return values;
}

Result<std::vector<ValueId>> Converter::add_nodes(Call& call) {
  if (const Composite* composite = find_composite(call.target)) {
    auto values = composite->build(call);
    if (!values) return values;
    if (auto checked = check_nothing_left(call); !checked) return forward(checked);
    return values;
  }
  const Adapter* adapter = find_adapter(call.target);
  const Op op = adapter != nullptr ? adapter->op : find_torch_op(call.target).value();
  if (adapter != nullptr && adapter->rewrite != nullptr)
    if (auto rewritten = adapter->rewrite(call); !rewritten) return forward(rewritten);
  auto value = add_node(call, op);
  if (!value) return forward(value);
  return std::vector{*value};
}

}  // namespace rushlight::pt2
