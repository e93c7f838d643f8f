// SPDX-License-Identifier: Apache-2.0
// Programs written by hand: one feature of the importer each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/edit.h"

namespace rushlight::test {
namespace {

using ::testing::HasSubstr;

const std::string kBatch = "Symbol('s77', positive=True, integer=True)";

TEST(Pt2Features, InPlaceOpsRenameWhatTheyWrite) {
  const Model model{.inputs = {{"x", {"4"}}},
                    .results = {{"add", {"4"}}, {"relu_", {"4"}}, {"sub", {"4"}}},
                    .nodes = {{"aten.add.Tensor", {{"self", "%x"}, {"other", "%x"}}, {"add"}},
                              {"aten.relu_.default", {{"self", "%add"}}, {"relu_"}},
                              {"aten.sub.Tensor", {{"self", "%add"}, {"other", "%x"}}, {"sub"}}},
                    .outputs = {"sub"}};
  EXPECT_EQ(text_of(model.import()),
            "graph @model(%x: f32[4]) {\n"
            "  %add: f32[4] = aten.add(%x, %x)\n"
            "  %relu_: f32[4] = aten.relu(%add)\n"
            "  %sub: f32[4] = aten.sub(%relu_, %x)\n"
            "  return %sub\n"
            "}\n");
}

Model written_view(std::string read_later) {
  return {.inputs = {{"x", {"4"}}},
          .results = {{"add", {"4"}}, {"view", {"2", "2"}}, {"relu_", {"2", "2"}}, {"sub", {"4"}}},
          .nodes = {{"aten.add.Tensor", {{"self", "%x"}, {"other", "%x"}}, {"add"}},
                    {"aten.view.default", {{"self", "%add"}, {"size", "[2,2]"}}, {"view"}},
                    {"aten.relu_.default", {{"self", "%view"}}, {"relu_"}},
                    {"aten.sub.Tensor", {{"self", std::move(read_later)}, {"other", "%x"}}, {"sub"}}},
          .outputs = {"sub", "view"}};
}

TEST(Pt2Features, WritingIntoAViewWhoseBaseIsReadLaterIsRefused) {
  EXPECT_THAT(
      text_of(written_view("%add").import()),
      HasSubstr(
          "error: model.pt2: node 'relu_': aten.relu_.default writes into 'view', which shares memory with "
          "'add' that is read later"));
  EXPECT_THAT(text_of(written_view("%x").import()), HasSubstr("return %sub, %relu_"));
}

TEST(Pt2Features, WritingIntoAParameterIsRefused) {
  const Model model{.inputs = {{"x", {"2"}}},
                    .buffers = {{"w", {1, 2}, true}},
                    .results = {{"add_", {"2"}}},
                    .nodes = {{"aten.add_.Tensor", {{"self", "%b_w"}, {"other", "%x"}}, {"add_"}}},
                    .outputs = {"add_"}};
  EXPECT_THAT(text_of(model.import()), HasSubstr("writes into 'b_w', which is a parameter"));
}

Model accumulator(std::vector<float> initial) {
  return {.inputs = {{"x", {"2"}}},
          .buffers = {{"sum", std::move(initial)}},
          .results = {{"add", {"2"}}},
          .nodes = {{"aten.add.Tensor", {{"self", "%b_sum"}, {"other", "%x"}}, {"add"}}},
          .outputs = {"add"},
          .mutations = {{"sum", "add"}}};
}

TEST(Pt2Features, MutatedBuffersAreStates) {
  const auto graph = accumulator({0, 0}).import();
  ASSERT_TRUE(graph) << text_of(graph);
  ASSERT_EQ(graph->states.size(), 1u);
  EXPECT_EQ(graph->inputs.size(), 2u);
  EXPECT_EQ(graph->value(graph->states[0].input).name, "b_sum");
  EXPECT_EQ(graph->value(graph->states[0].update).name, "add");
  EXPECT_THAT(text_of(accumulator({0, 1}).import()),
              HasSubstr("does not start from zero, which is not supported yet"));
}

TEST(Pt2Features, BuffersWrittenInPlaceAreStates) {
  Model model = accumulator({0, 0});
  model.mutations.clear();
  model.nodes = {{"aten.add_.Tensor", {{"self", "%b_sum"}, {"other", "%x"}}, {"add"}}};
  const auto graph = model.import();
  ASSERT_TRUE(graph) << text_of(graph);
  ASSERT_EQ(graph->states.size(), 1u);
  EXPECT_EQ(graph->value(graph->states[0].update).name, "add");
}

TEST(Pt2Features, WhatNoOutputDependsOnIsDropped) {
  Model model = accumulator({0, 1});
  model.results.push_back({"relu", {"2"}});
  model.results.push_back({"odd", {"2"}});
  model.nodes.push_back({"aten.relu.default", {{"self", "%x"}}, {"relu"}});
  model.nodes.push_back({"aten.erfinv.default", {{"self", "%x"}}, {"odd"}});
  model.nodes.push_back({"aten._assert_tensor_metadata.default", {{"a", "%x"}}, {}});
  model.outputs = {"relu"};
  EXPECT_EQ(text_of(model.import()),
            "graph @model(%x: f32[2]) {\n"
            "  %relu: f32[2] = aten.relu(%x)\n"
            "  return %relu\n"
            "}\n");
}

Model dynamic() {
  return {.inputs = {{"x", {kBatch, "2", "3"}}},
          .results = {{"view", {"Mul(Integer(2), " + kBatch + ")", "3"}}},
          .nodes = {{"aten.sym_size.int", {{"self", "%x"}, {"dim", "0"}}, {"$n"}},
                    {"_operator.mul", {{"", "$n"}, {"", "2"}}, {"$n2"}},
                    {"aten.view.default", {{"self", "%x"}, {"size", "[$n2,-1]"}}, {"view"}}},
          .outputs = {"view"},
          .ranges = R"({"s77": {"min_val": 2, "max_val": 8}})"};
}

TEST(Pt2Features, TheBatchIsBoundAndSizesAreFolded) {
  EXPECT_THAT(text_of(dynamic().import({.batch = 4})),
              HasSubstr("%view: f32[8,3] = aten.view(%x) {size=[8,3]}"));
  // PyTorch writes 2 for any lower bound below it.
  EXPECT_THAT(text_of(dynamic().import({.batch = 1})), HasSubstr("%view: f32[2,3]"));
  EXPECT_THAT(text_of(dynamic().import()),
              HasSubstr("the leading axis is dynamic (s77, 2 to 8): say how many samples "
                        "one run takes with --batch N"));
  for (const int64_t batch : {-1, 0, 9})
    EXPECT_THAT(text_of(dynamic().import({.batch = batch})), HasSubstr("is outside of the range"));
}

TEST(Pt2Features, OtherDynamicAxesAreRefused) {
  Model model = dynamic();
  model.inputs[0].sizes = {kBatch, "2", "Symbol('s5', positive=True, integer=True)"};
  const auto graph = model.import({.batch = 4});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().fault, Fault::no);
  EXPECT_THAT(text_of(graph), HasSubstr("input 'x': axis 2 is dynamic"));
}

Model one_node(Model::NodeText node, std::vector<std::string> input, std::vector<std::string> result) {
  std::string output = node.outputs.front();
  return {.inputs = {{"x", std::move(input)}},
          .results = {{output, std::move(result)}},
          .nodes = {std::move(node)},
          .outputs = {output}};
}

TEST(Pt2Features, Spellings) {
  const auto text = [](Model::NodeText node, std::vector<std::string> input,
                       std::vector<std::string> result) {
    return text_of(one_node(std::move(node), std::move(input), std::move(result)).import());
  };
  EXPECT_THAT(text({"aten.transpose.int", {{"self", "%x"}, {"dim0", "-1"}, {"dim1", "0"}}, {"t"}},
                   {"2", "3", "4"}, {"4", "3", "2"}),
              HasSubstr("aten.permute(%x) {dims=[2,1,0]}"));
  EXPECT_THAT(text({"aten.t.default", {{"self", "%x"}}, {"t"}}, {"2", "3"}, {"3", "2"}),
              HasSubstr("aten.permute(%x) {dims=[1,0]}"));
  EXPECT_THAT(
      text({"aten.unsqueeze.default", {{"self", "%x"}, {"dim", "0"}}, {"u"}}, {"2", "3"}, {"1", "2", "3"}),
      HasSubstr("aten.view(%x) {size=[1,2,3]}"));
  EXPECT_THAT(text({"aten.squeeze.dims", {{"self", "%x"}, {"dim", "[0,2]"}}, {"u"}}, {"1", "2", "1"}, {"2"}),
              HasSubstr("aten.view(%x) {size=[2]}"));
  EXPECT_THAT(text({"aten.mean.default", {{"self", "%x"}, {"dtype", "none"}}, {"m"}}, {"2", "3"}, {}),
              HasSubstr("%m: f32[] = aten.mean(%x)"));
  EXPECT_THAT(
      text({"aten.clone.default", {{"self", "%x"}, {"memory_format", R"({"as_memory_format": 1})"}}, {"c"}},
           {"2"}, {"2"}),
      HasSubstr("aten.alias(%x)"));
  EXPECT_THAT(
      text({"aten.to.dtype", {{"self", "%x"}, {"dtype", R"({"as_scalar_type": 7})"}}, {"c"}}, {"2"}, {"2"}),
      HasSubstr("aten.alias(%x)"));
  EXPECT_THAT(text({"aten.rsub.Scalar", {{"self", "%x"}, {"other", "1"}}, {"r"}}, {"2"}, {"2"}),
              HasSubstr("aten.sub(%r.input, %x)"));
  EXPECT_THAT(
      text({"aten.add.Tensor", {{"self", "%x"}, {"other", "0.5"}, {"alpha", "2"}}, {"r"}}, {"2"}, {"2"}),
      HasSubstr("aten.add(%x, %r.other) {alpha=2.0}"));
  EXPECT_THAT(text({"aten.clamp_min.default", {{"self", "%x"}, {"min", "0"}}, {"r"}}, {"2"}, {"2"}),
              HasSubstr("aten.clamp(%x) {min=0.0}"));
  EXPECT_THAT(
      text({"aten.cat.default", {{"tensors", "[%x,%x]"}, {"dim", "1"}}, {"c"}}, {"2", "3"}, {"2", "6"}),
      HasSubstr("aten.cat(%x, %x) {dim=1}"));
}

Model convolution(std::string padding, std::vector<std::string> result) {
  Model model = one_node({"aten.conv2d.padding",
                          {{"input", "%x"},
                           {"weight", "%w"},
                           {"bias", "none"},
                           {"stride", "[1,1]"},
                           {"padding", std::move(padding)},
                           {"dilation", "[1,3]"}},
                          {"c"}},
                         {"1", "1", "8", "8"}, std::move(result));
  model.buffers = {{"flat", std::vector<float>(8, 1.0f), true}};
  model.results.push_back({"w", {"1", "1", "4", "2"}});
  model.nodes.insert(model.nodes.begin(),
                     {"aten.view.default", {{"self", "%b_flat"}, {"size", "[1,1,4,2]"}}, {"w"}});
  return model;
}

TEST(Pt2Features, TextPaddingBecomesNumbers) {
  EXPECT_THAT(text_of(convolution("'same'", {"1", "1", "8", "8"}).import()), HasSubstr("padding=[1,1,2,2]"));
  EXPECT_THAT(text_of(convolution("'valid'", {"1", "1", "5", "5"}).import()),
              HasSubstr("{padding=[0,0,0,0], dilation=[1,3]}"));
  EXPECT_THAT(text_of(convolution("'full'", {"1", "1", "5", "5"}).import()),
              HasSubstr("\"same\" or \"valid\" is needed"));
}

TEST(Pt2Features, ProductsWithConstantsAreLinear) {
  Model model = one_node({"aten.addmm.default", {{"self", "%b_bias"}, {"mat1", "%x"}, {"mat2", "%p"}}, {"y"}},
                         {"1", "2"}, {"1", "3"});
  model.buffers = {{"flat", {1, 2, 3, 4, 5, 6}, true}, {"bias", {7, 8, 9}, true}};
  model.results.push_back({"w", {"3", "2"}});
  model.results.push_back({"p", {"2", "3"}});
  model.nodes.insert(model.nodes.begin(),
                     {{"aten.view.default", {{"self", "%b_flat"}, {"size", "[3,2]"}}, {"w"}},
                      {"aten.permute.default", {{"self", "%w"}, {"dims", "[1,0]"}}, {"p"}}});
  EXPECT_THAT(text_of(model.import()), HasSubstr("%y: f32[1,3] = aten.linear(%x, %w, %bias)"));
  model.inputs.push_back({"z", {"2", "3"}});
  model.nodes.back().arguments[2].second = "%z";
  EXPECT_THAT(text_of(model.import()), HasSubstr("%y: f32[1,3] = aten.matmul(%x, %z)"));
}

TEST(Pt2Features, FilledTensorsAreConstants) {
  Model model = one_node({"aten.add.Tensor", {{"self", "%x"}, {"other", "%full"}}, {"y"}}, {"2"}, {"2"});
  model.results.push_back({"full", {"2"}});
  model.nodes.insert(model.nodes.begin(),
                     {"aten.full.default", {{"size", "[2]"}, {"fill_value", "0.5"}}, {"full"}});
  const auto graph = model.import();
  ASSERT_TRUE(graph) << text_of(graph);
  EXPECT_EQ(graph->constant(graph->nodes[0].operands[1]), Tensor::of<float>({2}, {0.5f, 0.5f}));
}

TEST(Pt2Features, EveryUnsupportedNodeIsReportedOnce) {
  Model model = one_node({"aten.erfinv.default", {{"self", "%x"}}, {"a"}}, {"2"}, {"2"});
  model.results.insert(model.results.end(), {{"b", {"2"}}, {"c", {"2"}}, {"d", {"2"}}});
  model.nodes.insert(model.nodes.end(),
                     {{"aten.erfinv.default", {{"self", "%a"}}, {"b"}},
                      {"aten.dropout.default", {{"input", "%b"}, {"p", "0.5"}, {"train", "true"}}, {"c"}},
                      {"aten.add.Tensor", {{"self", "%c"}, {"other", "%c"}, {"odd", "3"}}, {"d"}}});
  model.outputs = {"d"};
  const auto graph = model.import();
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().fault, Fault::no);
  EXPECT_EQ(
      graph.error().text(),
      "model.pt2: node 'a': aten.erfinv.default is not supported; also 'b'\n"
      "model.pt2: node 'c': aten.dropout.default is in training mode; call model.eval() before the export\n"
      "model.pt2: node 'd': aten.add.Tensor, argument 'odd': is 3, which is not supported");
}

TEST(Pt2Features, ImportModelChoosesByExtension) {
  EXPECT_EQ(import_model("a.tflite").error().fault, Fault::no);
  EXPECT_EQ(import_model("a.onnx").error().fault, Fault::no);
  EXPECT_EQ(import_model("a.pth").error().fault, Fault::input);
  EXPECT_THAT(import_model("missing.pt2").error().text(), HasSubstr("missing.pt2: no such file"));
}

TEST(Pt2Features, SupportedOpsAreListed) {
  const auto ops = supported_torch_ops();
  EXPECT_TRUE(std::is_sorted(ops.begin(), ops.end()));
  for (const char* name : {"aten.conv2d.default", "aten.addmm.default", "aten.zeros.default"})
    EXPECT_THAT(ops, ::testing::Contains(name));
}

}  // namespace
}  // namespace rushlight::test
