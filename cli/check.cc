// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/json.h"

namespace rushlight::cli {

void add_check(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* command =
      app.add_subcommand("check", "Say whether a model can be compiled, and everything in the way");
  command->footer("Example:\n  rushlight check model.pt2");
  add_model_options(*command, *options);
  add_target_option(*command, *options, false);
  command->callback([options, &exit_code] {
    Status checked = check_model(options->compile_options());
    if (!checked) {
      exit_code = report_error(checked.error(), options->json);
    } else {
      fmt::print("{}", options->json ? json_checked(options->model) : options->model + " can be compiled\n");
    }
  });
}

}  // namespace rushlight::cli
