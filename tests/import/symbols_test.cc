// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/json/json.h"
#include "import/pt2/source_place.h"
#include "import/pt2/targets.h"

namespace rushlight::pt2 {
namespace {

using ::testing::HasSubstr;

const Binding kBinding = {{"s0", 4}, {"s1", -7}};
const std::string kS0 = "Symbol('s0', positive=True, integer=True)";
const std::string kS1 = "Symbol('s1', integer=True)";

std::string text(const std::string& expression) {
  const auto value = evaluate(std::string_view(expression), kBinding);
  return value ? std::to_string(*value) : value.error();
}

TEST(Symbols, ExpressionsHaveValues) {
  EXPECT_EQ(text(kS0), "4");
  EXPECT_EQ(text("Integer(-3)"), "-3");
  EXPECT_EQ(text("Mul(Integer(2), " + kS0 + ")"), "8");
  EXPECT_EQ(text("Add(Integer(1), " + kS0 + ", Mul(Integer(-1), " + kS1 + "))"), "12");
  EXPECT_EQ(text("Pow(" + kS0 + ", Integer(3))"), "64");
  EXPECT_EQ(text("torch.utils._sympy.functions.FloorDiv(" + kS1 + ", Integer(2))"), "-4");
  EXPECT_EQ(text("PythonMod(" + kS1 + ", Integer(4))"), "1");
  EXPECT_EQ(text("Max(Integer(1), " + kS0 + ")"), "4");
}

TEST(Symbols, WhatIsNotUnderstoodIsSaid) {
  EXPECT_THAT(text("Symbol('u0', integer=True)"), HasSubstr("'u0' is known only when the model runs"));
  EXPECT_THAT(text("Mul(Integer(9223372036854775807), Integer(2))"), HasSubstr("has no 64-bit value"));
  EXPECT_THAT(text("Pow(Integer(10), Integer(1000000000))"), HasSubstr("has no 64-bit value"));
  EXPECT_THAT(text("FloorDiv(Integer(1), Integer(0))"), HasSubstr("has no 64-bit value"));
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "Mul(";
  for (const std::string& bad :
       {std::string(), std::string("Integer(3"), std::string("Integer(3))"), std::string("Integer(x)"),
        std::string("Integer(99999999999999999999)"), std::string("Sin(Integer(1))"),
        std::string("Mul(Integer(1))"), std::string("Mod(Integer(1), Integer(2), Integer(3))"),
        std::string("2*s0"), deep})
    EXPECT_THAT(text(bad), HasSubstr("is not understood"));
}

TEST(Symbols, OnlySymbol) {
  EXPECT_EQ(only_symbol(kS0), "s0");
  EXPECT_EQ(only_symbol("Mul(Integer(2), " + kS0 + ")"), std::nullopt);
  EXPECT_EQ(only_symbol("Symbol('a\nb')"), std::nullopt);
}

TEST(Symbols, ArithmeticOfPython) {
  EXPECT_EQ(checked_floor_divide(7, -2), -4);
  EXPECT_EQ(checked_floor_divide(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(checked_modulo(7, -4), -1);
  EXPECT_EQ(checked_modulo(INT64_MIN, -1), 0);
  EXPECT_EQ(checked_modulo(1, 0), std::nullopt);
}

TEST(Targets, InPlaceFormsAreKnownByTheirName) {
  EXPECT_EQ(functional_form("aten.add_.Tensor"), "aten.add.Tensor");
  EXPECT_EQ(functional_form("aten.add.Tensor"), std::nullopt);
  EXPECT_EQ(functional_form("aten.detach_.default"), std::nullopt);
  EXPECT_EQ(functional_form("aten.__and__.Scalar"), std::nullopt);
  EXPECT_EQ(functional_form("_operator.add"), std::nullopt);
  EXPECT_TRUE(may_alias("aten.view.default"));
  EXPECT_FALSE(may_alias("aten.relu.default"));
}

TEST(SourcePlace, IsTheInnermostFrameOutsideOfTorch) {
  EXPECT_EQ(source_place("File \"/home/me/net.py\", line 12, in forward\n    x = f(x)\n  File "
                         "\"/usr/lib/torch/nn/modules/conv.py\", line 565, in forward\n    return 1"),
            "net.py:12");
  EXPECT_EQ(
      source_place("File \"torch/nn/a.py\", line 1, in forward\nFile \"torch/nn/b.py\", line 2, in forward"),
      "b.py:2");
  EXPECT_EQ(source_place("File \"C:\\net.py\", line 3, in forward"), "net.py:3");
  for (const char* none :
       {"", "File \"", "File \"a.py\"", "File \"a.py\", line ", "File \"a\x1b.py\", line 1"})
    EXPECT_EQ(source_place(none), "") << none;
}

TEST(Json, PathsLeadToWhatIsWrong) {
  const auto json = parse_json(R"({"a": [{"b": 1.5}, {"b": null}]})", "f.json");
  ASSERT_TRUE(json);
  JsonContext context(*json, "f.json");
  const JsonPlace top(*json, context);
  EXPECT_FALSE(top.member("a").items()[1].has("b"));
  EXPECT_EQ(top.member("a").items()[0].member("b").real(), 1.5);
  EXPECT_EQ(top.member("a").items()[1].member("c").integer(), 0);
  EXPECT_EQ(top.member("a").integer(), 0);  // only the first failure is kept
  EXPECT_EQ(context.take_error().text(), "f.json: a[1].c: is missing");
}

TEST(Json, LimitsHold) {
  EXPECT_THAT(parse_json("[[[1]]]", "f", {.depth = 2}).error().text(), HasSubstr("deeper than 2 levels"));
  EXPECT_THAT(parse_json("[1,2,3]", "f", {.values = 3}).error().text(), HasSubstr("more than 3 values"));
  EXPECT_THAT(parse_json("[1e999]", "f").error().text(), HasSubstr("is not valid JSON at byte"));
  EXPECT_THAT(parse_json("[1] 2", "f").error().text(), HasSubstr("is not valid JSON at byte"));
}

}  // namespace
}  // namespace rushlight::pt2
