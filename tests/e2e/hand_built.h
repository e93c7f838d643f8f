// SPDX-License-Identifier: Apache-2.0
// Small programs with a plan, made by hand, and their outputs by calling the kernel table's rows on the host:
// for tests of emit/ and run/ that should not depend on lowering, planner and simulator.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "cortex_m/program.h"
#include "emit/firmware.h"
#include "kernels/table.h"
#include "plan/plan.h"
#include "print_target.h"
#include "types/tensor.h"

namespace rushlight::hand_built {

struct Model {
  Program program;
  Plan plan;
};

inline int kernel_index(const char* name, kernels::Mode mode) {
  const auto* row = kernels::find_kernel(name, mode);
  require(row != nullptr, "the test names a kernel of the table");
  return static_cast<int>(row - kernels::kKernels);
}

template <class Params>
std::vector<std::byte> bytes_of(const Params& params) {
  std::vector<std::byte> bytes(sizeof params);
  std::memcpy(bytes.data(), &params, sizeof params);
  return bytes;
}

// Repeatable noise in lo..hi.
class Noise {
 public:
  explicit Noise(uint32_t seed) : state_(seed * 2654435761u + 1) {}
  int32_t next(int32_t lo, int32_t hi) {
    state_ = state_ * 1664525u + 1013904223u;
    return lo + static_cast<int32_t>((state_ >> 8) % static_cast<uint32_t>(hi - lo + 1));
  }

 private:
  uint32_t state_;
};

class Builder {
 public:
  explicit Builder(std::string name) { model_.program.name = std::move(name); }

