// SPDX-License-Identifier: Apache-2.0
// Runs the command line as a user does, in a folder of its own, and checks how it refuses.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "run/temporary_folder.h"

namespace rushlight::must_fail {

struct Ran {
  int code = -1;
  std::string out, err;
};

class CommandTest : public testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }
  // A file in the folder; its name.
  std::string write(const std::string& name, std::span<const std::byte> bytes) const;

  // rushlight with these arguments, started in the folder.
  Ran run(const std::vector<std::string>& arguments) const;

  // Expects the exit code, one "error: " line for each of `errors` (parts of one, separated by '|'), nothing
  // else, no new file in the folder; and the same again as one JSON object. The lines may come in any order.
  void expect_refusal(std::vector<std::string> arguments, int code,
                      const std::vector<std::string>& errors) const;

 private:
  std::vector<std::string> files() const;

  TemporaryFolder folder_ = TemporaryFolder::create().value();
};

std::string fixture(const std::string& name);  // below tests/fixtures
std::string digits(const std::string& name);   // below models/digits

}  // namespace rushlight::must_fail
