// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rushlight {
namespace {

using Json = nlohmann::ordered_json;

Json describe(const Port& port) {
  Json json{{"name", port.name}, {"dtype", std::string(name(port.type.dtype))}, {"shape", port.type.shape}};
  if (port.type.quantized()) {
    json["scale"] = port.type.quant.scale();
    json["zero_point"] = port.type.quant.zero_point();
  }
  return json;
}

}  // namespace

int64_t constant_bytes(const Program& program) {
  int64_t total = 0;
  for (const ConstantData& constant : program.constants) total += static_cast<int64_t>(constant.bytes.size());
  return total;
}

int64_t total_macs(const Program& program) {
  int64_t total = 0;
  for (const KernelCall& call : program.calls) total += call.macs;
  return total;
}

std::string report_json(const Program& program, const Plan& plan, size_t calibration_samples) {
  Json json;
  json["generator"] = "rushlight " RUSHLIGHT_VERSION;
  json["model"] = program.name;
  json["target"] = program.target ? std::string(program.target->name) : "portable";
  json["rounding"] = std::string(name(program.rounding));
  json["calibration_samples"] = calibration_samples;
  json["arena_bytes"] = plan.arena_bytes;
  json["persistent_bytes"] = plan.persistent_bytes;
  json["constant_bytes"] = constant_bytes(program);
  json["macs"] = total_macs(program);
  json["inputs"] = Json::array();
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    Json input = describe(program.inputs[i]);
    input["preserved_by_run"] = static_cast<bool>(plan.input_preserved[i]);
    json["inputs"].push_back(std::move(input));
  }
  json["outputs"] = Json::array();
  for (const Port& output : program.outputs) json["outputs"].push_back(describe(output));
  json["calls"] = Json::array();
  for (const KernelCall& call : program.calls) {
    Json entry{
        {"kernel", call.row().dialect}, {"node", call.name}, {"source", call.source}, {"macs", call.macs}};
    if (call.accumulator_bits != 0) entry["accumulator_bits"] = call.accumulator_bits;
    json["calls"].push_back(std::move(entry));
  }
  json["notes"] = Json::array();
  for (const Note& note : program.notes)
    json["notes"].push_back({{"node", note.node}, {"source", note.source}, {"text", note.text}});
  return json.dump(2) + "\n";
}

std::string call_table(const Program& program, const DeviceRun* run) {
  std::string text =
      fmt::format("  {:<34} {:<28} {:>12} {:>14}\n", "kernel", "node", "MACs", run ? "instructions" : "");
  for (size_t i = 0; i < program.calls.size(); ++i) {
    const KernelCall& call = program.calls[i];
    const bool measured = run && i < run->instructions_per_call.size();
    text += fmt::format("  {:<34} {:<28} {:>12} {:>14}\n", call.row().dialect, call.name, call.macs,
                        measured ? fmt::format("{}", run->instructions_per_call[i]) : "");
  }
  return text;
}

}  // namespace rushlight
