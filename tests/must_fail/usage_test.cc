// SPDX-License-Identifier: Apache-2.0
// Wrong usage, and output that cannot or must not be written.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/import/edit.h"
#include "tests/must_fail/command.h"

namespace rushlight::must_fail {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Usage : public CommandTest {
 protected:
  // Text on stderr, or one JSON object on stdout.
  void expect_usage_error(std::vector<std::string> arguments, const std::string& part) {
    const Ran text = run(arguments);
    EXPECT_EQ(text.code, 2) << text.err;
    EXPECT_EQ(text.out, "");
    EXPECT_THAT(text.err, HasSubstr(part));
    arguments.push_back("--json");
    const Ran as_json = run(arguments);
    EXPECT_EQ(as_json.code, 2);
    const auto object = nlohmann::json::parse(as_json.out, nullptr, false);
    ASSERT_TRUE(object.is_object()) << as_json.out << as_json.err;
    EXPECT_EQ(object.value("ok", true), false);
    EXPECT_THAT(object.dump(), HasSubstr(nlohmann::json(part).dump().substr(1, part.size())));
    EXPECT_TRUE(fs::is_empty(folder()));
  }
};

TEST_F(Usage, Errors) {
  const std::string model = digits("digits_pt2e.pt2");
  expect_usage_error({}, "command");
  expect_usage_error({"frobnicate"}, "frobnicate");
  expect_usage_error({"compile"}, "MODEL");
  expect_usage_error({"compile", model, "--no-such-option"}, "--no-such-option");
  expect_usage_error({"compile", model, "--target", "cortex-m99"}, "cortex-m99");
  expect_usage_error({"compile", model, "--rounding", "triple"}, "triple");
  expect_usage_error({"compile", model, "--batch", "0"}, "--batch");
  expect_usage_error({"compile", model, "--batch", "many"}, "--batch");
  expect_usage_error({"run", model}, "--input");
  expect_usage_error({"verify", model}, "--target");
  expect_usage_error({"inspect", model, "--after", "lunch"}, "lunch");
}

TEST_F(Usage, HelpIsGood) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"compile", "--help"},
                                                    {"run", "--help"},
                                                    {"verify", "--help"},
                                                    {"check", "--help"},
                                                    {"inspect", "--help"},
                                                    {"targets", "--help"},
                                                    {"ops", "--help"},
                                                    {"--version"}}) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("ushlight"));
    EXPECT_EQ(ran.err, "");
  }
}

class Output : public CommandTest {
 protected:
  std::vector<std::string> compile(const std::string& folder) const {
    return {"compile", digits("digits_pt2e.pt2"), "-o", folder};
  }
};

TEST_F(Output, AFolderOfOthersIsLeftAlone) {
  fs::create_directory(folder() / "out");
  write("out/thesis.txt", test::to_bytes("years of work"));
  expect_refusal(compile("out"), 2, {"out|thesis.txt"});
  EXPECT_EQ(read_text(folder() / "out/thesis.txt").value(), "years of work");
}

TEST_F(Output, AForeignFileAmongOursIsLeftAlone) {
  ASSERT_EQ(run(compile("out")).code, 0);
  ASSERT_EQ(run(compile("out")).code, 0) << "a folder of ours is replaced";
  write("out/notes.txt", test::to_bytes("mine"));
  expect_refusal(compile("out"), 2, {"out|notes.txt"});
}

TEST_F(Output, AFileIsLeftAlone) {
  write("out", test::to_bytes("a file"));
  expect_refusal(compile("out"), 2, {"out|not a folder"});
  expect_refusal(compile("out/below"), 2, {"out/below"});
}

TEST_F(Output, OddNames) {
  expect_refusal(compile("."), 2, {"."});
  expect_refusal(compile("/proc/out"), 2, {"/proc/out|cannot be written"});
}

TEST_F(Output, OfARunThatCannotBeWritten) {
  expect_refusal({"run", digits("digits_pt2e.pt2"), "--input", digits("digits_test.npz:x"), "--samples", "2",
                  "--output", "none/y.npz"},
                 2, {"none/y.npz"});
}

TEST_F(Output, AFailedCompileLeavesAnOlderLibraryAsItWas) {
  ASSERT_EQ(run(compile("out")).code, 0);
  const auto header = [&] { return read_text(folder() / "out/digits_pt2e.h").value(); };
  const std::string before = header();
  expect_refusal({"compile", digits("digits.pt2"), "--calibrate", "none.npz:x", "-o", "out"}, 2,
                 {"none.npz|no such file"});
  EXPECT_EQ(header(), before);
}

}  // namespace
}  // namespace rushlight::must_fail
