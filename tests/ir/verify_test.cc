// SPDX-License-Identifier: Apache-2.0
// One broken graph for each check. Those that the text form can't write are broken by hand.
#include "ir/verify.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ir/text.h"
#include "tests/ir/sample_graphs.h"

namespace rushlight {
namespace {

using testing::HasSubstr;

std::string verdict(const Graph& graph) {
  const Status status = verify(graph);
  return status ? "good" : status.error().text();
}
std::string verdict(const std::string& text) {
  const Result<Graph> graph = parse_graph(text);
  return graph ? "good" : graph.error().text();
}

ValueId find(const Graph& graph, std::string_view name) {
  for (const ValueId id : graph.value_ids())
    if (graph.value(id).name == name) return id;
  ADD_FAILURE() << "no value " << name;
  return ValueId::none;
}

struct Break {
  std::string_view error;
  std::function<void(Graph&)> damage;
};

void expect_broken(std::string_view text, const std::vector<Break>& cases) {
  const Graph sound = parse_graph(text).value();
  ASSERT_EQ(verdict(sound), "good");
  for (const auto& [error, damage] : cases) {
    Graph graph = sound;
    damage(graph);
    EXPECT_THAT(verdict(graph), HasSubstr(std::string(error)));
  }
}

TEST(Verify, Structure) {
  expect_broken(
      kFloatConvGraph,
      {
          {"value '%x': a name must consist of", [](Graph& g) { g.value(find(g, "x")).name = "%x"; }},
          {"the name is taken by another value", [](Graph& g) { g.value(find(g, "x")).name = "w"; }},
          {"graph inputs: value 999 does not exist",
           [](Graph& g) { g.inputs = {static_cast<ValueId>(999)}; }},
          {"is listed as a graph input but is of another kind",
           [](Graph& g) { g.inputs.push_back(find(g, "w")); }},
          {"is listed twice as a graph input", [](Graph& g) { g.inputs.push_back(g.inputs.front()); }},
          {"operand 'input': %x is used before it is defined", [](Graph& g) { g.inputs.clear(); }},
          {"%y is used before it is defined", [](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }},
          {"operand 'input': %y is used before it is defined",
           [](Graph& g) { g.nodes[0].operands[0] = g.nodes[0].results[0]; }},
          {"operand 'input': value 4294967294 does not exist",
           [](Graph& g) { g.nodes[0].operands[0] = static_cast<ValueId>(0xFFFFFFFE); }},
          {"operand 'weight': value", [](Graph& g) { g.value(find(g, "w")) = Value{}; }},
          {"output: %m is used before it is defined", [](Graph& g) { g.nodes.resize(5); }},
          {"output: value 999 does not exist", [](Graph& g) { g.outputs = {static_cast<ValueId>(999)}; }},
          {"output: value 4294967295 does not exist", [](Graph& g) { g.outputs = {ValueId::none}; }},
          {"a constant must have data", [](Graph& g) { g.value(find(g, "w")).data = nullptr; }},
          {"the constant's data is f32[2]",
           [](Graph& g) {
             g.value(find(g, "b")).data = std::make_shared<const Tensor>(DType::float32, Shape{2});
           }},
          {"the constant's data is f64[4]",
           [](Graph& g) {
             g.value(find(g, "b")).data = std::make_shared<const Tensor>(DType::float64, Shape{4});
           }},
          {"the shape must have 1 to 268435456 elements",
           [](Graph& g) { g.value(find(g, "x")).type.shape = {0}; }},
          {"the shape must have 1 to",
           [](Graph& g) { g.value(find(g, "x")).type.shape = {int64_t{1} << 62, 4}; }},
          {"the shape must have 1 to", [](Graph& g) { g.value(find(g, "x")).type.shape = Shape(9, 1); }},
          {"channels_last is a layout of rank 3 or 4, not 2",
           [](Graph& g) { g.value(find(g, "l")).type.layout = Layout::channels_last; }},
          {"node 'y': the op has no row", [](Graph& g) { g.nodes[0].op = static_cast<Op>(60000); }},
      });
}

TEST(Verify, Nodes) {
  expect_broken(
      kFloatConvGraph,
      {
          {"node 'y' (aten.conv2d) at line 9: found 2 operands, must be 3",
           [](Graph& g) { g.nodes[0].operands.pop_back(); }},
          {"found 4 operands, must be 3", [](Graph& g) { g.nodes[0].operands.push_back(ValueId::none); }},
          {"operand 'weight' is missing", [](Graph& g) { g.nodes[0].operands[1] = ValueId::none; }},
          {"found 3 attributes, must be 4", [](Graph& g) { g.nodes[0].attributes.pop_back(); }},
          {"attribute groups: found true, which is of another kind",
           [](Graph& g) { g.nodes[0].attributes[3] = true; }},
          {"attribute groups: found none, which is of another kind",
           [](Graph& g) { g.nodes[0].attributes[3] = Attribute{}; }},
          {"attribute groups: found 3, must divide", [](Graph& g) { g.nodes[0].attributes[3] = int64_t{3}; }},
          {"found 2 results, the row says 1",
           [](Graph& g) { g.nodes[0].results.push_back(g.add_result("extra", {.shape = {1}})); }},
          {"found 0 results, the row says 1", [](Graph& g) { g.nodes[0].results.clear(); }},
          {"%y is defined twice", [](Graph& g) { g.nodes[3].results = g.nodes[0].results; }},
          {"value 1 is not a result", [](Graph& g) { g.nodes[0].results = {static_cast<ValueId>(1)}; }},
          {"has a clamp range, but the op can't clamp", [](Graph& g) { g.nodes[1].clamp = {0, 1}; }},
          {"clamp range [1, 0] must be ascending", [](Graph& g) { g.nodes[0].clamp = {1, 0}; }},
          {"clamp range [nan, 0] must be ascending", [](Graph& g) { g.nodes[0].clamp = {std::nan(""), 0}; }},
          {"the result is %y: f32[1,4,8,10], must be f32[1,4,8,9]",
           [](Graph& g) { g.value(find(g, "y")).type.shape.back() = 10; }},
          {"the result is %y: f16[1,4,8,9], must be f32[1,4,8,9]",
           [](Graph& g) { g.value(find(g, "y")).type.dtype = DType::float16; }},
          {"%y: i8[1,4,8,9]<0.5:0>: the result is quantized, but no activation operand is",
           [](Graph& g) {
             g.value(find(g, "y")).type = {DType::int8, {1, 4, 8, 9}, {}, Quantization::per_tensor(0.5, 0)};
           }},
      });
}

TEST(Verify, CollectsEveryViolation) {
  Graph g = parse_graph(kFloatConvGraph).value();
  g.nodes[0].clamp = {1, 0};
  g.nodes[0].attributes[3] = true;
  g.value(find(g, "x")).name = "w";
  g.outputs.push_back(ValueId::none);
  EXPECT_EQ(verify(g).error().diagnostics.size(), 4U);
}

TEST(Verify, States) {
  expect_broken(
      kQuantizedGraph,
      {
          {"state: is not read through a graph input", [](Graph& g) { g.states[0].input = find(g, "y"); }},
          {"state: is not read through", [](Graph& g) { g.states[0].input = ValueId::none; }},
          {"is a state twice", [](Graph& g) { g.states.push_back(g.states[0]); }},
          {"the update must have the same type, found %yr: i8[1,3,4,4]<0.25:0>",
           [](Graph& g) { g.states[0].update = find(g, "yr"); }},
          {"value 4294967295 does not exist", [](Graph& g) { g.states[0].update = ValueId::none; }},
      });
}

// A convolution whose types are the arguments; the good ones pass.
struct Conv {
  std::string x = "i8[1,2,4,4]<0.5:-3>";
  std::string w = "i8[2,2,1,1]<axis=0; 0.5:0, 0.25:0>";
  std::string b = "i32[2]<axis=0; 0.25:0, 0.125:0>";
  std::string y = "i8[1,2,4,4]<0.125:4>";

