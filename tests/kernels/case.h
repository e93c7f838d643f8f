// SPDX-License-Identifier: Apache-2.0
// Cases for the kernel table as data: a row, its Params, its arguments and the
// bytes expected of its outputs. The host test runs them through kKernels[].invoke;
// nothing in a case depends on the host, so they may be sent elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/table.h"

namespace rushlight {

struct KernelCase {
  struct Argument {
    bool output = false;
    std::vector<std::byte> bytes;  // of an output: what its memory holds before the call
    int shares = -1;               // of an output: the input argument whose memory it is, if any
  };
  int kernel = 0;           // row of kernels::kKernels
  std::string description;  // for messages; names the seed
  std::vector<std::byte> params;
  std::vector<Argument> arguments;               // in the order of the kernel's signature
  std::vector<std::vector<std::byte>> expected;  // one an output, in order
};

// The same list for the same seed on every host. `scale`
// multiplies the random part; 1 takes well under a second.
std::vector<KernelCase> all_cases(uint64_t seed, int scale);

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Builds a case argument by argument.
class CaseBuilder {
 public:
  // The portable row of that name for `mode`, which must exist and take Params of this size.
  template <class Params>
  CaseBuilder(const char* name, kernels::Mode mode, const Params& params, std::string description) {
    const kernels::KernelRow* row = kernels::find_kernel(name, mode);
    if (row == nullptr || row->params_size != static_cast<int32_t>(sizeof params))
      throw std::logic_error(std::string("no kernel with these params: ") + name);
    case_.kernel = static_cast<int>(row - kernels::kKernels);
    case_.description = std::string(row->expression) + " " + std::move(description);
    case_.params.resize(sizeof params);
    std::memcpy(case_.params.data(), &params, sizeof params);
  }
  template <class T>
  CaseBuilder& input(const std::vector<T>& values) {
    case_.arguments.push_back({false, bytes_of(values)});
    return *this;
  }
  // An output that holds 0x55 before the call.
  template <class T>
  CaseBuilder& output(const std::vector<T>& expected) {
    return output_over(std::vector<std::byte>(expected.size() * sizeof(T), std::byte{0x55}), expected);
  }
  // An output with given contents before the call.
  template <class T>
  CaseBuilder& output_over(std::vector<std::byte> before, const std::vector<T>& expected) {
    case_.arguments.push_back({true, std::move(before)});
    case_.expected.push_back(bytes_of(expected));
    return *this;
  }
  // An output in the memory of input argument `shares`.
  template <class T>
  CaseBuilder& output_in_place(int shares, const std::vector<T>& expected) {
    case_.arguments.push_back({true, case_.arguments.at(static_cast<size_t>(shares)).bytes, shares});
    case_.expected.push_back(bytes_of(expected));
    case_.description += " in place of " + std::to_string(shares);
    return *this;
  }
  KernelCase done() { return std::move(case_); }

 private:
  KernelCase case_;
};

}  // namespace rushlight
