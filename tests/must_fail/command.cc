// SPDX-License-Identifier: Apache-2.0
#include "tests/must_fail/command.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "import/bytes/file.h"
#include "import/bytes/reader.h"

namespace rushlight::must_fail {
namespace {

using nlohmann::json;

std::string quoted(const std::string& argument) {
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool has_all(const std::string& text, const std::string& parts) {
  const std::vector<std::string> all = split(parts, '|');
  return std::ranges::all_of(all,
                             [&](const std::string& part) { return text.find(part) != std::string::npos; });
}

void expect_each(const std::vector<std::string>& found, const std::vector<std::string>& wanted) {
  EXPECT_EQ(found.size(), wanted.size()) << testing::PrintToString(found);
  for (const std::string& parts : wanted)
    EXPECT_TRUE(std::ranges::any_of(found, [&](const std::string& line) { return has_all(line, parts); }))
        << "no error has \"" << parts << "\" among " << testing::PrintToString(found);
}

}  // namespace

std::string fixture(const std::string& name) {
  return std::string(RUSHLIGHT_SOURCE_DIR) + "/tests/fixtures/" + name;
}
std::string digits(const std::string& name) {
  return std::string(RUSHLIGHT_SOURCE_DIR) + "/models/digits/" + name;
}

std::string CommandTest::write(const std::string& name, std::span<const std::byte> bytes) const {
  const Status written = write_file((folder() / name).string(), bytes);
  EXPECT_TRUE(written);
  return name;
}

Ran CommandTest::run(const std::vector<std::string>& arguments) const {
  const TemporaryFolder logs = TemporaryFolder::create().value();
  const std::string out = (logs.path() / "out").string(), err = (logs.path() / "err").string();
  std::string line = "cd " + quoted(folder().string()) + " && " + quoted(RUSHLIGHT_BINARY_DIR "/rushlight");
  for (const std::string& argument : arguments) line += " " + quoted(argument);
  line += " >" + quoted(out) + " 2>" + quoted(err) + " </dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out).value(), read_text(err).value()};
}

std::vector<std::string> CommandTest::files() const {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder()))
    all.push_back(entry.path().string());
  std::ranges::sort(all);
  return all;
}

void CommandTest::expect_refusal(std::vector<std::string> arguments, int code,
                                 const std::vector<std::string>& errors) const {
  const std::vector<std::string> before = files();
  const Ran text = run(arguments);
  EXPECT_EQ(text.code, code) << text.err;
  EXPECT_EQ(text.out, "");
  std::vector<std::string> lines = split(text.err, '\n');
  if (errors.size() > 1) {
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.back(), std::to_string(errors.size()) + " problems");
    lines.pop_back();
  }
  for (const std::string& line : lines) EXPECT_TRUE(line.starts_with("error: ")) << line;
  expect_each(lines, errors);

  arguments.push_back("--json");
  const Ran as_json = run(arguments);
  EXPECT_EQ(as_json.code, code);
  EXPECT_EQ(as_json.err, "");
  const json object = json::parse(as_json.out, nullptr, false);
  ASSERT_TRUE(object.is_object()) << as_json.out;
  EXPECT_EQ(object.value("ok", true), false);
  EXPECT_EQ(object.value("fault", ""), code == 1 ? "no" : "input");
  std::vector<std::string> found;
  for (const json& error : object.at("errors")) {
    found.push_back(error.at("where").get<std::string>() + ": " + error.at("what").get<std::string>());
    EXPECT_FALSE(error.at("where").get<std::string>().empty());
    EXPECT_FALSE(error.at("what").get<std::string>().empty());
  }
  expect_each(found, errors);
  EXPECT_EQ(files(), before);
}

}  // namespace rushlight::must_fail
