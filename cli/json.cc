// SPDX-License-Identifier: Apache-2.0
#include "cli/json.h"

#include <nlohmann/json.hpp>

#include "cortex_m/lower.h"
#include "report/report.h"

namespace rushlight::cli {
namespace {

using Json = nlohmann::ordered_json;

void add_device(Json& json, const DeviceRun* device) {
  if (!device) return;
  json["instructions"] = device->instructions;
  json["instructions_per_call"] = device->instructions_per_call;
  json["stack_bytes"] = device->stack_bytes;
  json["flash_bytes"] = device->flash_bytes;
  json["code_bytes"] = device->code_bytes;
  json["ram_bytes"] = device->ram_bytes;
  json["selftest_passed"] = device->selftest_passed;
}

// Names come from files; what is not UTF-8 in them is replaced.
std::string one_object(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string failure(std::string_view fault, const std::vector<Diagnostic>& diagnostics) {
  Json json{{"ok", false}, {"fault", fault}, {"errors", Json::array()}};
  for (const Diagnostic& d : diagnostics) json["errors"].push_back({{"where", d.where}, {"what", d.what}});
  return one_object(json);
}

}  // namespace

std::string json_error(const Error& error) {
  return failure(error.fault == Fault::no ? "no" : "input", error.diagnostics);
}

std::string json_internal_error(const std::string& what) {
  return failure("internal", {{"rushlight", what}});
}

std::string json_inspected(const std::string& stage, const std::string& text) {
  return one_object({{"ok", true}, {"stage", stage}, {"text", text}});
}

std::string json_compiled(const Compiled& compiled, const std::string& folder, double seconds) {
  Json json = Json::parse(report_json(compiled.program, compiled.plan, compiled.calibration_samples));
  json["ok"] = true;
  json["folder"] = folder;
  json["seconds"] = seconds;
  return one_object(json);
}

std::string json_run(const Compiled& compiled, const RunSummary& summary) {
  Json json{{"ok", true},
            {"model", compiled.program.name},
            {"where", summary.where},
            {"samples", summary.samples},
            {"predictions", summary.predictions}};
  if (summary.accuracy) json["accuracy"] = *summary.accuracy;
  add_device(json, summary.device);
  return one_object(json);
}

std::string json_verify(const Compiled& compiled, const VerifySummary& summary) {
  Json json{{"ok", summary.different == 0},
            {"model", compiled.program.name},
            {"target", summary.target},
            {"samples", summary.samples},
            {"integers", summary.integers},
            {"different", summary.different},
            {"arena_bytes", compiled.plan.arena_bytes}};
  add_device(json, summary.device);
  return one_object(json);
}

std::string json_checked(const std::string& model) { return one_object({{"ok", true}, {"model", model}}); }

std::string json_targets() {
  Json json{{"ok", true}, {"targets", Json::array()}};
  for (const Target& t : kTargets)
    json["targets"].push_back({{"name", t.name}, {"core", t.core}, {"compiler_flags", t.compiler_flags}});
  return one_object(json);
}

std::string json_ops() {
  Json json{{"ok", true}, {"ops", Json::array()}};
  for (const OpRow& op : kOps) {
    Json names = Json::array();
    for (std::string_view torch : op.torch)
      if (!torch.empty()) names.push_back(torch);
    json["ops"].push_back({{"name", op.name}, {"summary", op.summary}, {"torch", names}});
  }
  return one_object(json);
}

}  // namespace rushlight::cli
