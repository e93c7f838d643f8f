// SPDX-License-Identifier: Apache-2.0
// Programs and kernels on every emulated core equal what the same kernels give on the host.
#include "run/board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "hand_built.h"

namespace rushlight {
namespace {

using hand_built::Model;

class OnTarget : public testing::TestWithParam<Target> {};

std::string target_name(const testing::TestParamInfo<Target>& info) {
  std::string name(info.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(AllCores, OnTarget, testing::ValuesIn(kTargets), target_name);

Result<DeviceRun> run_model(Model model, const Target& target, int sample_count, RunOptions options = {}) {
  model.program.target = &target;
  return run_on_board(model.program, model.plan, hand_built::firmware(model),
                      hand_built::samples(model.program, sample_count), options);
}

TEST_P(OnTarget, ProgramsEqualTheHost) {
  for (const Model& model : hand_built::all_models()) {
    SCOPED_TRACE(model.program.name);
    const auto run = run_model(model, GetParam(), 3);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(run->outputs, hand_built::expected(model, hand_built::samples(model.program, 3)));
    EXPECT_TRUE(run->selftest_passed);
    EXPECT_GT(run->stack_bytes, 0);
    EXPECT_LT(run->stack_bytes, 1024);
    EXPECT_GT(run->code_bytes, 0);
    EXPECT_GE(run->ram_bytes, model.plan.arena_bytes);
    int64_t constants = 0;
    for (const ConstantData& constant : model.program.constants)
      constants += static_cast<int64_t>(constant.bytes.size());
    EXPECT_GE(run->flash_bytes, run->code_bytes + constants);
    EXPECT_LT(run->flash_bytes, run->code_bytes + constants + 1024);
  }
}

TEST_P(OnTarget, InstructionCountsAreExact) {
  const Model model = hand_built::convolution();
  const auto first = run_model(model, GetParam(), 1), second = run_model(model, GetParam(), 2);
  ASSERT_TRUE(first) << first.error().text();
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(first->instructions, second->instructions);
  EXPECT_EQ(first->instructions_per_call, second->instructions_per_call);
  ASSERT_EQ(first->instructions_per_call.size(), 2u);
  for (const uint64_t call : first->instructions_per_call)
    EXPECT_GT(call, 300u);  // 1,680 products, sixteen at a time
  const uint64_t sum = first->instructions_per_call[0] + first->instructions_per_call[1];
  EXPECT_LE(sum, first->instructions);
  EXPECT_GT(sum + 200, first->instructions);  // prologue, epilogue, nothing else
}

std::vector<std::byte> noise_bytes(uint32_t seed, size_t count) {
  hand_built::Noise noise(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(noise.next(0, 255));
  return bytes;
}

// Additions of odd sizes and one that only the larger boards hold.
std::vector<BoardKernelCase> kernel_cases() {
  std::vector<BoardKernelCase> cases;
  for (const int32_t count : {1, 2, 15, 16, 17, 33, 100, 9000}) {
    const auto n = static_cast<size_t>(count);
    const auto seed = static_cast<uint32_t>(count);
    cases.push_back(
        {hand_built::kernel_index("quantized_add_s8", kernels::Mode::single_),
         hand_built::bytes_of(hand_built::add_params(count)),
         {{false, noise_bytes(seed, n)}, {false, noise_bytes(seed + 1, n)}, {true, noise_bytes(9, n)}}});
  }
  return cases;
}

std::vector<std::byte> on_the_host(BoardKernelCase item) {
  std::vector<int32_t> params(item.params.size() / 4);
  std::memcpy(params.data(), item.params.data(), item.params.size());
  std::vector<void*> arguments;
  for (auto& argument : item.arguments) arguments.push_back(argument.bytes.data());
  kernels::kKernels[item.kernel].invoke(params.data(), arguments.data());
  return item.arguments.back().bytes;
}

TEST_P(OnTarget, KernelCasesEqualTheHost) {
  const std::vector<BoardKernelCase> cases = kernel_cases();
  const auto results = run_kernel_cases(GetParam(), cases);
  ASSERT_TRUE(results) << results.error().text();
  ASSERT_EQ(results->size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const BoardKernelResult& result = (*results)[i];
    EXPECT_TRUE(result.canaries_intact) << i;
    ASSERT_EQ(result.outputs.size(), 1u);
    EXPECT_EQ(result.outputs[0], on_the_host(cases[i])) << i;
  }
  // From one element to the most; lanes make steps of what lies between.
  EXPECT_GT(results->front().instructions, 0u);
  EXPECT_GT(results->back().instructions, results->front().instructions);
}

TEST(Board, AWriteBehindAnOutputBreaksACanary) {
  BoardKernelCase item = kernel_cases()[2];
  item.params = hand_built::bytes_of(hand_built::add_params(17));  // the output has 15 bytes
  const auto results = run_kernel_cases(*find_target("cortex-m3"), {&item, 1});
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_FALSE((*results)[0].canaries_intact);
}

TEST(Board, AKernelCaseThatDoesNotFitItsKernelIsRefused) {
  BoardKernelCase item = kernel_cases()[0];
  item.arguments.pop_back();
  const auto results = run_kernel_cases(kTargets[0], {&item, 1});
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().text(), "kernel case 0: 2 arguments for quantized_add_s8, which takes 3");
}

TEST(Board, SamplesMustHaveTheInputsTypes) {
  Model model = hand_built::add();
  model.program.target = &kTargets[1];
  auto samples = hand_built::samples(model.program, 1);
  samples[0][1] = Tensor(DType::int8, {2, 44});
  const auto run = run_on_board(model.program, model.plan, hand_built::firmware(model), samples);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().text(), "y: sample 0 is i8[2,44], allowed is i8[2,45]");
}

TEST(Board, AWrongChecksumFailsTheSelftest) {
  Model model = hand_built::add();
  model.program.target = &kTargets[1];
  const auto samples = hand_built::samples(model.program, 1);
  const auto run = run_on_board(model.program, model.plan,
                                emit_firmware(model.program, model.plan, {samples[0], 12345}), samples);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_FALSE(run->selftest_passed);
}

TEST(Board, AModelThatIsTooLargeIsRefused) {
  Model model = hand_built::add();
  model.plan.arena_bytes = 5 << 20;
  const auto run = run_model(model, *find_target("cortex-m4"), 1);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().fault, Fault::no);
  EXPECT_NE(run.error().text().find("does not fit the memory of the emulated board mps2-an386"),
            std::string::npos)
      << run.error().text();
}

TEST(Board, MissingToolsAreNamedWithTheirPackages) {
  EXPECT_EQ(missing_tools(), std::nullopt);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "", 1);
  ::setenv("RUSHLIGHT_PLUGIN", "/nowhere/icount.so", 1);
  const auto missing = missing_tools();
  const auto run = run_model(hand_built::add(), kTargets[0], 1);
  ::setenv("PATH", path.c_str(), 1);
  ::unsetenv("RUSHLIGHT_PLUGIN");
  ASSERT_TRUE(missing);
  for (const char* word : {"gcc-arm-none-eabi", "qemu-system-arm", "rushlight_icount"})
    EXPECT_NE(missing->find(word), std::string::npos) << *missing;
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().fault, Fault::input);
}

}  // namespace
}  // namespace rushlight
