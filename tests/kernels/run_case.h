// SPDX-License-Identifier: Apache-2.0
// Runs a case on the host through the kernel table.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "tests/kernels/case.h"

namespace rushlight {

// Memory of one argument, aligned to 16 as on the device, between two guards that must not change.
class Guarded {
 public:
  explicit Guarded(const std::vector<std::byte>& bytes)
      : size_(bytes.size()), memory_(std::aligned_alloc(16, (2 * kGuard + bytes.size() + 15) / 16 * 16)) {
    std::memset(memory_.get(), kPattern, kGuard + size_ + kGuard);
    if (size_ != 0) std::memcpy(data(), bytes.data(), size_);
  }
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()) + kGuard; }
  std::vector<std::byte> bytes() const { return {data(), data() + size_}; }
  bool intact() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (data()[-1 - static_cast<ptrdiff_t>(i)] != std::byte{kPattern} ||
          data()[size_ + i] != std::byte{kPattern})
        return false;
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kPattern = 0xA5;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  size_t size_;
  std::unique_ptr<void, Free> memory_;
};

inline std::string first_difference(const std::vector<std::byte>& got, const std::vector<std::byte>& want) {
  for (size_t i = 0; i < got.size() && i < want.size(); ++i)
    if (got[i] != want[i])
      return "byte " + std::to_string(i) + " of " + std::to_string(want.size()) + " is " +
             std::to_string(static_cast<int8_t>(got[i])) + ", not " +
             std::to_string(static_cast<int8_t>(want[i]));
  return "sizes differ";
}

// Expects the outputs to equal, the inputs to be as they were, and nothing else to be written.
inline void check_case(const KernelCase& c, const kernels::KernelRow& row) {
  SCOPED_TRACE(c.description);
  ASSERT_EQ(static_cast<size_t>(row.argument_count), c.arguments.size());
  ASSERT_EQ(static_cast<size_t>(row.params_size), c.params.size());
  std::vector<int32_t> params(c.params.size() / 4);
  std::memcpy(params.data(), c.params.data(), c.params.size());

  std::vector<Guarded> memory;
  std::vector<void*> pointers;
  for (const KernelCase::Argument& argument : c.arguments) {
    memory.emplace_back(argument.bytes);
    pointers.push_back(argument.shares < 0 ? memory.back().data()
                                           : pointers[static_cast<size_t>(argument.shares)]);
  }
  row.invoke(params.data(), pointers.data());

  size_t output = 0;
  std::vector<bool> overwritten(c.arguments.size());
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    ASSERT_EQ(row.arguments[i].output, c.arguments[i].output);
    EXPECT_TRUE(memory[i].intact()) << "argument " << i << ": written outside";
    if (!c.arguments[i].output) continue;
    const size_t holder = c.arguments[i].shares < 0 ? i : static_cast<size_t>(c.arguments[i].shares);
    overwritten[holder] = true;
    const std::vector<std::byte> got = memory[holder].bytes();
    const std::vector<std::byte>& want = c.expected.at(output++);
    EXPECT_TRUE(got == want) << "argument " << i << ": " << first_difference(got, want);
  }
  for (size_t i = 0; i < c.arguments.size(); ++i)
    EXPECT_TRUE(overwritten[i] || memory[i].bytes() == c.arguments[i].bytes)
        << "input " << i << " was written";
}

inline void check_case(const KernelCase& c) { check_case(c, kernels::kKernels[c.kernel]); }

}  // namespace rushlight
