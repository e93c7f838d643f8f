// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <algorithm>
#include <numeric>

#include "plan/lifetimes.h"

namespace rushlight {
namespace {

int64_t aligned(int64_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

// Buffers at fixed distances from each other: one unit of placement.
struct Block {
  struct Member {
    int buffer;
    int64_t distance;  // from the block's start
  };
  std::vector<Member> members;
  int64_t bytes = 0;
};

class Planner {
 public:
  explicit Planner(const Program& program) : program_(program), lifetimes_(lifetimes(program)) {
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      block_of_.push_back(static_cast<int>(blocks_.size()));
      blocks_.push_back({{{static_cast<int>(i), 0}}, program.buffers[i].bytes});
    }
  }

  Plan run() {
    for (const OffsetConstraint& c : program_.constraints) join(c.first, c.second, c.distance);
    // Neighbours of constrained buffers may be in use when a buffer is taken over.
    const auto constrained = [&](int buffer) {
      return std::any_of(program_.constraints.begin(), program_.constraints.end(),
                         [&](const OffsetConstraint& c) { return c.first == buffer || c.second == buffer; });
    };
    for (const auto& [from, to] : takeovers(program_, lifetimes_))
      if (!constrained(from) && !constrained(to)) join(from, to, 0);
    plan_.offsets.assign(program_.buffers.size(), -1);
    place_persistent();
    place_arena();
    find_preserved_inputs();
    return std::move(plan_);
  }

 private:
  // Puts the block of `second` into that of `first`, so that offset(second) == offset(first) + distance.
  void join(int first, int second, int64_t distance) {
    const int target = block_of_[static_cast<size_t>(first)];
    const int source = block_of_[static_cast<size_t>(second)];
    if (target == source) return;
    Block& into = blocks_[static_cast<size_t>(target)];
    Block& from = blocks_[static_cast<size_t>(source)];
    const int64_t shift = distance_in(into, first) + distance - distance_in(from, second);
    for (const Block::Member& m : from.members) {
      into.members.push_back({m.buffer, m.distance + shift});
      block_of_[static_cast<size_t>(m.buffer)] = target;
    }
    from = {};
    normalize(into);
  }

  static int64_t distance_in(const Block& block, int buffer) {
    const auto is_buffer = [&](const Block::Member& m) { return m.buffer == buffer; };
    return std::find_if(block.members.begin(), block.members.end(), is_buffer)->distance;
  }

  // Distances from 0, size to the furthest end.
  void normalize(Block& block) const {
    int64_t least = block.members.front().distance;
    for (const Block::Member& m : block.members) least = std::min(least, m.distance);
    block.bytes = 0;
    for (Block::Member& m : block.members) {
      m.distance -= least;
      block.bytes = std::max(block.bytes, m.distance + program_.buffers[static_cast<size_t>(m.buffer)].bytes);
    }
  }

  bool is_persistent(const Block& block) const {
    return std::any_of(block.members.begin(), block.members.end(), [&](const Block::Member& m) {
      return program_.buffers[static_cast<size_t>(m.buffer)].kind == BufferKind::persistent;
    });
  }

  void settle(const Block& block, int64_t offset) {
    for (const Block::Member& m : block.members)
      plan_.offsets[static_cast<size_t>(m.buffer)] = offset + m.distance;
    plan_.arena_bytes = std::max(plan_.arena_bytes, aligned(offset + block.bytes));
  }

  void place_persistent() {
    for (const Block& block : blocks_)
      if (!block.members.empty() && is_persistent(block)) settle(block, plan_.arena_bytes);
    plan_.persistent_bytes = plan_.arena_bytes;
  }

  // Largest first, each at the lowest offset where it is in nobody's way; ties in program order.
  void place_arena() {
    std::vector<const Block*> open;
    for (const Block& block : blocks_)
      if (!block.members.empty() && !is_persistent(block)) open.push_back(&block);
    std::stable_sort(open.begin(), open.end(),
                     [](const Block* a, const Block* b) { return a->bytes > b->bytes; });
    std::vector<const Block*> placed;
    for (const Block* block : open) {
      settle(*block, lowest_offset(*block, placed));
      placed.push_back(block);
    }
  }

  int64_t lowest_offset(const Block& block, const std::vector<const Block*>& placed) const {
    int64_t offset = plan_.persistent_bytes;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Block* other : placed)
        for (const Block::Member& m : block.members)
          for (const Block::Member& o : other->members) {
            const int64_t end = conflict_end(m, offset, o);
            if (end <= offset + m.distance) continue;
            offset = aligned(end - m.distance);
            moved = true;
          }
    }
    return offset;
  }

  // Where the placed buffer ends, if it is alive together with m and overlaps m's place; 0 otherwise.
  int64_t conflict_end(const Block::Member& m, int64_t offset, const Block::Member& placed) const {
    const auto mine = static_cast<size_t>(m.buffer);
    const auto theirs = static_cast<size_t>(placed.buffer);
    if (!lifetimes_[mine].overlaps(lifetimes_[theirs])) return 0;
    const int64_t begin = offset + m.distance;
    const int64_t their_begin = plan_.offsets[theirs];
    const int64_t their_end = their_begin + program_.buffers[theirs].bytes;
    const bool apart = begin + program_.buffers[mine].bytes <= their_begin || their_end <= begin;
    return apart ? 0 : their_end;
  }

  void find_preserved_inputs() {
    for (const Port& input : program_.inputs) {
      const auto mine = static_cast<size_t>(input.buffer);
      bool preserved = true;
      for (size_t other = 0; other < program_.buffers.size(); ++other) {
        if (other == mine || lifetimes_[other].first < 0) continue;
        const int64_t begin = plan_.offsets[other];
        const int64_t end = begin + program_.buffers[other].bytes;
        preserved = preserved && (end <= plan_.offsets[mine] ||
                                  plan_.offsets[mine] + program_.buffers[mine].bytes <= begin);
      }
      plan_.input_preserved.push_back(preserved);
    }
  }

  const Program& program_;
  std::vector<Lifetime> lifetimes_;
  std::vector<Block> blocks_;
  std::vector<int> block_of_;
  Plan plan_;
};

}  // namespace

Plan plan(const Program& program) { return Planner(program).run(); }

}  // namespace rushlight
