// SPDX-License-Identifier: Apache-2.0
// Damaged and malicious archives, each made of a real one: one clear input error, no crash, no large
// allocation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/bytes/file.h"
#include "tests/import/edit.h"

namespace rushlight::test {
namespace {

using ::testing::HasSubstr;

const std::string kNode0 = "/graph_module/graph/nodes/0";

struct Case {
  std::string name;
  std::string fixture;
  void (*damage)(Entries&);
  std::string error;  // part of it
};

std::string meta(const std::string& tensor) { return "/config/" + tensor + "/tensor_meta"; }

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

const Case kCases[] = {
    // ---- archive
    {"no_program", "import/tied_weights.pt2", [](Entries& e) { e.erase(kProgram); },
     "has no 'model/models/model.json'"},
    {"older_layout", "import/tied_weights.pt2",
     [](Entries& e) {
       e.erase(kProgram);
       e["serialized_exported_program.json"] = "{}";
     },
     "has the layout of torch 2.7 or older. Export the model again with torch 2.9 or newer"},
    {"torch_2_8_layout", "import/tied_weights.pt2", [](Entries& e) { e["data/weights/model.pt"] = "x"; },
     "has the pickled weights of torch 2.8"},
    {"big_endian", "import/tied_weights.pt2", [](Entries& e) { e["byteorder"] = "big"; }, "big-endian host"},

    // ---- JSON
    {"deep_json", "import/tied_weights.pt2", [](Entries& e) { e[kProgram] = nested(10000); },
     "model.json: is nested deeper than 200 levels"},
    {"deep_objects", "import/tied_weights.pt2",
     [](Entries& e) {
       std::string text;
       for (int i = 0; i < 10000; ++i) text += "{\"a\":";
       e[kProgram] = text;
     },
     "is nested deeper than 200 levels"},
    {"truncated_json", "import/tied_weights.pt2",
     [](Entries& e) { e[kProgram].resize(e[kProgram].size() / 2); }, "model.json: is not valid JSON at byte"},
    {"double_key", "import/tied_weights.pt2", [](Entries& e) { e[kProgram] = R"({"a": 1, "a": 2})"; },
     "has the key 'a' twice in one object"},
    {"no_json", "import/tied_weights.pt2", [](Entries& e) { e[kProgram] = ""; }, "is not valid JSON"},
    {"not_utf8", "import/tied_weights.pt2", [](Entries& e) { e[kProgram] = "\"\xFF\""; },
     "is not valid JSON"},
    {"wrong_major", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kProgram, "/schema_version/major", "9"); },
     "model.json: schema_version: is 9; only 8 is known"},
    {"no_nodes", "import/tied_weights.pt2",
     [](Entries& e) { e.remove(kProgram, "/graph_module/graph/nodes"); },
     "model.json: graph_module.graph.nodes: is missing"},
    {"ill_typed", "import/tied_weights.pt2", [](Entries& e) { e.set(kProgram, kNode0 + "/target", "7"); },
     "graph_module.graph.nodes[0].target: is an integer; a text is needed"},
    {"ill_typed_argument", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/0/arg", R"({"as_tensor": 3})"); },
     "nodes[0].inputs[0].arg.as_tensor: is an integer; an object is needed"},
    {"two_tags", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/0/arg", R"({"as_int": 3, "as_bool": true})"); },
     "has 2 members; exactly one is needed"},
    {"no_name", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/name", R"("a b\u001b[2J")"); },
     "nodes[0].name: is not a name"},
    {"too_large_integer", "conv/linear_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/3/arg", R"({"as_int": 9223372036854775808})"); },
     "nodes[0].inputs[3].arg.as_int: is a real number; an integer of 64 bits is needed"},

    // ---- names
    {"undefined", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/0/arg", R"({"as_tensor": {"name": "nowhere"}})"); },
     "node 'linear': uses 'nowhere', which nothing before it defines"},
    {"cycle", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/0/arg", R"({"as_tensor": {"name": "linear_1"}})"); },
     "node 'linear': uses 'linear_1', which nothing before it defines"},
    {"double_name", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/outputs/0", R"({"as_tensor": {"name": "x"}})"); },
     "node 'linear': 'x' is defined a second time"},
    {"undefined_output", "import/tied_weights.pt2",
     [](Entries& e) {
       e.set(kProgram, "/graph_module/signature/output_specs/0/user_output/arg",
             R"({"as_tensor": {"name": "no"}})");
     },
     "graph outputs: uses 'no', which nothing before it defines"},
    {"no_outputs", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kProgram, "/graph_module/signature/output_specs", "[]"); },
     "graph outputs: there is no tensor among them"},
    {"no_type", "import/tied_weights.pt2",
     [](Entries& e) { e.remove(kProgram, "/graph_module/graph/tensor_values/linear"); },
     "'linear' has no type in the file"},
    {"other_shape", "import/tied_weights.pt2",
     [](Entries& e) {
       e.set(kProgram, "/graph_module/graph/tensor_values/linear/sizes/1", R"({"as_int": 7})");
     },
     "node 'linear': aten.linear.default gives the shape [1,6], but the file says [1,7]"},

    // ---- storages
    {"short_weights", "import/tied_weights.pt2",
     [](Entries& e) {
       for (const char* file : {"weight_0", "weight_1", "weight_2"})
         e[std::string("data/weights/") + file].resize(20);
     },
     "bytes of 'data/weights/weight_"},
    {"missing_weights", "import/tied_weights.pt2", [](Entries& e) { e.remove(kWeights, "/config/b.weight"); },
     "tensor 'b.weight': is not in the weights table"},
    {"missing_storage", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, "/config/b.weight/path_name", "\"weight_99\""); },
     "entry 'model/data/weights/weight_99': is missing"},
    {"outside_storage", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, "/config/b.weight/path_name", "\"../../models/model.json\""); },
     "is not a name"},
    {"pickled", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, "/config/b.weight/use_pickle", "true"); },
     "tensor 'b.weight': is a Python pickle, which is never read"},
    {"no_sizes", "import/tied_weights.pt2", [](Entries& e) { e.set(kWeights, meta("b.weight"), "null"); },
     "tensor 'b.weight': has no sizes in its table"},
    {"huge_product", "import/tied_weights.pt2",
     [](Entries& e) {
       e.set(kWeights, meta("b.weight") + "/sizes", R"([{"as_int": 4294967296}, {"as_int": 4294967296}])");
     },
     "tensor 'b.weight': has the sizes [4294967296,4294967296]"},
    {"negative_size", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/sizes/0/as_int", "-6"); }, "none may be negative"},
    {"negative_stride", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/strides/0/as_int", "-6"); },
     "has the stride -6 along axis 0; it must be above 0"},
    {"zero_stride", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/strides/0/as_int", "0"); },
     "has the stride 0 along axis 0; it must be above 0"},
    {"overlap", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/strides/0/as_int", "1"); },
     "with which its elements overlap"},
    {"huge_stride", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/strides/0/as_int", "9223372036854775807"); },
     "which reach beyond any storage"},
    {"negative_offset", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/storage_offset/as_int", "-1"); },
     "starts at element -1 of its storage"},
    {"huge_offset", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/storage_offset/as_int", "9223372036854775807"); },
     "reach beyond any storage"},
    {"symbolic_weights", "import/tied_weights.pt2",
     [](Entries& e) {
       e.set(kWeights, meta("b.weight") + "/sizes/0", R"x({"as_expr": {"expr_str": "Symbol('s0')"}})x");
     },
     "tensor 'b.weight': has a size that is not a number"},
    {"fewer_strides", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/strides", R"([{"as_int": 1}])"); },
     "has 2 sizes, but 1 strides"},
    {"other_type_in_table", "import/tied_weights.pt2",
     [](Entries& e) { e.set(kWeights, meta("b.weight") + "/dtype", "4"); },
     "is i32[6,6] in its table, but f32[6,6]"},
    {"nan_weight", "conv/linear.pt2",
     [](Entries& e) { e["data/weights/weight_0"].replace(12, 4, std::string("\x00\x00\xC0\x7F", 4)); },
     "element 3 is nan; only finite numbers can be quantized"},
    {"infinite_weight", "conv/linear.pt2",
     [](Entries& e) { e["data/weights/weight_0"].replace(0, 4, std::string("\x00\x00\x80\x7F", 4)); },
     "element 0 is inf; only finite numbers can be quantized"},

    // ---- attributes
    {"groups", "conv/depthwise.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/6/arg", R"({"as_int": 5})"); }, "groups"},
    {"no_groups", "conv/depthwise.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/6/arg", R"({"as_int": 0})"); }, "groups"},
    {"zero_conv_stride", "conv/depthwise.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/3/arg", R"({"as_ints": [0, 1]})"); }, "stride"},
    {"huge_conv_padding", "conv/depthwise.pt2",
     [](Entries& e) {
       e.set(kProgram, kNode0 + "/inputs/4/arg", R"({"as_ints": [9223372036854775807, 1]})");
     },
     "padding"},
    {"view_of_too_much", "conv/view_chain.pt2",
     [](Entries& e) {
       e.set(kProgram, "/graph_module/graph/tensor_values/x/sizes",
             R"([{"as_int": 2147483648}, {"as_int": 2147483648}])");
     },
     "at most 8 axes and 268435456 elements are allowed"},

    // ---- quantization
    {"zero_scale", "conv/relu6_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/1/arg", R"({"as_float": 0.0})"); },
     "must be finite and above 0"},
    {"negative_scale", "conv/relu6_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/1/arg", R"({"as_float": -0.5})"); },
     "must be finite and above 0"},
    {"infinite_scale", "conv/relu6_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/1/arg", R"({"as_float": "Infinity"})"); },
     "must be finite and above 0"},
    {"nan_scale", "conv/relu6_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/1/arg", R"({"as_float": "NaN"})"); },
     "node 'quantize_per_tensor': quantized_decomposed.quantize_per_tensor.default, argument 'scale': is not "
     "a number"},
    {"zero_point_outside_dtype", "conv/relu6_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/2/arg", R"({"as_int": 128})"); },
     "attribute zero_point: found 128"},
    {"zero_point_outside_range", "conv/relu6_pt2e.pt2",
     [](Entries& e) {
       e.set(kProgram, kNode0 + "/inputs/2/arg", R"({"as_int": 100})");
       e.set(kProgram, kNode0 + "/inputs/4/arg", R"({"as_int": 99})");
     },
     "zero point 100 is outside of quant_min..quant_max, -128..99"},
    {"range_outside_dtype", "conv/relu6_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/3/arg", R"({"as_int": -129})"); }, "-129"},
    {"wide_zero_point", "conv/relu6_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/2/arg", R"({"as_int": 4294967296})"); },
     "4294967296"},
    {"wide_range", "conv/relu6_pt2e.pt2",
     [](Entries& e) { e.set(kProgram, kNode0 + "/inputs/4/arg", R"({"as_int": 9223372036854775807})"); },
     "9223372036854775807"},
};

