// SPDX-License-Identifier: Apache-2.0
#include "ops/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "ops/table.h"

namespace rushlight {
namespace {

TEST(Attributes, TextReadsBack) {
  const std::vector<Attribute> values = {Attribute{},
                                         true,
                                         false,
                                         int64_t{-3},
                                         std::numeric_limits<int64_t>::min(),
                                         std::numeric_limits<int64_t>::max(),
                                         0.1,
                                         -0.0,
                                         1.0,
                                         1e300,
                                         -std::numeric_limits<double>::infinity(),
                                         std::string(),
                                         std::string("a \"b\" \\ \n\x7F\x01 ü"),
                                         Integers{},
                                         Integers{1},
                                         Integers{-1, 0, std::numeric_limits<int64_t>::max()}};
  for (const Attribute& value : values) {
    const Result<Attribute> again = parse_attribute(to_string(value));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, value) << to_string(value);
  }
  EXPECT_EQ(to_string(Attribute(std::numeric_limits<double>::quiet_NaN())), "nan");
  EXPECT_EQ(to_string(Attribute(Integers{1, 2})), "[1,2]");
}

TEST(Attributes, BadTextsAreRefused) {
  for (const char* text :
       {"", "nome", "1x", "[1", "[1,]", "[,]", "[1.5]", "\"a", "\"a\"b\"", "\"\\q\"", "\"\\", "\"\\x1\"",
        "99999999999999999999x", "[99999999999999999999]", "1e999", "--1", "\""})
    EXPECT_FALSE(parse_attribute(text)) << text;
}

constexpr std::array<AttributeRow, 3> kRows = {{{"alpha", AttributeKind::real, "1.0"},
                                                {"dim", AttributeKind::integers, "none"},
                                                {"axis", AttributeKind::integer}}};

TEST(Attributes, CompletionFillsDefaultsAndConverts) {
  const auto values = complete_attributes(kRows, {{"axis", int64_t{2}}}).value();
  EXPECT_EQ(values, (std::vector<Attribute>{1.0, Attribute{}, int64_t{2}}));
  const auto converted =
      complete_attributes(kRows, {{"axis", int64_t{2}}, {"alpha", int64_t{3}}, {"dim", int64_t{4}}}).value();
  EXPECT_EQ(converted, (std::vector<Attribute>{3.0, Integers{4}, int64_t{2}}));
}

TEST(Attributes, CompletionRefusesWhatDoesNotFit) {
  const auto error = [](NamedAttributes given) {
    const auto values = complete_attributes(kRows, std::move(given));
    return values ? "" : values.error().text();
  };
  EXPECT_EQ(error({}), "attribute axis: missing; it has no default");
  EXPECT_EQ(error({{"axis", true}}), "attribute axis: found true, must be an integer");
  EXPECT_EQ(error({{"axis", 1.0}}), "attribute axis: found 1.0, must be an integer");
  EXPECT_EQ(error({{"axis", Attribute{}}}), "attribute axis: found none, must be an integer");
  EXPECT_EQ(error({{"axis", int64_t{1}}, {"alpha", Attribute{}}}),
            "attribute alpha: found none, must be a real");
  EXPECT_EQ(error({{"axis", int64_t{1}}, {"dim", 1.5}}),
            "attribute dim: found 1.5, must be a list of integers or none");
  EXPECT_EQ(error({{"axis", int64_t{1}}, {"beta", true}}),
            "attribute beta: the op has no such attribute; it has: alpha, dim, axis");
}

TEST(Attributes, ViewsReadByName) {
  const std::vector<Attribute> values = {1.0, Integers{4}, int64_t{2}};
  const Attributes view(kRows, values);
  EXPECT_EQ(view.real("alpha"), 1.0);
  EXPECT_EQ(view.pair("dim"), (std::pair<int64_t, int64_t>{4, 4}));
  EXPECT_THROW(view.get("gamma"), InternalError);
}

// Holds for rows that are added later, too.
TEST(OpTable, RowsAreWellFormed) {
  std::set<std::string_view> names;
  std::set<std::string_view> torch;
  for (const OpRow& r : kOps) {
    SCOPED_TRACE(r.name);
    EXPECT_TRUE(names.insert(r.name).second);
    EXPECT_FALSE(r.summary.empty());
    EXPECT_NE(r.shape, nullptr);
    EXPECT_GT(r.operand_count(), 0U);
    for (const std::string_view overload : r.torch)
      EXPECT_TRUE(overload.empty() || torch.insert(overload).second) << overload;
    for (size_t i = 0; i + 1 < r.operand_count(); ++i) EXPECT_FALSE(r.operands[i].variadic);
    for (size_t i = 0; i < r.operand_count(); ++i)
      EXPECT_EQ(r.operands[i].role == Role::weight, r.operands[i].channel_axis >= 0) << r.operands[i].name;
    NamedAttributes given;
    for (const AttributeRow& a : r.attribute_rows()) {
      const std::array<Attribute, 5> samples = {true, int64_t{0}, 0.0, std::string(), Integers{}};
      if (a.default_value.empty()) given.emplace(a.name, samples[static_cast<size_t>(a.kind)]);
    }
    const auto completed = complete_attributes(r.attribute_rows(), given);
    ASSERT_TRUE(completed);
    for (size_t i = 0; i < completed->size(); ++i) {
      const std::string_view standard = r.attributes[i].default_value;
      // The printer leaves out what reads as the default does.
      if (!standard.empty()) {
        EXPECT_EQ(to_string((*completed)[i]), standard);
      }
    }
  }
}

}  // namespace
}  // namespace rushlight
