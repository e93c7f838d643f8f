// SPDX-License-Identifier: Apache-2.0
#include "cortex_m/lowering.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "cortex_m/names.h"

namespace rushlight {
namespace {

// Indices are 32 bits wide on the device.
TensorType on_device(TensorType type) {
  if (type.dtype == DType::int64) type.dtype = DType::int32;
  return type;
}

bool same_order(const TensorType& a, const TensorType& b) {
  return a.shape == b.shape && (a.layout == b.layout || layouts_coincide(a.shape));
}

// Convolutions whose result nothing reads but one concatenation of channels-last images: they can write with
// its pixel pitch.
std::map<ValueId, Lowering::Placement> find_placements(const Graph& graph) {
  std::map<ValueId, Lowering::Placement> found;
  const std::vector<int> producers = graph.producers();
  const std::vector<int> uses = graph.use_counts();
  for (const Node& node : graph.nodes) {
    if (node.op != "aten.cat"_op) continue;
    const TensorType& whole = graph.type(node.result());
    const int64_t dim = node.attrs().integer("dim");
    const bool joins_channels =
        whole.layout == Layout::channels_last && whole.shape.size() == 4 && (dim == 1 || dim == -3);
    int64_t channel = 0;
    for (ValueId id : node.operands) {
      const int producer = producers[static_cast<size_t>(id)];
      const bool fits = producer >= 0 && graph.nodes[static_cast<size_t>(producer)].op == "aten.conv2d"_op &&
                        uses[static_cast<size_t>(id)] == 1 && graph.type(id).layout == whole.layout;
      if (joins_channels && fits) found.insert({id, {node.result(), channel}});
      channel += joins_channels ? graph.type(id).shape[1] : 0;
    }
  }
  return found;
}

}  // namespace

Lowering::Lowering(const Graph& graph, const LowerOptions& options)
    : graph_(graph), placements_(find_placements(graph)) {
  program_.name = library_name(graph.name);
  program_.rounding = options.rounding;
  program_.target = options.target;
}

ValueId Lowering::root(ValueId id) const {
  for (auto found = aliases_.find(id); found != aliases_.end(); found = aliases_.find(id)) id = found->second;
  return id;
}

int Lowering::buffer_of(ValueId id) {
  const ValueId value = root(id);
  const auto [entry, added] = buffers_.emplace(value, static_cast<int>(program_.buffers.size()));
  if (added)
    program_.buffers.push_back(
        {graph_.value(value).name, BufferKind::arena, on_device(graph_.type(value)).bytes()});
  return entry->second;
}

Binding Lowering::bind(ValueId id) {
  if (!graph_.is_constant(root(id))) return {Binding::To::buffer, buffer_of(id)};
  // Data is row-major whatever the type says.
  const Value& value = graph_.value(root(id));
  const Tensor data = value.data->permuted(memory_order(value.type.layout, value.type.shape.size()));
  return add_constant(value.name, value.type.dtype, {data.bytes().begin(), data.bytes().end()});
}

const Lowering::Placement* Lowering::placement(ValueId id) const {
  const auto found = placements_.find(id);
  return found == placements_.end() ? nullptr : &found->second;
}

void Lowering::alias(ValueId result, ValueId source) { aliases_[result] = source; }

Binding Lowering::add_constant(std::string name, DType dtype, std::vector<std::byte> bytes) {
  std::vector<ConstantData>& all = program_.constants;
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const ConstantData& c) { return c.dtype == dtype && c.bytes == bytes; });
  const auto index = static_cast<int>(same - all.begin());
  if (same == all.end()) {
    name = c_identifier(name);
    const auto taken = [&](const std::string& n) {
      return std::any_of(all.begin(), all.end(), [&](const ConstantData& c) { return c.name == n; });
    };
    std::string unique = name;
    for (int i = 1; taken(unique); ++i) unique = fmt::format("{}_{}", name, i);
    all.push_back({std::move(unique), dtype, std::move(bytes)});
  }
  return {Binding::To::constant, index};
}

DType Lowering::element(const Node& node) const {
  const auto known = [&](ValueId id) {
    return id != ValueId::none && type(id).quantized() ? std::optional(type(id).dtype) : std::nullopt;
  };
  std::optional<DType> found;
  if (!node.results.empty()) found = known(node.results.front());
  if (!found && !node.operands.empty()) found = known(node.operands.front());
  return found.value_or(DType::int8);
}

Status Lowering::add_call(const Node& node, std::string_view kernel, std::vector<std::byte> params,
                          std::vector<Binding> arguments, CallOptions options) {
  const std::string name = fmt::format("{}_{}", kernel, element(node) == DType::int16 ? "s16" : "s8");
  const auto mode = rounding() == Rounding::single ? kernels::Mode::single_ : kernels::Mode::double_;
  const kernels::KernelRow* row = kernels::find_kernel(name.c_str(), mode);
  if (row == nullptr)
    return unsupported(graph_.describe(node),
                       fmt::format("computes {}; there is no kernel {}. int16 has: {}",
                                   rushlight::name(element(node)), name, fmt::join(int16_operators(), ", ")));
  KernelCall call;
  call.kernel = static_cast<int>(row - kernels::kKernels);
  require(static_cast<size_t>(call.row().params_size) == params.size() &&
              static_cast<size_t>(call.row().argument_count) == arguments.size(),
          fmt::format("kernel {} takes other params or arguments than its rule passes", kernel));
  call.params = std::move(params);
  call.arguments = std::move(arguments);
  call.name = node.name;
  call.source = node.source;
  call.may_overwrite = std::move(options.may_overwrite);
  call.macs = options.macs;
  call.accumulator_bits = options.accumulator_bits;
  program_.calls.push_back(std::move(call));
  return {};
}

