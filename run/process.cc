// SPDX-License-Identifier: Apache-2.0
#include "run/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

extern char** environ;

namespace rushlight {
namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  size_t command;
  pid_t process;
  Clock::time_point deadline;
};

pid_t start(const Command& command) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, command.folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);

  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t process = -1;
  const int error = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : -1;
}

Outcome outcome_of(int status) {
  if (WIFEXITED(status)) return {Outcome::How::exited, WEXITSTATUS(status)};
  return {Outcome::How::killed, WIFSIGNALED(status) ? WTERMSIG(status) : -1};
}

// Whether it has ended, by itself or at its deadline; then `outcome` says how.
bool reap(const Running& running, Outcome& outcome) {
  int status = 0;
  const pid_t ended = ::waitpid(running.process, &status, WNOHANG);
  if (ended == running.process) {
    outcome = outcome_of(status);
    return true;
  }
  if (Clock::now() < running.deadline) return false;
  ::kill(running.process, SIGKILL);
  ::waitpid(running.process, &status, 0);
  outcome = {Outcome::How::timed_out, -1};
  return true;
}

}  // namespace

std::string to_string(const Outcome& outcome) {
  switch (outcome.how) {
    case Outcome::How::exited:
      return fmt::format("ended with exit code {}", outcome.code);
    case Outcome::How::killed:
      return fmt::format("was ended by signal {}", outcome.code);
    case Outcome::How::timed_out:
      return "did not end in time";
    case Outcome::How::not_started:
      return "could not be started";
  }
  return {};
}

std::vector<Outcome> run_all(std::span<const Command> commands, std::chrono::milliseconds limit) {
  std::vector<Outcome> outcomes(commands.size());
  std::vector<Running> running;
  const size_t at_a_time = std::max(1u, std::thread::hardware_concurrency());
  size_t next = 0;
  while (next < commands.size() || !running.empty()) {
    while (next < commands.size() && running.size() < at_a_time) {
      const pid_t process = start(commands[next]);
      if (process > 0) running.push_back({next, process, Clock::now() + limit});
      ++next;
    }
    std::erase_if(running, [&](const Running& r) { return reap(r, outcomes[r.command]); });
    if (!running.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return outcomes;
}

Outcome run(const Command& command, std::chrono::milliseconds limit) {
  return run_all({&command, 1}, limit).front();
}

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (!folder.empty() && ::access((std::string(folder) + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string log_tail(const std::filesystem::path& log) {
  constexpr std::streamoff most = 1500;
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  if (!in) return "(no log)";
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - most));
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (size > most) text.erase(0, text.find('\n') + 1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "(its log is empty)" : text;
}

}  // namespace rushlight
