// SPDX-License-Identifier: Apache-2.0
// The whole way of a model, from file to planned program and device library. The command line and the Python
// bindings call this.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cortex_m/lower.h"
#include "driver/samples.h"
#include "emit/firmware.h"
#include "plan/plan.h"
#include "quant/quantize.h"

namespace rushlight {

struct CompileOptions {
  std::string model;
  std::vector<std::string> calibrate;  // sample specifications; both empty: the model must be quantized
  std::vector<Sample> samples =
      {};  // for calibration, instead of files: a float tensor (or indices) an input
  QuantizeOptions quantize = {};
  const Target* target = nullptr;
  Rounding rounding = Rounding::single;
  std::optional<int64_t> batch;
};

struct Compiled {
  Graph graph;  // quantized, with layouts
  Program program;
  Plan plan;
  SelfTest selftest;
  size_t calibration_samples = 0;

  // What samples for runs of the program look like.
  std::vector<SampleInput> inputs() const;
};

// Stage names in order: "import", the passes of passes/pipeline.h, "quantize", then the integer passes.
std::vector<std::string_view> stages();

// Called after every stage with the graph as it then is; false stops.
using StageObserver = std::function<bool(std::string_view stage, const Graph&)>;

// Import to the last integer pass; nothing if the observer stopped it.
Result<std::optional<Graph>> compile_graph(const CompileOptions& options, const StageObserver& observe = {},
                                           size_t* calibration_samples = nullptr);

Result<Compiled> compile_model(const CompileOptions& options);

// From a graph that compile_graph made, or a part of it.
Result<Compiled> compile_program(Graph graph, const CompileOptions& options);

// The device library with its report.
FileSet firmware_files(const Compiled& compiled);

// Can the model be compiled, with calibration where it is float? Everything that stands in the way.
Status check_model(const CompileOptions& options);

}  // namespace rushlight