  std::string text() const {
    return "graph @g(%x: " + x + ") {\n %w: " + w + " = constant splat 1\n %b: " + b +
           " = constant splat 1\n %y: " + y + " = aten.conv2d(%x, %w, %b)\n return %y\n}";
  }
};

TEST(Verify, QuantizedConvolution) {
  EXPECT_EQ(verdict(Conv{}.text()), "good");
  EXPECT_EQ(verdict(Conv{.y = "i16[1,2,4,4]<0.125:0>"}.text()), "good");
  EXPECT_EQ(verdict(Conv{.b = "i32[2]<axis=0; 0.2500001:0, 0.125:0>"}.text()), "good");
  EXPECT_EQ(verdict(Conv{.w = "i8[2,2,1,1]<0.5:0>", .b = "i32[2]<0.25:0>"}.text()), "good");
  EXPECT_EQ(verdict(Conv{.w = "i8[2,2,1,1]<0.5:0>", .b = "i32[2]<axis=0; 0.25:0, 0.25:0>"}.text()), "good");
  EXPECT_EQ(
      verdict(Conv{.x = "f32[1,2,4,4]", .w = "f32[2,2,1,1]", .b = "f32[2]", .y = "f32[1,2,4,4]"}.text()),
      "good");
  // Constants may be stored as integers before the activations are quantized.
  EXPECT_EQ(verdict(Conv{.x = "f32[1,2,4,4]", .y = "f32[1,2,4,4]"}.text()), "good");

  const auto expect = [](const Conv& conv, const std::string& error) {
    EXPECT_THAT(verdict(conv.text()), HasSubstr(error));
  };
  expect({.y = "f32[1,2,4,4]"}, "the result is %y: f32[1,2,4,4], must be i8[1,2,4,4]");
  expect({.y = "i8[1,2,4,4]"}, "%y: i8[1,2,4,4]: must be quantized, because the operands are");
  expect({.y = "i32[1,2,4,4]<0.125:4>"}, "the result is %y: i32");
  expect({.y = "i8[1,2,4,4]<axis=1; 1.0:0, 1.0:0>"},
         "%y: i8[1,2,4,4]<axis=1; 1.0:0, 1.0:0>: activations must be");
  expect({.x = "i8[1,2,4,4]<axis=1; 1.0:0, 1.0:0>"}, "activations must be quantized per tensor");
  expect({.x = "u8[1,2,4,4]<0.5:3>"}, "quantized activations must be i8 or i16");
  expect({.w = "i8[2,2,1,1]<axis=0; 0.5:0, 0.25:1>"}, "weights must be quantized symmetrically");
  expect({.w = "i8[2,2,1,1]<axis=1; 0.5:0, 0.25:0>"}, "the weight's channels are along axis 0");
  expect({.w = "i16[2,2,1,1]<axis=0; 0.5:0, 0.25:0>"}, "quantized weights must be i8");
  expect({.b = "i16[2]<axis=0; 0.25:0, 0.125:0>"}, "a quantized bias must be i32");
  expect({.b = "i32[2]<axis=0; 0.25:0, 0.125:1>"}, "zero points of a bias must be 0");
  expect({.b = "i32[2]<axis=0; 0.25:0, 0.126:0>"},
         "scale 0.126 of channel 1 must be scale(input) * scale(weight) = 0.125");
  expect({.b = "i32[2]<0.25:0>"}, "scale 0.25 of channel 1 must be");
  // A weight that is wrong on the other axis must not make the bias check read past its scales.
  expect({.x = "i8[1,3,4,4]<0.5:0>", .w = "i8[2,3,1,1]<axis=1; 0.5:0, 0.25:0, 1.0:0>"},
         "found 2 scales, but the weight has 3");
}

// The quantizer gives constants their parameters after the activations have theirs.
TEST(Verify, FloatConstantsBesideQuantizedActivations) {
  EXPECT_EQ(verdict(Conv{.w = "f32[2,2,1,1]", .b = "f32[2]"}.text()), "good");
}

TEST(Verify, QuantizedConstantsOnly) {
  Graph g = parse_graph(Conv{}.text()).value();
  const ValueId w = g.add_input("w2", g.type(g.nodes[0].operands[1]));
  const ValueId b = g.add_input("b2", g.type(g.nodes[0].operands[2]));
  g.nodes[0].operands[1] = w;
  g.nodes[0].operands[2] = b;
  EXPECT_THAT(verdict(g), HasSubstr("a quantized weight must be a constant"));
  EXPECT_THAT(verdict(g), HasSubstr("a quantized bias must be a constant"));
}

TEST(Verify, QuantizedElementwiseAndMovement) {
  const auto graph = [](std::string_view a, std::string_view b, std::string_view y, std::string_view op) {
    return fmt::format("graph @g(%a: {}, %b: {}) {{\n %y: {} = {}(%a, %b)\n return %y }}", a, b, y, op);
  };
  constexpr std::string_view kQ = "i8[1,2]<0.5:0>";
  EXPECT_EQ(verdict(graph(kQ, "i8[1,2]<0.25:7>", "i8[1,2]<1.0:1>", "aten.add")), "good");
  EXPECT_THAT(verdict(graph(kQ, "f32[1,2]", "i8[1,2]<1.0:1>", "aten.add")),
              HasSubstr("%b: f32[1,2]: must be quantized, because another activation operand is"));
  EXPECT_EQ(verdict(graph(kQ, kQ, "i8[2,2]<0.5:0>", "aten.cat")), "good");
  EXPECT_THAT(
      verdict(graph(kQ, "i8[1,2]<0.25:0>", "i8[2,2]<0.5:0>", "aten.cat")),
      HasSubstr(
          "%b: i8[1,2]<0.25:0>: aten.cat only moves integers: dtype and quantization must equal those of "
          "%a: i8[1,2]<0.5:0>"));
  EXPECT_THAT(verdict(graph(kQ, kQ, "i8[2,2]<0.5:1>", "aten.cat")),
              HasSubstr("%y: i8[2,2]<0.5:1>: aten.cat only"));
  EXPECT_THAT(verdict(graph(kQ, kQ, "i8[2,2]<0.5:0; -127..127>", "aten.cat")),
              HasSubstr("aten.cat only moves"));

  const auto unary = [](std::string_view y, std::string_view op) {
    return fmt::format("graph @g(%a: i8[1,2,3]<0.5:0>) {{\n %y: {} = {}\n return %y }}", y, op);
  };
  EXPECT_EQ(verdict(unary("i8[1,2,3]{channels_last}<0.5:0>", "to_layout(%a)")), "good");
  EXPECT_THAT(verdict(unary("i8[1,2,3]{channels_last}<0.25:0>", "to_layout(%a)")),
              HasSubstr("to_layout only moves"));
  EXPECT_THAT(verdict(unary("i16[6]<0.5:0; -128..127>", "aten.view(%a) {size=[6]}")),
              HasSubstr("aten.view only moves"));
  EXPECT_THAT(verdict(unary("i8[6]", "aten.view(%a) {size=[6]}")), HasSubstr("must be quantized"));
  EXPECT_EQ(verdict(unary("i8[1,2,3]<0.25:9>", "aten.relu(%a)")), "good");
}

TEST(Verify, BoundaryOpsGiveWhatTheirAttributesSay) {
  const auto boundary = [](std::string_view result) {
    return fmt::format(
        "graph @g(%x: f32[2]) {{\n %y: {} = quantize_per_tensor(%x) {{scale=0.5, zero_point=0, "
        "quant_min=-128, quant_max=127, dtype=\"i8\"}}\n return %y }}",
        result);
  };
  EXPECT_EQ(verdict(boundary("i8[2]")), "good");
  EXPECT_EQ(verdict(boundary("i8[2]<0.5:0>")), "good");
  EXPECT_THAT(verdict(boundary("i16[2]<0.5:0>")), HasSubstr("must be i8[2]"));
}

TEST(Verify, QuantizationByItself) {
  const TensorType good{.dtype = DType::int8, .shape = {2, 3}, .quant = Quantization::per_tensor(0.5, -3)};
  EXPECT_EQ(invalid_quantization(good), std::nullopt);
  const auto wrong = [&](const std::function<void(TensorType&)>& damage) {
    TensorType type = good;
    damage(type);
    return invalid_quantization(type).value_or("nothing");
  };
  for (const double scale : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(wrong([&](TensorType& t) { t.quant.scales = {scale}; }),
                HasSubstr("must be finite and above 0"));
  EXPECT_THAT(wrong([](TensorType& t) { t.quant.zero_points = {}; }),
              HasSubstr("found 1 scales but 0 zero points"));
  EXPECT_THAT(wrong([](TensorType& t) { t.quant.zero_points = {128}; }),
              HasSubstr("zero point 128 must be within"));
  EXPECT_THAT(wrong([](TensorType& t) { t.quant.lo = -129; }), HasSubstr("integer range -129..127"));
  EXPECT_THAT(wrong([](TensorType& t) { t.quant.hi = -128; }), HasSubstr("must be ascending"));
  EXPECT_THAT(wrong([](TensorType& t) { t.quant.axis = 2; }), HasSubstr("axis 2 is outside the rank 2"));
  EXPECT_THAT(wrong([](TensorType& t) { t.quant.axis = -2; }), HasSubstr("axis -2 is outside"));
  EXPECT_THAT(wrong([](TensorType& t) { t.quant.axis = 1; }),
              HasSubstr("found 1 scales, must be 3, the extent of"));
  EXPECT_THAT(wrong([](TensorType& t) {
                t.quant.scales = {1, 2};
                t.quant.zero_points = {0, 0};
              }),
              HasSubstr("found 2 scales, must be one"));
  EXPECT_THAT(wrong([](TensorType& t) { t.dtype = DType::float32; }), HasSubstr("f32 can't be quantized"));
  EXPECT_THAT(wrong([](TensorType& t) { t.dtype = DType::int64; }), HasSubstr("i64 can't be quantized"));
  EXPECT_THAT(wrong([](TensorType& t) { t.quant.scales = {}; }), HasSubstr("a type without scales"));
  TensorType leftover{.dtype = DType::float32, .shape = {1}};
  leftover.quant.lo = 0;
  EXPECT_TRUE(invalid_quantization(leftover));
}

}  // namespace
}  // namespace rushlight
