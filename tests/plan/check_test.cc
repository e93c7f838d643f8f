// SPDX-License-Identifier: Apache-2.0
// The checker against corrupted plans: one for each kind of corruption, and at random against what the
// simulator computes under the corrupted plan.
#include "plan/plan.h"
#include "sim/simulator.h"
#include "tests/plan/programs.h"

namespace rushlight {
namespace {

using namespace testing_support;

struct Example {
  Program program;
  Plan plan;
};

// x -> a -> b, with a state that takes b.
Example example() {
  ProgramBuilder b;
  const int state = b.buffer(32, BufferKind::persistent);
  const int x = b.input(32);
  const int y = b.add(x, state, {});
  const int z = b.add(y, x, {0});
  b.output(z);
  b.copy(z, state);
  Plan made = plan(b.program);
  return {std::move(b.program), std::move(made)};
}

void expect_wrong(const Example& e, std::string_view error) {
  const Status found = check(e.program, e.plan);
  ASSERT_FALSE(found) << error;
  EXPECT_THAT(found.error().text(), testing::HasSubstr(std::string(error)));
}

TEST(Check, EachKindOfCorruption) {
  const Example good = example();
  ASSERT_TRUE(check(good.program, good.plan)) << check(good.program, good.plan).error().text();
  const auto corrupted = [&](auto change) {
    Example e = good;
    change(e);
    return e;
  };
  expect_wrong(corrupted([](Example& e) { e.plan.offsets.pop_back(); }), "has not one offset a buffer");
  expect_wrong(corrupted([](Example& e) { e.plan.input_preserved.clear(); }), "whether it is preserved");
  expect_wrong(corrupted([](Example& e) { e.plan.offsets[1] += 1; }), "no multiple of 16");
  expect_wrong(corrupted([](Example& e) { e.plan.offsets[1] = -16; }), "lies at -16 with 32 bytes");
  expect_wrong(corrupted([](Example& e) { e.plan.offsets[1] = INT64_MAX - 15; }), "outside the arena");
  expect_wrong(corrupted([](Example& e) { e.plan.arena_bytes -= 16; }), "outside the arena");
  expect_wrong(corrupted([](Example& e) { e.plan.arena_bytes = INT64_MAX; }), "side by side take less");
  expect_wrong(corrupted([](Example& e) { e.plan.persistent_bytes = 16; }), "reset() would not clear it");
  expect_wrong(corrupted([](Example& e) { e.plan.persistent_bytes = 1 << 20; }),
               "persistent bytes in an arena of");
  expect_wrong(corrupted([](Example& e) { e.plan.offsets[1] = e.plan.offsets[0]; }), "then belongs to b1");
  expect_wrong(corrupted([](Example& e) { e.plan.offsets[2] = e.plan.offsets[1]; }),
               "which that kernel does not allow");
  expect_wrong(corrupted([](Example& e) { e.plan.offsets[3] = e.plan.offsets[1]; }),
               "which that kernel does not allow");
  expect_wrong(corrupted([](Example& e) { e.program.constraints = {{2, 1, 16}}; }),
               "is not 16 bytes from buffer b2");
  expect_wrong(corrupted([](Example& e) { e.program.inputs.clear(), e.plan.input_preserved.clear(); }),
               "then belongs to nobody");
  Example taken = corrupted([](Example& e) { e.program.calls[0].may_overwrite = {0}; });
  taken.program.calls[1].arguments[1] = taken.program.calls[1].arguments[0];
  taken.program.calls[1].may_overwrite = {0, 1};
  taken.plan = plan(taken.program);
  ASSERT_FALSE(taken.plan.input_preserved[0]);
  taken.plan.input_preserved[0] = true;
  expect_wrong(taken, "the caller, who is told that it is preserved,");
}

std::vector<Tensor> random_inputs(const Program& program, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (const Port& port : program.inputs)
    inputs.push_back(random.integers(DType::int8, port.type.shape, -128, 127));
  return inputs;
}

// Three runs, so that states count.
std::vector<Tensor> outputs(const Program& program, const Plan& plan, std::byte poison = std::byte{0x55}) {
  Simulator simulator(program, plan, poison);
  std::vector<Tensor> all;
  for (uint64_t run = 0; run < 3; ++run) {
    const auto result = simulator.run(random_inputs(program, run));
    for (const Tensor& output : result.value()) all.push_back(output);
  }
  return all;
}

TEST(RandomPrograms, PlansAreGoodAndNeverLargerThanNone) {
  int64_t shared = 0;
  int64_t apart = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Program program = random_program(seed);
    const Plan made = plan(program);
    const Plan none = plan_without_sharing(program);
    ASSERT_TRUE(check(program, none)) << check(program, none).error().text();
    ASSERT_TRUE(check(program, made)) << check(program, made).error().text() << print(program);
    ASSERT_LE(made.arena_bytes, none.arena_bytes);
    const std::vector<Tensor> expected = outputs(program, none);
    for (const auto poison : {std::byte{0}, std::byte{0x55}, std::byte{0xFF}})
      ASSERT_EQ(outputs(program, made, poison), expected) << print(program);
    shared += made.arena_bytes;
    apart += none.arena_bytes;
  }
  EXPECT_LT(shared * 2, apart);
}

// What a kernel does with operands that overlap may be anything; the checker must see it before it runs.
bool copies_over_itself(const Program& program, const Plan& plan) {
  for (const KernelCall& call : program.calls) {
    if (call.row().overlap != kernels::Overlap::none) continue;
    const auto from = static_cast<size_t>(call.arguments[0].index);
    const auto to = static_cast<size_t>(call.arguments[1].index);
    if (plan.offsets[from] < plan.offsets[to] + program.buffers[to].bytes &&
        plan.offsets[to] < plan.offsets[from] + program.buffers[from].bytes)
      return true;
  }
  return false;
}

TEST(RandomPrograms, WrongPlansNeverPassTheCheck) {
  int refused = 0;
  int different = 0;
  int harmless = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Program program = random_program(seed % 300 + 1);
    Plan mutated = plan(program);
    const std::vector<Tensor> expected = outputs(program, mutated);
    Random random(seed);
    for (int64_t i = random.integer(1, 3); i > 0; --i) {
      const auto b = static_cast<size_t>(random.integer(0, static_cast<int64_t>(program.buffers.size()) - 1));
      const int64_t room = mutated.arena_bytes - program.buffers[b].bytes;
      mutated.offsets[b] = random.integer(0, room / kArenaAlignment) * kArenaAlignment;
    }
    const bool good = check(program, mutated).has_value();
    refused += good ? 0 : 1;
    if (copies_over_itself(program, mutated)) {
      ASSERT_FALSE(good) << print(program);
      continue;
    }
    const bool equal = outputs(program, mutated) == expected;
    different += equal ? 0 : 1;
    harmless += good ? 1 : 0;
    ASSERT_TRUE(equal || !good) << print(program);
  }
  EXPECT_GT(different, 300);
  EXPECT_GT(harmless, 100);
  // Strict, but not blind: most of what it refuses does go wrong, or would with other numbers.
  EXPECT_GE(refused, different);
}

}  // namespace
}  // namespace rushlight
