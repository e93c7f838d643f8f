// SPDX-License-Identifier: Apache-2.0
// Archives that PyTorch wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "import/bytes/reader.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "tests/import/edit.h"

namespace rushlight::test {
namespace {

using ::testing::HasSubstr;

// What is compiled of an archive with whatever batch it wants; a failure's text otherwise.
Result<Graph> import_any(const std::filesystem::path& path) {
  auto graph = import_model(path.string());
  if (!graph && graph.error().text().find("--batch N") != std::string::npos)
    return import_model(path.string(), {.batch = 2});
  return graph;
}

TEST(Pt2Archives, EveryFixtureIsImportedAndReadsBackFromItsText) {
  int count = 0;
  for (const char* folder : {"tests/fixtures", "models"})
    for (const auto& path : archives_under(std::filesystem::path(RUSHLIGHT_SOURCE_DIR) / folder)) {
      const auto graph = import_any(path);
      if (path.stem() == "unsupported_three") {
        EXPECT_FALSE(graph);
        continue;
      }
      ASSERT_TRUE(graph) << graph.error().text();
      const auto again = parse_graph(print(*graph));
      ASSERT_TRUE(again) << path << ": " << again.error().text();
      EXPECT_TRUE(equivalent(*graph, *again)) << path;
      ++count;
    }
  EXPECT_GT(count, 50);
}

std::string imported(std::string_view name, ImportOptions options = {}) {
  return text_of(import_model(fixture(name).string(), options));
}

TEST(Pt2Archives, Texts) {
  EXPECT_EQ(imported("import/tied_weights.pt2"),
            "graph @tied_weights(%x: f32[1,6]) {\n"
            "  %linear: f32[1,6] = aten.linear(%x, %b.weight, %a.bias)\n"
            "  %relu: f32[1,6] = aten.relu(%linear)\n"
            "  %linear_1: f32[1,6] = aten.linear(%relu, %b.weight, %b.bias)\n"
            "  return %linear_1\n"
            "}\n");
  EXPECT_EQ(
      imported("import/dynamic_batch.pt2", {.batch = 3}),
      "graph @dynamic_batch(%x: f32[3,2,6,6]) {\n"
      "  %conv2d: f32[3,4,3,3] = aten.conv2d(%x, %conv.weight, %conv.bias) {stride=[2,2], padding=[1,1]}\n"
      "  %relu: f32[3,4,3,3] = aten.relu(%conv2d)\n"
      "  %view: f32[3,36] = aten.view(%relu) {size=[3,36]}\n"
      "  %linear: f32[3,5] = aten.linear(%view, %fc.weight, %fc.bias)\n"
      "  return %linear\n"
      "}\n");
  EXPECT_EQ(imported("add/scalar_minus.pt2").find("error"), std::string::npos);
}

TEST(Pt2Archives, QuantizedArchivesKeepTheirNodes) {
  const auto graph = import_model(fixture("conv/linear_pt2e.pt2").string());
  ASSERT_TRUE(graph) << graph.error().text();
  const Node& weight = graph->nodes[0];
  EXPECT_EQ(weight.op, "dequantize_per_channel"_op);
  EXPECT_EQ(graph->type(weight.operands[0]).dtype, DType::int8);
  EXPECT_EQ(graph->type(weight.operands[1]), (TensorType{.dtype = DType::float32, .shape = {6}}));
  EXPECT_EQ(graph->nodes.back().op, "dequantize_per_tensor"_op);
}

TEST(Pt2Archives, ChannelsLastWeightsBecomeRowMajor) {
  const auto path = fixture("import/channels_last.pt2");
  const auto graph = import_model(path.string());
  ASSERT_TRUE(graph) << graph.error().text();
  const Tensor& weight = graph->constant(graph->nodes[0].operands[1]);
  constexpr int kStored[] = {0, 2, 3, 1};
  const Tensor stored = weight.permuted(kStored);
  const std::string_view bytes = as_text(stored.bytes());
  const Entries entries(path);
  const auto holds = [&](const auto& entry) { return entry.second == bytes; };
  EXPECT_TRUE(std::ranges::any_of(entries.all(), holds));
  EXPECT_FALSE(weight.bytes().size() == bytes.size() && as_text(weight.bytes()) == bytes);
}

TEST(Pt2Archives, ViewsOfOneStorageAreReadAtTheirPlaces) {
  const auto graph = import_model(fixture("import/shared_storage.pt2").string());
  ASSERT_TRUE(graph) << graph.error().text();
  std::map<std::string, Tensor> constants;
  for (const ValueId id : graph->value_ids())
    if (graph->is_constant(id)) constants.emplace(graph->value(id).name, graph->constant(id));
  const Tensor& base = constants.at("base");              // [4,8]
  const Tensor& transposed = constants.at("transposed");  // [8,3]: rows of base, transposed
  int matches = 0;
  for (int64_t row = 0; row + 3 <= 4; ++row) {
    bool same = true;
    for (int64_t i = 0; i < 8; ++i)
      for (int64_t j = 0; j < 3; ++j) same = same && transposed.at(i * 3 + j) == base.at((row + j) * 8 + i);
    matches += same ? 1 : 0;
  }
  EXPECT_EQ(matches, 1);
}

TEST(Pt2Archives, UnsupportedOpsAreReportedTogether) {
  const auto graph = import_model(fixture("import/unsupported_three.pt2").string());
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().fault, Fault::no);
  EXPECT_GE(graph.error().diagnostics.size(), 3u);
  EXPECT_THAT(graph.error().text(),
              HasSubstr("unsupported_three.pt2: node 'erfinv': aten.erfinv.default is not "
                        "supported, at make_fixtures.py:"));
}

TEST(Pt2Archives, TheSharedCorpusImportsOrSaysWhatIsMissing) {
  const auto corpus = shared_corpus();
  if (corpus.empty())
    GTEST_SKIP() << "no shared corpus (set RUSHLIGHT_SHARED): only the fixtures were imported";
  int good = 0, unsupported = 0;
  for (const char* folder : {"models/torch", "modules", "pt2e"})
    for (const auto& path : archives_under(corpus / folder)) {
      const auto graph = import_any(path);
      ++(graph ? good : unsupported);
      EXPECT_TRUE(graph || graph.error().fault == Fault::no) << graph.error().text();
    }
  std::cout << good << " archives imported, " << unsupported << " use ops that are not supported\n";
  EXPECT_GE(good, 20);
}

}  // namespace
}  // namespace rushlight::test
