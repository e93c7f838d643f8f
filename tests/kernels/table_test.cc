// SPDX-License-Identifier: Apache-2.0
// The kernel table's own promises.
#include "kernels/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace rushlight::kernels {
namespace {

using testing::ElementsAre;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(KernelTable, NamesAreUniquePerMode) {
  std::set<std::tuple<std::string, Mode>> seen;
  for (const KernelRow& row : kKernels) EXPECT_TRUE(seen.insert({row.name, row.mode}).second) << row.name;
}

// The emitter writes these strings into C++ and copies these headers.
TEST(KernelTable, StringsNameWhatTheHeaderDeclares) {
  for (const KernelRow& row : kKernels) {
    const std::string header = text_of(std::filesystem::path(RUSHLIGHT_SOURCE_DIR) / row.header);
    EXPECT_NE(header.find(std::string("struct ") + row.params_type + " {"), std::string::npos)
        << row.expression;
    // Plain functions, or a family's members, whose functions a macro makes by appending the suffix.
    const std::string name = row.name;
    const std::string stem = name.substr(0, name.rfind("_s"));
    EXPECT_TRUE(header.find(" " + name + "(") != std::string::npos ||
                header.find("(" + stem + ",") != std::string::npos)
        << row.expression;
    EXPECT_EQ(std::string(row.dialect).substr(0, 10), "cortex_m::") << row.expression;
  }
}

TEST(KernelTable, FamilyHeadersStandWithoutTheTable) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(RUSHLIGHT_SOURCE_DIR) / "kernels")) {
    if (entry.path().filename() == "table.h" || entry.path().extension() != ".h") continue;
    EXPECT_EQ(text_of(entry.path()).find("#include \"kernels/table.h\""), std::string::npos) << entry.path();
  }
}

TEST(KernelTable, FindsByNameAndMode) {
  const KernelRow* single = find_kernel("quantized_conv2d_s8", Mode::single_);
  const KernelRow* twice = find_kernel("quantized_conv2d_s8", Mode::double_);
  ASSERT_NE(single, nullptr);
  ASSERT_NE(twice, nullptr);
  EXPECT_STREQ(single->expression, "quantized_conv2d_s8<Single>");
  EXPECT_STREQ(twice->expression, "quantized_conv2d_s8<Double>");
  EXPECT_STREQ(find_kernel("copy_s8", Mode::single_)->expression, "copy_s8");
  EXPECT_EQ(find_kernel("copy_s8", Mode::single_), find_kernel("copy_s8", Mode::double_));
  EXPECT_EQ(find_kernel("quantized_avg_pool2d_divide_s8", Mode::single_), nullptr);
  EXPECT_EQ(find_kernel("quantized_conv2d", Mode::single_), nullptr);
}

TEST(KernelTable, ArgumentsComeFromTheSignature) {
  const KernelRow* row = find_kernel("quantized_linear_s8", Mode::single_);
  std::vector<Element> elements;
  std::vector<bool> outputs;
  for (int i = 0; i < row->argument_count; ++i) {
    elements.push_back(row->arguments[i].element);
    outputs.push_back(row->arguments[i].output);
  }
  EXPECT_THAT(elements,
              ElementsAre(Element::i8, Element::i8, Element::i32, Element::i32, Element::i32, Element::i8));
  EXPECT_THAT(outputs, ElementsAre(false, false, false, false, false, true));
  EXPECT_EQ(find_kernel("quantize_per_tensor_s8", Mode::single_)->arguments[0].element, Element::f32);
}

// What an emitter does: text of an aggregate initialiser.
struct TextSink : FieldSink {
  std::string text;
  TextSink()
      : FieldSink{[](FieldSink& self, const char* name) { of(self).text += std::string(name) + "{ "; },
                  [](FieldSink& self, const char* name, const int32_t* values, int32_t count) {
                    of(self).text += std::string(name) + "=";
                    for (int32_t i = 0; i < (count == 0 ? 1 : count); ++i)
                      of(self).text += (i == 0 ? "" : ",") + std::to_string(values[i]);
                    of(self).text += " ";
                  },
                  [](FieldSink& self) { of(self).text += "} "; }} {}
  static TextSink& of(FieldSink& sink) { return static_cast<TextSink&>(sink); }
};

TEST(KernelTable, VisitPrintsNestedFieldsInOrder) {
  const RequantizeParams requantize{5, -3, {7, -8}, {1, -2, 3}};
  TextSink sink;
  find_kernel("requantize_s8", Mode::single_)->visit(&requantize, sink);
  EXPECT_EQ(sink.text,
            "count=5 input_zero_point=-3 factor{ multiplier=7 shift=-8 } output{ zero_point=1 lo=-2 hi=3 } ");

  const BinaryParams binary{{{1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 1}, {6, 5, 4, 3, 2, 1}}};
  TextSink nested;
  find_kernel("maximum_s8", Mode::exact)->visit(&binary, nested);
  EXPECT_EQ(nested.text, "loops{ extent=1,2,3,4,5,6 stride_a=0,0,0,0,0,1 stride_b=6,5,4,3,2,1 } ");
}

// Visiting must reach every integer of the struct once, in memory order, as aggregate initialisation does.
TEST(KernelTable, VisitFollowsMemoryOrder) {
  struct OrderSink : FieldSink {
    const int32_t* next = nullptr;
    bool in_order = true;
    OrderSink()
        : FieldSink{[](FieldSink&, const char*) {},
                    [](FieldSink& self, const char*, const int32_t* values, int32_t count) {
                      OrderSink& sink = static_cast<OrderSink&>(self);
                      sink.in_order = sink.in_order && values == sink.next;
                      sink.next = values + (count == 0 ? 1 : count);
                    },
                    [](FieldSink&) {}} {}
  };
  for (const KernelRow& row : kKernels) {
    const std::vector<int32_t> params(static_cast<size_t>(row.params_size / 4));
    OrderSink sink;
    sink.next = params.data();
    row.visit(params.data(), sink);
    EXPECT_TRUE(sink.in_order) << row.params_type;
    EXPECT_EQ(sink.next, params.data() + params.size()) << row.params_type;
  }
}

}  // namespace
}  // namespace rushlight::kernels