void Lowering::note(const Node& node, std::string text) {
  program_.notes.push_back({node.name, node.source, std::move(text)});
}

std::vector<int> Lowering::overwritable(const Node& node) const {
  std::vector<int> found;
  const TensorType& out = result_type(node);
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const ValueId id = node.operands[i];
    if (id == ValueId::none || graph_.is_constant(root(id))) continue;
    if (same_order(graph_.type(id), out) && graph_.type(id).bytes() == out.bytes())
      found.push_back(static_cast<int>(i));
  }
  return found;
}

Port Lowering::port(ValueId id) { return {graph_.value(id).name, on_device(graph_.type(id)), buffer_of(id)}; }

int Lowering::copied(std::string_view name, Binding source, int64_t bytes, int target) {
  if (target < 0) {
    target = static_cast<int>(program_.buffers.size());
    program_.buffers.push_back({std::string(name), BufferKind::arena, bytes});
  }
  Node copy;
  copy.name = name;
  kernels::CopyParams params{};
  fill(params.extent, {bytes}, 1);
  fill(params.input_stride, {1}, 0);
  fill(params.output_stride, {1}, 0);
  const Status added = call(copy, "copy", params, {source, {Binding::To::buffer, target}});
  require(added.has_value(), "bytes can be copied");
  return target;
}

void Lowering::add_ports_and_states() {
  const auto is_state = [&](ValueId id) {
    return std::any_of(graph_.states.begin(), graph_.states.end(),
                       [&](const State& s) { return s.input == id; });
  };
  for (ValueId id : graph_.outputs) {
    // The caller reads outputs from the arena, after states have been written: constants and the states of
    // before are copied there.
    const bool copies = graph_.is_constant(root(id)) || is_state(root(id));
    Port output{graph_.value(id).name, on_device(type(id)), 0};
    output.buffer = copies ? copied(output.name, bind(id), output.type.bytes(), -1) : buffer_of(id);
    program_.outputs.push_back(std::move(output));
  }
  for (ValueId id : graph_.inputs)
    if (!is_state(id)) program_.inputs.push_back(port(id));
  // A state that becomes what another one was (a delay line) is saved before that one is written.
  std::vector<Binding> updates;
  for (const State& state : graph_.states) {
    Binding update = bind(state.update);
    if (is_state(root(state.update)) && root(state.update) != state.input)
      update = {Binding::To::buffer,
                copied(graph_.value(state.update).name + ".before", update, type(state.update).bytes(), -1)};
    updates.push_back(update);
  }
  for (size_t i = 0; i < graph_.states.size(); ++i) {
    const ValueId input = graph_.states[i].input;
    const int kept = buffer_of(input);
    program_.buffers[static_cast<size_t>(kept)].kind = BufferKind::persistent;
    if (updates[i] != Binding{Binding::To::buffer, kept})
      copied(graph_.value(input).name, updates[i], type(input).bytes(), kept);
  }
}

Lines lines_along(const TensorType& type, int64_t dim) {
  const auto rank = static_cast<int64_t>(type.shape.size());
  const int axis = static_cast<int>(dim < 0 ? dim + rank : dim);
  Lines lines{1, 1, 1};
  int32_t* field = &lines.outer;
  for (int d : memory_order(type.layout, type.shape.size())) {
    const auto extent = static_cast<int32_t>(type.shape[static_cast<size_t>(d)]);
    if (d == axis) {
      lines.count = extent;
      field = &lines.inner;
    } else {
      *field *= extent;
    }
  }
  return lines;
}

Loops collapse(const std::vector<int64_t>& extent, std::vector<std::vector<int64_t>> strides) {
  Loops loops;
  loops.strides.resize(strides.size());
  for (size_t d = 0; d < extent.size(); ++d) {
    if (extent[d] == 1) continue;
    bool joins = !loops.extent.empty();
    for (size_t k = 0; k < strides.size(); ++k)
      joins = joins && loops.strides[k].back() == strides[k][d] * extent[d];
    if (joins) {
      loops.extent.back() *= extent[d];
      for (size_t k = 0; k < strides.size(); ++k) loops.strides[k].back() = strides[k][d];
    } else {
      loops.extent.push_back(extent[d]);
      for (size_t k = 0; k < strides.size(); ++k) loops.strides[k].push_back(strides[k][d]);
    }
  }
  return loops;
}

std::vector<int64_t> broadcast_strides(const TensorType& operand, const TensorType& out) {
  const std::vector<int64_t> own = strides(operand);
  std::vector<int64_t> result(out.shape.size(), 0);
  const size_t lead = out.shape.size() - operand.shape.size();
  for (size_t d = 0; d < own.size(); ++d) result[lead + d] = operand.shape[d] == 1 ? 0 : own[d];
  return result;
}

bool fill(int32_t (&array)[kernels::kMaxLoops], const std::vector<int64_t>& values, int32_t unused) {
  constexpr size_t kCount = kernels::kMaxLoops;
  if (values.size() > kCount) return false;
  std::fill(std::begin(array), std::end(array), unused);
  for (size_t i = 0; i < values.size(); ++i)
    array[kCount - values.size() + i] = static_cast<int32_t>(values[i]);
  return true;
}

}  // namespace rushlight