  int buffer(int64_t bytes, BufferKind kind = BufferKind::arena) {
    Plan& plan = model_.plan;
    model_.program.buffers.push_back(
        {std::string("b").append(std::to_string(plan.offsets.size())), kind, bytes});
    plan.offsets.push_back(plan.arena_bytes);
    plan.arena_bytes += (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    if (kind == BufferKind::persistent) plan.persistent_bytes = plan.arena_bytes;
    return static_cast<int>(plan.offsets.size()) - 1;
  }
  template <class T>
  Binding constant(const std::string& name, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    model_.program.constants.push_back({name, dtype_of<T>(), std::move(bytes)});
    return {Binding::To::constant, static_cast<int>(model_.program.constants.size()) - 1};
  }
  static Binding use(int buffer) { return {Binding::To::buffer, buffer}; }

  void input(const std::string& name, DType dtype, Shape shape, int buffer, bool preserved = true) {
    model_.program.inputs.push_back({name, type(dtype, std::move(shape)), buffer});
    model_.plan.input_preserved.push_back(preserved);
  }
  void output(const std::string& name, DType dtype, Shape shape, int buffer) {
    model_.program.outputs.push_back({name, type(dtype, std::move(shape)), buffer});
  }
  template <class Params>
  void call(const char* kernel, const Params& params, std::vector<Binding> arguments,
            kernels::Mode mode = kernels::Mode::single_) {
    KernelCall call;
    call.kernel = kernel_index(kernel, mode);
    call.params = bytes_of(params);
    call.arguments = std::move(arguments);
    call.name = std::string("node_").append(std::to_string(model_.program.calls.size()));
    call.source = std::string("net.py:").append(std::to_string(10 + model_.program.calls.size()));
    model_.program.calls.push_back(std::move(call));
  }
  Model build() { return model_; }

 private:
  static TensorType type(DType dtype, Shape shape) {
    TensorType type{dtype, std::move(shape), Layout::row_major, {}};
    if (dtype == DType::int8) type.quant = Quantization::per_tensor(0.05, -3);
    return type;
  }
  Model model_;
};

inline kernels::OutputRange range() { return {-3, -128, 127}; }

inline kernels::AddSingleParams add_params(int32_t count) {
  kernels::AddSingleParams p{};
  for (int i = 0; i < kernels::kMaxLoops; ++i) p.loops.extent[i] = 1;
  p.loops.extent[kernels::kMaxLoops - 1] = count;
  p.loops.stride_a[kernels::kMaxLoops - 1] = p.loops.stride_b[kernels::kMaxLoops - 1] = 1;
  p.multiplier_a = 700000;
  p.multiplier_b = -450000;
  p.offset = (1 << 19) + 3 * (1 << 20);
  p.shift = 20;
  p.lo = -128;
  p.hi = 127;
  return p;
}

// out = a - b
inline Model add() {
  Builder b("adder");
  const int x = b.buffer(90), y = b.buffer(90), out = b.buffer(90);
  b.input("x", DType::int8, {2, 45}, x);
  b.input("y", DType::int8, {2, 45}, y);
  b.output("difference", DType::int8, {2, 45}, out);
  b.call("quantized_add_s8", add_params(90), {Builder::use(x), Builder::use(y), Builder::use(out)});
  return b.build();
}

inline std::vector<Binding> weights(Builder& b, const std::string& name, int outputs, int per_output) {
  Noise noise(7);
  std::vector<int8_t> w;
  std::vector<int32_t> bias, multipliers, shifts;
  for (int i = 0; i < outputs * per_output; ++i) w.push_back(static_cast<int8_t>(noise.next(-127, 127)));
  for (int o = 0; o < outputs; ++o) {
    bias.push_back(noise.next(-5000, 5000));
    multipliers.push_back(noise.next(1 << 30, INT32_MAX - 1));
    shifts.push_back(noise.next(-10, -8));
  }
  return {b.constant(name + "_weights", w), b.constant(name + "_bias", bias),
          b.constant(name + "_multipliers", multipliers), b.constant(name + "_shifts", shifts)};
}

// A convolution of a 6x7 image of 3 channels to 4 with padding, then a linear layer to 10.
inline Model convolution() {
  Builder b("small_net");
  const int image = b.buffer(6 * 7 * 3), features = b.buffer(6 * 7 * 4), scores = b.buffer(10);
  b.input("image", DType::int8, {1, 6, 7, 3}, image);
  b.output("scores", DType::int8, {1, 10}, scores);
  kernels::Conv2dParams conv{};
  conv.batch = conv.groups = conv.stride_height = conv.stride_width = 1;
  conv.dilation_height = conv.dilation_width = conv.pad_top = conv.pad_left = 1;
  conv.input_height = conv.output_height = 6;
  conv.input_width = conv.output_width = 7;
  conv.input_channels = conv.kernel_height = conv.kernel_width = 3;
  conv.output_channels = 4;
  conv.input_zero_point = -3;
  conv.output_pixel_pitch = 4;
  conv.output_row_pitch = 4 * 7;
  conv.output_batch_pitch = 4 * 7 * 6;
  conv.output = range();
  std::vector<Binding> arguments = weights(b, "conv", 4, 27);
  arguments.insert(arguments.begin(), Builder::use(image));
  arguments.push_back(Builder::use(features));
  b.call("quantized_conv2d_s8", conv, arguments);

  const kernels::LinearParams linear{1, 6 * 7 * 4, 10, range()};
  arguments = weights(b, "linear", 10, 6 * 7 * 4);
  arguments.insert(arguments.begin(), Builder::use(features));
  arguments.push_back(Builder::use(scores));
  b.call("quantized_linear_s8", linear, arguments);
  return b.build();
}

// state = x - state, kept between runs.
inline Model recurrent() {
  Builder b("accumulator");
  const int state = b.buffer(33, BufferKind::persistent), x = b.buffer(33);
  b.input("x", DType::int8, {33}, x);
  b.output("state", DType::int8, {33}, state);
  b.call("quantized_add_s8", add_params(33), {Builder::use(x), Builder::use(state), Builder::use(state)});
  return b.build();
}

// float32 in and out.
inline Model floats() {
  Builder b("boundary");
  const int x = b.buffer(4 * 25), q = b.buffer(25), y = b.buffer(4 * 25);
  b.input("x", DType::float32, {5, 5}, x);
  b.output("y", DType::float32, {5, 5}, y);
  const float scale = 0.05f, inverse = 1 / scale;
  kernels::QuantizeParams quantize{25, 0, range()};
  kernels::DequantizeParams dequantize{25, 0, -3};
  std::memcpy(&quantize.inverse_scale_bits, &inverse, 4);
  std::memcpy(&dequantize.scale_bits, &scale, 4);
  b.call("quantize_per_tensor_s8", quantize, {Builder::use(x), Builder::use(q)});
  b.call("dequantize_per_tensor_s8", dequantize, {Builder::use(q), Builder::use(y)});
  return b.build();
}

inline std::vector<std::vector<Tensor>> samples(const Program& program, int count) {
  Noise noise(3);
  std::vector<std::vector<Tensor>> samples(static_cast<size_t>(count));
  for (std::vector<Tensor>& sample : samples)
    for (const Port& port : program.inputs) {
      Tensor& tensor = sample.emplace_back(port.type.dtype, port.type.shape);
      const bool real = port.type.dtype == DType::float32;
      for (int64_t i = 0; i < tensor.elements(); ++i)
        tensor.set(i, noise.next(-128, 127) * (real ? 0.0625 : 1.0));
    }
  return samples;
}

// What the device should give, sample by sample, state kept.
inline std::vector<std::vector<Tensor>> expected(const Model& model,
                                                 const std::vector<std::vector<Tensor>>& samples) {
  const auto& [program, plan] = model;
  std::vector<int64_t> storage(static_cast<size_t>(plan.arena_bytes / 8 + 2));
  auto* arena = reinterpret_cast<std::byte*>(storage.data());
  std::vector<std::vector<Tensor>> results;
  for (const std::vector<Tensor>& sample : samples) {
    for (size_t i = 0; i < sample.size(); ++i)
      std::memcpy(arena + plan.offsets[program.inputs[i].buffer], sample[i].bytes().data(),
                  sample[i].bytes().size());
    for (const KernelCall& call : program.calls) {
      std::vector<int32_t> params(call.params.size() / 4);
      std::memcpy(params.data(), call.params.data(), call.params.size());
      std::vector<void*> arguments;
      for (const Binding& a : call.arguments)
        arguments.push_back(a.to == Binding::To::buffer
                                ? arena + plan.offsets[a.index]
                                : const_cast<std::byte*>(program.constants[a.index].bytes.data()));
      call.row().invoke(params.data(), arguments.data());
    }
    std::vector<Tensor>& outputs = results.emplace_back();
    for (const Port& port : program.outputs) {
      Tensor& tensor = outputs.emplace_back(port.type.dtype, port.type.shape);
      std::memcpy(tensor.bytes().data(), arena + plan.offsets[port.buffer], tensor.bytes().size());
    }
  }
  return results;
}

// The library of a model, self-test included: its first sample.
inline FileSet firmware(const Model& model) {
  const auto first = samples(model.program, 1);
  return emit_firmware(model.program, model.plan, {first[0], output_checksum(expected(model, first)[0])});
}

inline std::vector<Model> all_models() { return {add(), convolution(), recurrent(), floats()}; }

}  // namespace rushlight::hand_built
