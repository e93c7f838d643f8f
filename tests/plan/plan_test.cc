// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "plan/lifetimes.h"
#include "tests/plan/programs.h"

namespace rushlight {
namespace {

using namespace testing_support;

Plan checked_plan(const Program& program) {
  Plan made = plan(program);
  const Status good = check(program, made);
  EXPECT_TRUE(good) << good.error().text();
  for (const int64_t offset : made.offsets) EXPECT_EQ(offset % kArenaAlignment, 0);
  return made;
}
int64_t at(const Plan& plan, int buffer) { return plan.offsets[static_cast<size_t>(buffer)]; }

TEST(Lifetimes, FromWriterToLastReader) {
  ProgramBuilder b;
  const int x = b.input(16);
  const int state = b.buffer(16, BufferKind::persistent);
  const int y = b.add(x, state, {0});
  const int z = b.add(y, y, {0, 1});
  b.output(z);
  b.copy(y, state);
  const std::vector<Lifetime> lives = lifetimes(b.program);
  const auto expect = [&](int buffer, int first, int last) {
    EXPECT_EQ(lives[static_cast<size_t>(buffer)].first, first);
    EXPECT_EQ(lives[static_cast<size_t>(buffer)].last, last);
  };
  expect(x, -1, 0);
  expect(state, -1, 3);
  expect(y, 0, 2);
  expect(z, 1, 3);
}

TEST(InPlace, BothOperandsTheSame) {
  ProgramBuilder b;
  const int x = b.input(64);
  const int y = b.add(x, x, {0, 1});
  b.output(y);
  const Plan p = checked_plan(b.program);
  EXPECT_EQ(at(p, x), at(p, y));
  EXPECT_EQ(p.arena_bytes, 64);
  EXPECT_EQ(p.input_preserved, std::vector<bool>{false});
}

TEST(InPlace, TheSecondOperandWhereTheFirstLivesOn) {
  ProgramBuilder b;
  const int x = b.input(64);
  const int y = b.add(x, x, {0, 1});
  const int z = b.add(x, y, {0, 1});
  b.output(z);
  b.output(x);
  const Plan p = checked_plan(b.program);
  EXPECT_EQ(at(p, y), at(p, z));
  EXPECT_EQ(p.arena_bytes, 128);
  EXPECT_EQ(p.input_preserved, std::vector<bool>{true});
}

// The result may not take over an operand that ...
TEST(InPlace, NotWhere) {
  {  // ... is stretched,
    ProgramBuilder b;
    const int x = b.input(64);
    const int s = b.input(1);
    const int y = b.add(s, x, {1});
    b.program.buffers[static_cast<size_t>(y)].bytes = 64;
    b.output(y);
    const Plan p = checked_plan(b.program);
    EXPECT_EQ(at(p, x), at(p, y));
    EXPECT_NE(at(p, s), at(p, y));
  }
  {  // ... the kernel does not allow,
    ProgramBuilder b;
    const int x = b.input(64);
    const int y = b.add(x, x, {});
    b.output(y);
    EXPECT_EQ(checked_plan(b.program).arena_bytes, 128);
  }
  {  // ... is the same memory as another operand that it may not,
    ProgramBuilder b;
    const int x = b.input(64);
    b.output(b.add(x, x, {0}));
    EXPECT_EQ(checked_plan(b.program).arena_bytes, 128);
  }
  {  // ... is read later,
    ProgramBuilder b;
    const int x = b.input(64);
    const int y = b.add(x, x, {0, 1});
    b.output(b.add(y, x, {}));
    EXPECT_NE(at(checked_plan(b.program), x), at(checked_plan(b.program), y));
  }
  {  // ... is an output,
    ProgramBuilder b;
    const int x = b.input(64);
    const int y = b.add(x, x, {0, 1});
    const int z = b.add(y, y, {0, 1});
    b.output(y);
    b.output(z);
    EXPECT_NE(at(checked_plan(b.program), y), at(checked_plan(b.program), z));
  }
  {  // ... or lives on to the next run.
    ProgramBuilder b;
    const int s = b.buffer(64, BufferKind::persistent);
    const int y = b.add(s, s, {0, 1});
    b.output(y);
    const Plan p = checked_plan(b.program);
    EXPECT_NE(at(p, s), at(p, y));
    EXPECT_EQ(p.persistent_bytes, 64);
  }
}

TEST(Plans, PersistentBuffersStandFirst) {
  ProgramBuilder b;
  const int x = b.input(48);
  const int s = b.buffer(40, BufferKind::persistent);
  const int t = b.buffer(8, BufferKind::persistent);
  b.output(b.add(s, s, {}));
  b.copy(x, s);
  b.copy(x, t);
  const Plan p = checked_plan(b.program);
  EXPECT_EQ(at(p, s), 0);
  EXPECT_EQ(at(p, t), 48);
  EXPECT_EQ(p.persistent_bytes, 64);
  EXPECT_GE(at(p, x), 64);
}

// A concatenation in place: both parts are written where the whole lies. Parts are not taken over.
TEST(Plans, OffsetConstraintsHold) {
  ProgramBuilder b;
  const int x = b.input(32);
  const int left = b.add(x, x, {0, 1});
  const int right = b.add(x, left, {0});
  const int whole = b.buffer(64);
  b.program.constraints = {{whole, left, 0}, {whole, right, 32}};
  const Plan p = plan(b.program);
  EXPECT_EQ(at(p, left), at(p, whole));
  EXPECT_EQ(at(p, right), at(p, whole) + 32);
  EXPECT_TRUE(at(p, x) + 32 <= at(p, whole) || at(p, whole) + 64 <= at(p, x));
  b.output(right);
  EXPECT_TRUE(check(b.program, plan(b.program)));
}

TEST(Plans, InputsThatNobodyOverwritesArePreserved) {
  ProgramBuilder b;
  const int x = b.input(64);
  const int y = b.input(64);
  const int z = b.add(x, y, {});
  const int w = b.add(z, y, {});
  b.output(w);
  const Plan p = checked_plan(b.program);
  // w fits where x was; y is read by the last call.
  EXPECT_EQ(at(p, w), at(p, x));
  EXPECT_EQ(p.input_preserved, (std::vector<bool>{false, true}));
  EXPECT_EQ(p.arena_bytes, 192);
}

}  // namespace
}  // namespace rushlight