class Pt2Hostile : public ::testing::TestWithParam<Case> {};

TEST_P(Pt2Hostile, IsAnInputError) {
  Entries entries(fixture(GetParam().fixture));
  GetParam().damage(entries);
  const auto graph = entries.import();
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().fault, Fault::input);
  EXPECT_EQ(graph.error().diagnostics.size(), 1u);
  EXPECT_THAT(graph.error().text(), HasSubstr(GetParam().error));
  EXPECT_THAT(graph.error().text(), ::testing::StartsWith("model.pt2: "));
}

INSTANTIATE_TEST_SUITE_P(Cases, Pt2Hostile, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

// Per-channel scales lie in constants, which hold the same bytes as any weights.
TEST(Pt2HostileScales, AreChecked) {
  const auto with_scale = [](float scale) {
    Entries entries(fixture("conv/linear_pt2e.pt2"));
    // The storage whose tensor is the first table of scales.
    const std::string config = entries[kWeights];
    const size_t file = config.find("weight_", config.find("\"_scale_0\""));
    const std::string path = "data/weights/" + config.substr(file, config.find('"', file) - file);
    std::memcpy(entries[path].data() + 4, &scale, sizeof scale);
    return text_of(entries.import());
  };
  for (const float bad : {0.0f, -1.0f, INFINITY, NAN})
    EXPECT_THAT(with_scale(bad),
                HasSubstr("node 'dequantize_per_channel': quantized_decomposed.dequantize_per_channel."
                          "default, quantization: scale "))
        << bad;
  EXPECT_THAT(with_scale(0.5f), HasSubstr("return"));
}

TEST(Pt2HostileBytes, EveryTruncationIsAnInputError) {
  const auto bytes = *read_file(fixture("import/tied_weights.pt2").string());
  for (size_t size = 0; size < bytes.size(); size += 97) {
    const auto graph = import_pt2_bytes(std::span(bytes).first(size), "model.pt2");
    ASSERT_FALSE(graph) << size;
    EXPECT_EQ(graph.error().fault, Fault::input);
  }
}

TEST(Pt2HostileBytes, DamagedWeightsFailTheirChecksum) {
  auto bytes = *read_file(fixture("import/tied_weights.pt2").string());
  // Payloads are stored as they are; find one and flip a bit of it.
  const std::string weights = Entries(fixture("import/tied_weights.pt2"))["data/weights/weight_0"];
  const std::vector<std::byte> payload = to_bytes(weights);
  const auto found = std::search(bytes.begin(), bytes.end(), payload.begin(), payload.end());
  ASSERT_NE(found, bytes.end());
  *found ^= std::byte{1};
  EXPECT_THAT(text_of(import_pt2_bytes(bytes, "model.pt2")), HasSubstr("is damaged: CRC error"));
}

TEST(Pt2HostileBytes, ManyViewsOfOneStorageAreBounded) {
  Model model{.inputs = {{"x", {"4"}}}, .outputs = {"x"}};
  for (int i = 0; i < 200; ++i) {
    const std::string name = "full_" + std::to_string(i);
    model.results.push_back({name, {"4194304"}});
    model.nodes.push_back({"aten.ones.default", {{"size", "[4194304]"}}, {name}});
    model.outputs.push_back(name);
  }
  EXPECT_THAT(text_of(model.import()), HasSubstr("brings the constants that nodes make to more than"));
}

}  // namespace
}  // namespace rushlight::test
