// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/names.h"

#include <fmt/format.h>

#include "import/pt2/targets.h"

namespace rushlight::pt2 {

const std::string* first_tensor(const NodeSpec& node) {
  for (const NamedArgument& input : node.inputs)
    if (const auto* tensor = std::get_if<TensorName>(&input.value)) return &tensor->name;
  return nullptr;
}

Result<Names> Names::of(const Program& program, const std::string& file) {
  if (program.nodes.size() > kMaxNodes)
    return input_error(file,
                       fmt::format("has {} nodes; at most {} are allowed", program.nodes.size(), kMaxNodes));
  Names names;
  for (const auto step : {&Names::define_inputs, &Names::define_nodes, &Names::check_outputs})
    if (auto done = (names.*step)(program, file); !done) return forward(done);
  names.find_live(program);
  names.find_states(program);
  names.find_last_uses(program);
  return names;
}

Status Names::define(const std::string& name, int node, int group, const std::string& where) {
  const int id = static_cast<int>(entries_.size());
  if (entries_.size() >= kMaxNames)
    return input_error(where, fmt::format("there are more than {} names", kMaxNames));
  if (!ids_.emplace(name, id).second)
    return input_error(where, fmt::format("'{}' is defined a second time", name));
  if (group < 0) {
    group = static_cast<int>(groups_.size());
    groups_.emplace_back();
    writers_.emplace_back();
    parameter_groups_.push_back(0);
  }
  groups_[group].push_back(id);
  entries_.push_back({name, group, node});
  return {};
}

Status Names::define_argument(const Argument& argument, int node, int group, const std::string& where) {
  Status status;
  for_each_name(argument, [&](const std::string& name) {
    if (status) status = define(name, node, group, where);
  });
  return status;
}

Status Names::check_defined(const Argument& argument, const std::string& where) const {
  Status status;
  for_each_name(argument, [&](const std::string& name) {
    if (status && !contains(name))
      status = input_error(where, fmt::format("uses '{}', which nothing before it defines", name));
  });
  return status;
}

Status Names::define_inputs(const Program& program, const std::string& file) {
  for (const InputSpec& spec : program.inputs) {
    if (auto defined = define_argument(spec.argument, -1, -1, file + ": graph inputs"); !defined)
      return defined;
    const bool parameter = spec.kind == InputKind::parameter || spec.kind == InputKind::tensor_constant;
    if (parameter) parameter_groups_.back() = 1;
  }
  return {};
}

Status Names::define_nodes(const Program& program, const std::string& file) {
  for (size_t n = 0; n < program.nodes.size(); ++n) {
    const NodeSpec& node = program.nodes[n];
    const std::string where = fmt::format("{}: node '{}'", file, node.name);
    for (const NamedArgument& input : node.inputs)
      if (auto defined = check_defined(input.value, where); !defined) return defined;
    const bool writes = functional_form(node.target).has_value();
    const std::string* first = first_tensor(node);
    const int shared =
        first != nullptr && (writes || may_alias(node.target)) ? entries_[id(*first)].group : -1;
    if (writes && shared >= 0) writers_[shared].push_back(static_cast<int>(n));
    for (const Argument& output : node.outputs)
      if (auto defined = define_argument(output, static_cast<int>(n), shared, where); !defined)
        return defined;
  }
  return {};
}

Status Names::check_outputs(const Program& program, const std::string& file) {
  const std::string where = file + ": graph outputs";
  std::map<std::string, int, std::less<>> buffers;
  for (const InputSpec& spec : program.inputs)
    if (spec.kind == InputKind::buffer)
      buffers.emplace(spec.target, id(std::get<TensorName>(spec.argument).name));
  for (const OutputSpec& spec : program.outputs) {
    if (auto defined = check_defined(spec.argument, where); !defined) return defined;
    if (spec.kind != OutputKind::buffer_mutation) continue;
    const auto buffer = buffers.find(spec.target);
    if (buffer == buffers.end())
      return input_error(where, fmt::format("there is no buffer '{}'", spec.target));
    if (!updates_.emplace(buffer->second, id(std::get<TensorName>(spec.argument).name)).second)
      return input_error(where, fmt::format("buffer '{}' is left with two values", spec.target));
  }
  return {};
}

void Names::find_live(const Program& program) {
  node_live_.assign(program.nodes.size(), 0);
  std::vector<int> waiting;
  const auto reach = [&](int name) {
    if (entries_[name].live) return;
    entries_[name].live = true;
    waiting.push_back(name);
  };
  const auto reach_node = [&](int node) {
    if (node < 0 || node_live_[node]) return;
    node_live_[node] = 1;
    for (const NamedArgument& input : program.nodes[node].inputs)
      for_each_name(input.value, [&](const std::string& name) { reach(id(name)); });
  };
  for (const OutputSpec& spec : program.outputs)
    if (spec.kind == OutputKind::user_output)
      for_each_name(spec.argument, [&](const std::string& name) { reach(id(name)); });
  while (!waiting.empty()) {
    const int name = waiting.back();
    waiting.pop_back();
    reach_node(entries_[name].definition);
    for (const int node : writers_[entries_[name].group]) reach_node(node);
    if (update(name) >= 0) reach(update(name));
  }
}

void Names::find_states(const Program& program) {
  for (const InputSpec& spec : program.inputs) {
    if (spec.kind != InputKind::buffer) continue;
    const int buffer = id(std::get<TensorName>(spec.argument).name);
    const bool changes = !writers_[entries_[buffer].group].empty() || update(buffer) >= 0;
    entries_[buffer].state = entries_[buffer].live && changes;
  }
}

void Names::find_last_uses(const Program& program) {
  for (size_t n = 0; n < program.nodes.size(); ++n)
    if (node_live_[n])
      for (const NamedArgument& input : program.nodes[n].inputs)
        for_each_name(input.value,
                      [&](const std::string& name) { entries_[id(name)].last_use = static_cast<int>(n); });
  for (const OutputSpec& spec : program.outputs)
    for_each_name(spec.argument, [&](const std::string& name) { entries_[id(name)].last_use = kAtTheEnd; });
  for (Entry& entry : entries_)
    if (entry.state) entry.last_use = kAtTheEnd;
}

}  // namespace rushlight::pt2
