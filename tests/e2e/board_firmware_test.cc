// SPDX-License-Identifier: Apache-2.0
// What happens to firmware that misbehaves: it faults, does not end, or breaks the charter of device code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/build.h"
#include "run/emulator.h"
#include "run/temporary_folder.h"

namespace rushlight {
namespace {

using testing::HasSubstr;

// Start-up code, main() and a library of one source.
FirmwareSource firmware(const std::string& main,
                        const std::string& library = "extern \"C\" int answer() { return 42; }") {
  FirmwareSource source;
  source.name = "test";
  add_embedded_files(source, "run/boards/", "board/");
  source.files["main.cpp"] = "extern \"C\" int answer();\nint main() {" + main + "}\n";
  source.files["library.cpp"] = library;
  source.units = {
      {"board/startup.c", "startup.o", {}}, {"main.cpp", "main.o", {}}, {"library.cpp", "library_a.o", {}}};
  return source;
}

std::string error_of_build(const Target& target, const FirmwareSource& source) {
  auto folder = TemporaryFolder::create();
  if (!folder) return folder.error().text();
  const auto built = build_firmware(source, target, boards_of(target), folder->path());
  return built ? "built" : built.error().text();
}

// The error of a run on a board, or "ended" if there is none.
std::string error_of_run(const Target& target, std::string_view board, const std::string& main,
                         std::chrono::milliseconds limit = std::chrono::minutes(1)) {
  auto folder = TemporaryFolder::create();
  if (!folder) return folder.error().text();
  const BoardRow* boards[] = {find_board(board)};
  const auto built = build_firmware(firmware(main), target, boards, folder->path());
  if (!built) return built.error().text();
  const auto ran = run_emulator(*built->board, built->elf, folder->path(), limit);
  return ran ? "ended" : ran.error().text();
}

constexpr const char* kUnalignedRead =
    "alignas(4) char x[8] = {}; char* p = x + 1; __asm__ volatile(\"ldr %0, [%0]\" : \"+r\"(p) :: "
    "\"memory\"); return 0;";

TEST(Firmware, TheStricterBoardOfTheM0FaultsOnUnalignedAccess) {
  const Target& m0 = *find_target("cortex-m0");
  EXPECT_EQ(error_of_run(m0, "mps2-an385-v6m", kUnalignedRead), "ended");
  EXPECT_THAT(error_of_run(m0, "microbit", kUnalignedRead), HasSubstr("fault: exception 0x00000003 at pc"));
  EXPECT_EQ(error_of_run(m0, "microbit", "return answer() - 42;"), "ended");
}

// QEMU's MPS2 boards with an M3, M4 or M7 ignore accesses outside their memory.
TEST(Firmware, StackOverflowFaultsWhereTheBoardDoes) {
  constexpr const char* main = "volatile char x[40000]; x[0] = 1; answer(); return x[0] - 1;";
  for (const char* target : {"cortex-m33", "cortex-m55"})
    EXPECT_THAT(error_of_run(*find_target(target), find_target(target)->board, main),
                HasSubstr("fault: exception 0x00000003, stack overflow"))
        << target;
}

TEST(Firmware, ThatDoesNotEndIsStopped) {
  EXPECT_THAT(error_of_run(kTargets[1], "mps2-an385", "for (;;) {}", std::chrono::milliseconds(300)),
              HasSubstr("qemu-system-arm -machine mps2-an385: the firmware did not end within 0.3 s"));
}

TEST(Firmware, ItsExitCodeIsReported) {
  EXPECT_THAT(error_of_run(kTargets[1], "mps2-an385", "return answer();"),
              HasSubstr("ended with exit code 42"));
}

TEST(Firmware, ALibraryMayOnlyCallWhatEveryDeviceHas) {
  EXPECT_EQ(
      error_of_build(kTargets[0], firmware("", "extern \"C\" int answer(int a, int b) { return a / b; }")),
      "built");
  EXPECT_EQ(
      error_of_build(kTargets[0], firmware("", "int puts(const char*);\nint f() { return puts(\"\"); }")),
      "test: the device library calls what a device need not have: _Z4putsPKc");
  FirmwareSource floats = firmware("", "float f(float a, float b) { return a * b; }");
  EXPECT_EQ(error_of_build(kTargets[0], floats),
            "test: the device library calls what a device need not have: __aeabi_fmul");
  floats.library_may_use_floats = true;
  EXPECT_EQ(error_of_build(kTargets[0], floats), "built");
}

TEST(Firmware, ALibraryHasNoVariables) {
  EXPECT_THAT(error_of_build(kTargets[1], firmware("return answer();",
                                                   "static int count;\n"
                                                   "extern \"C\" int answer() { return ++count; }")),
              HasSubstr("the library has variables of its own"));
}

TEST(Firmware, CompilersMessagesAreShown) {
  EXPECT_THAT(error_of_build(kTargets[1], firmware("return nothing;")),
              HasSubstr("was not declared in this scope"));
}

}  // namespace
}  // namespace rushlight
