// SPDX-License-Identifier: Apache-2.0
// Other programs, started without a shell.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace rushlight {

struct Command {
  std::vector<std::string> arguments;  // the program's name first; found through PATH
  std::filesystem::path folder;        // to start in
  std::filesystem::path log;           // gets standard output and error
};

struct Outcome {
  enum class How { exited, killed, timed_out, not_started } how = How::not_started;
  int code = -1;  // exit code, or the signal's number

  bool good() const { return how == How::exited && code == 0; }
};
std::string to_string(const Outcome& outcome);

// Runs all, as many at a time as the machine has cores, and waits. What runs longer than `limit` is ended.
std::vector<Outcome> run_all(std::span<const Command> commands, std::chrono::milliseconds limit);
Outcome run(const Command& command, std::chrono::milliseconds limit);

// Whether PATH holds an executable of that name.
bool on_path(const std::string& program);

// The last lines of a log, for error messages.
std::string log_tail(const std::filesystem::path& log);

}  // namespace rushlight
