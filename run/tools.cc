// SPDX-License-Identifier: Apache-2.0
#include "run/tools.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "run/board.h"
#include "run/process.h"
#include "run/temporary_folder.h"

namespace rushlight {
namespace fs = std::filesystem;

fs::path find_plugin() {
  if (const char* named = std::getenv("RUSHLIGHT_PLUGIN"))
    return fs::exists(named) ? fs::absolute(named) : fs::path();
  std::error_code error;
  std::vector<fs::path> homes = {fs::read_symlink("/proc/self/exe", error).parent_path()};
  // Where this code is part of a shared library (the Python module), that library's folder.
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&find_plugin), &info) && info.dli_fname)
    homes.push_back(fs::absolute(info.dli_fname).parent_path());
  for (const fs::path& home : homes)
    for (const char* place : {".", "..", "../lib/rushlight"}) {
      const fs::path plugin = home / place / "rushlight_icount.so";
      if (fs::exists(plugin, error)) return fs::canonical(plugin, error);
    }
  return {};
}

std::optional<std::string> missing_programs() {
  std::string missing;
  const auto add = [&](bool there, const std::string& line) {
    if (!there) missing += (missing.empty() ? "" : "\n") + line;
  };
  add(on_path(kCrossCompiler),
      fmt::format("{} is not on PATH: apt-get install gcc-arm-none-eabi libstdc++-arm-none-eabi-dev",
                  kCrossCompiler));
  add(on_path(kEmulator), fmt::format("{} is not on PATH: apt-get install qemu-system-arm", kEmulator));
  add(!find_plugin().empty(),
      "rushlight_icount.so, the instruction counter for QEMU, is neither beside rushlight nor named by "
      "RUSHLIGHT_PLUGIN: build rushlight's target rushlight_icount");
  if (missing.empty()) return std::nullopt;
  return missing;
}

std::optional<std::string> missing_tools() {
  if (auto missing = missing_programs()) return missing;
  auto folder = TemporaryFolder::create();
  if (!folder) return folder.error().text();
  if (auto written = write_text(folder->path() / "test.cpp", "#include <cstddef>\n#include <cstdint>\n");
      !written)
    return written.error().text();
  const Command command{
      {kCrossCompiler, "-mcpu=cortex-m3", "-mthumb", "-ffreestanding", "-fsyntax-only", "test.cpp"},
      folder->path(),
      folder->path() / "log"};
  if (run(command, std::chrono::seconds(60)).good()) return std::nullopt;
  return fmt::format(
      "{} does not find <cstddef>: apt-get install libstdc++-arm-none-eabi-dev "
      "libnewlib-arm-none-eabi\n{}",
      kCrossCompiler, log_tail(command.log));
}

}  // namespace rushlight
