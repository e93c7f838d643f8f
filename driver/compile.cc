// SPDX-License-Identifier: Apache-2.0
#include "driver/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/import.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "quant/quantize.h"
#include "report/report.h"
#include "sim/simulator.h"

namespace rushlight {
namespace {

constexpr std::string_view kImport = "import";
constexpr std::string_view kQuantize = "quantize";

// The sample that the self-test stores: repeatable and without a pattern that a broken kernel could hit by
// chance.
std::vector<Tensor> selftest_inputs(const Program& program) {
  uint32_t state = 1;
  std::vector<Tensor> inputs;
  for (const Port& port : program.inputs) {
    Tensor tensor(port.type.dtype, port.type.shape);
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      state = state * 1664525U + 1013904223U;
      tensor.set(i, static_cast<double>(static_cast<int8_t>(state >> 24)) /
                        (port.type.dtype == DType::float32 ? 64.0 : 1.0));
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

// One sample in the shape of the graph's inputs, for `check`, which asks whether a model could be compiled at
// all: numbers for which every function is defined.
std::vector<Sample> placeholder_samples(const Graph& graph) {
  Sample sample;
  for (ValueId id : graph.inputs) {
    const TensorType& type = graph.type(id);
    const bool is_index = !is_float(type.dtype) && !type.quantized();
    Tensor& input = sample.emplace_back(is_index ? type.dtype : DType::float32, type.shape);
    for (int64_t i = 0; !is_index && i < input.elements(); ++i) input.set(i, 0.5);
  }
  return {sample};
}

Result<std::vector<Sample>> calibration_samples(const CompileOptions& options, const Graph& graph) {
  Result<std::vector<Sample>> samples = options.samples;
  if (!options.calibrate.empty())
    samples = read_samples(options.calibrate, sample_inputs(graph), "--calibrate");
  if (!samples) return samples;
  // Recurrent state starts from zero.
  for (ValueId id : graph.inputs) {
    const auto is_state = [&](const State& s) { return s.input == id; };
    if (std::none_of(graph.states.begin(), graph.states.end(), is_state)) continue;
    const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), id) - graph.inputs.begin();
    for (Sample& sample : *samples) sample.emplace(sample.begin() + at, DType::float32, graph.type(id).shape);
  }
  return samples;
}

// Passes and lowering name the node; only here is known which file it came from.
template <class T>
tl::unexpected<Error> in_model(const CompileOptions& options, Result<T>& failed) {
  for (Diagnostic& d : failed.error().diagnostics) d.where = options.model + ": " + d.where;
  return forward(failed);
}

enum class Samples { given, placeholder };

Result<std::optional<Graph>> run_stages(const CompileOptions& options, Samples kind,
                                        const StageObserver& observe, size_t* sample_count) {
  const auto seen = [&](std::string_view stage, const Graph& g) { return !observe || observe(stage, g); };
  Result<Graph> graph = import_model(options.model, {options.batch});
  if (!graph) return forward(graph);
  if (!seen(kImport, *graph)) return std::nullopt;
  // The shape of samples is that of the model as imported, whatever the passes make of the inputs' types.
  Result<std::vector<Sample>> samples =
      kind == Samples::given ? calibration_samples(options, *graph) : placeholder_samples(*graph);
  if (!samples) return forward(samples);
  if (sample_count) *sample_count = samples->size();
  Result<bool> done = run_passes(*graph, kCanonicalPasses, observe);
  if (!done) return in_model(options, done);
  if (!*done) return std::nullopt;
  if (Status s = quantize(*graph, *samples, options.quantize); !s) return in_model(options, s);
  if (Status valid = verify(*graph); !valid)
    throw InternalError("quantization left an invalid graph:\n" + valid.error().text());
  if (!seen(kQuantize, *graph)) return std::nullopt;
  done = run_passes(*graph, kIntegerPasses, observe);
  if (!done) return in_model(options, done);
  if (!*done) return std::nullopt;
  return std::move(*graph);
}

LowerOptions lower_options(const CompileOptions& options) { return {options.rounding, options.target}; }

}  // namespace

std::vector<std::string_view> stages() {
  std::vector<std::string_view> all = {kImport};
  for (const Pass& pass : kCanonicalPasses) all.push_back(pass.name);
  all.push_back(kQuantize);
  for (const Pass& pass : kIntegerPasses) all.push_back(pass.name);
  return all;
}

std::vector<SampleInput> Compiled::inputs() const {
  std::vector<SampleInput> all;
  for (const Port& port : program.inputs)
    all.push_back({port.name, port.type.shape, port.type.dtype, port.type.quant, port.type.quantized()});
  return all;
}

Result<std::optional<Graph>> compile_graph(const CompileOptions& options, const StageObserver& observe,
                                           size_t* sample_count) {
  return run_stages(options, Samples::given, observe, sample_count);
}

Result<Compiled> compile_model(const CompileOptions& options) {
  size_t samples = 0;
  Result<std::optional<Graph>> graph = compile_graph(options, {}, &samples);
  if (!graph) return forward(graph);
  Result<Compiled> compiled = compile_program(std::move(**graph), options);
  if (compiled) compiled->calibration_samples = samples;
  return compiled;
}

Result<Compiled> compile_program(Graph graph, const CompileOptions& options) {
  Compiled compiled;
  compiled.graph = std::move(graph);
  Result<Program> program = lower(compiled.graph, lower_options(options));
  if (!program) return in_model(options, program);
  compiled.program = std::move(*program);
  compiled.plan = plan(compiled.program);
  if (Status checked = check(compiled.program, compiled.plan); !checked)
    throw InternalError("the memory plan is wrong: " + checked.error().text());
  compiled.selftest.inputs = selftest_inputs(compiled.program);
  Simulator simulator(compiled.program, compiled.plan);
  Result<std::vector<Tensor>> outputs = simulator.run(compiled.selftest.inputs);
  if (!outputs) return forward(outputs);
  compiled.selftest.checksum = output_checksum(*outputs);
  return compiled;
}

FileSet firmware_files(const Compiled& compiled) {
  FileSet files = emit_firmware(compiled.program, compiled.plan, compiled.selftest);
  files["report.json"] = report_json(compiled.program, compiled.plan, compiled.calibration_samples);
  return files;
}

Status check_model(const CompileOptions& options) {
  const Samples kind = options.calibrate.empty() ? Samples::placeholder : Samples::given;
  Result<std::optional<Graph>> graph = run_stages(options, kind, {}, nullptr);
  if (!graph) return forward(graph);
  Result<Program> program = lower(**graph, lower_options(options));
  if (!program) return in_model(options, program);
  return {};
}

}  // namespace rushlight
