// SPDX-License-Identifier: Apache-2.0
// Model files that cannot be compiled: damaged, hostile, or asking for what is not there.
#include <zip.h>

#include <functional>

#include "import/bytes/file.h"
#include "tests/import/edit.h"
#include "tests/must_fail/command.h"

namespace rushlight::must_fail {
namespace {

using test::Entries;
using test::kProgram;
using test::kWeights;

const std::string kNodes = "/graph_module/graph/nodes/";

std::vector<std::byte> archive(const std::string& name) { return read_file(fixture(name)).value(); }

struct BadModel {
  const char* name;
  const char* fixture;
  std::function<void(Entries&)> damage;
  std::string error;  // parts
};

std::function<void(Entries&)> set(const char* file, const std::string& pointer, const std::string& json) {
  return [=](Entries& entries) { entries.set(file, pointer, json); };
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::function<void(Entries&)> first_weight(std::string bytes) {
  return [=](Entries& entries) { entries["data/weights/weight_0"].replace(0, 4, bytes); };
}

const BadModel kBadModels[] = {
    {"deep_json", "import/tied_weights.pt2", [](Entries& e) { e[kProgram] = nested(10000); },
     "model.pt2|model.json|nested deeper than 200"},
    {"size_product_overflows", "import/tied_weights.pt2",
     set(kWeights, "/config/b.weight/tensor_meta/sizes",
         R"([{"as_int": 4294967296}, {"as_int": 4294967296}])"),
     "model.pt2|'b.weight'|[4294967296,4294967296]|268435456"},
    {"short_weights", "import/tied_weights.pt2",
     [](Entries& e) {
       for (const char* file : {"weight_0", "weight_1", "weight_2"})
         e[std::string("data/weights/") + file].resize(20);
     },
     "model.pt2|tensor '|needs 24 bytes|data/weights/weight_|only 20"},
    {"pickled_weights", "import/tied_weights.pt2", set(kWeights, "/config/b.weight/use_pickle", "true"),
     "model.pt2|'b.weight'|pickle"},
    {"nan_weight", "conv/linear.pt2", first_weight(std::string("\x00\x00\xC0\x7F", 4)),
     "model.pt2|weight|nan|finite"},
    {"infinite_weight", "conv/linear.pt2", first_weight(std::string("\x00\x00\x80\x7F", 4)),
     "model.pt2|weight|inf|finite"},
    {"nan_scale", "conv/relu6_pt2e.pt2", set(kProgram, kNodes + "0/inputs/1/arg", R"({"as_float": "NaN"})"),
     "model.pt2|'quantize_per_tensor'|scale"},
    {"infinite_scale", "conv/relu6_pt2e.pt2",
     set(kProgram, kNodes + "0/inputs/1/arg", R"({"as_float": "Infinity"})"),
     "model.pt2|'quantize_per_tensor'|scale|inf|above 0"},
    {"zero_scale", "conv/relu6_pt2e.pt2", set(kProgram, kNodes + "0/inputs/1/arg", R"({"as_float": 0.0})"),
     "model.pt2|'quantize_per_tensor'|scale|above 0"},
    {"negative_scale", "conv/relu6_pt2e.pt2",
     set(kProgram, kNodes + "0/inputs/1/arg", R"({"as_float": -0.5})"),
     "model.pt2|'quantize_per_tensor'|scale|-0.5|above 0"},
    {"zero_weight_scale", "conv/conv_odd_pt2e.pt2", first_weight(std::string(4, '\0')),
     "model.pt2|scale|above 0"},
    {"groups_that_do_not_divide", "conv/depthwise.pt2",
     set(kProgram, kNodes + "0/inputs/6/arg", R"({"as_int": 5})"), "model.pt2|'conv2d'|groups|5|8"},
    {"zero_stride", "conv/depthwise.pt2", set(kProgram, kNodes + "0/inputs/3/arg", R"({"as_ints": [0, 1]})"),
     "model.pt2|'conv2d'|stride|0"},
};

class BadModels : public CommandTest, public testing::WithParamInterface<BadModel> {};

TEST_P(BadModels, AreRefused) {
  Entries entries(test::fixture(GetParam().fixture));
  GetParam().damage(entries);
  const std::string model = write("model.pt2", entries.bytes());
  const std::string calibration =
      std::string(GetParam().fixture, std::string(GetParam().fixture).size() - 4) + ".npz";
  expect_refusal({"compile", model, "--calibrate", fixture(calibration), "-o", "out"}, 2, {GetParam().error});
  expect_refusal({"check", model}, 2, {GetParam().error});
}
std::string case_name(const testing::TestParamInfo<BadModel>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(All, BadModels, testing::ValuesIn(kBadModels), case_name);

class ModelFile : public CommandTest {
 protected:
  void expect_bad(const std::vector<std::byte>& bytes, const std::string& error) {
    expect_refusal({"compile", write("model.pt2", bytes), "-o", "out"}, 2, {error});
  }
};

TEST_F(ModelFile, Truncated) {
  std::vector<std::byte> bytes = archive("conv/linear_pt2e.pt2");
  for (const size_t size : {size_t{0}, size_t{4}, bytes.size() / 2, bytes.size() - 10}) {
    SCOPED_TRACE(size);
    expect_bad({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, "model.pt2");
  }
}

TEST_F(ModelFile, Corrupt) {
  std::vector<std::byte> bytes = Entries(test::fixture("conv/linear_pt2e.pt2")).bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t program = text.find("\"graph_module\"");
  ASSERT_NE(program, std::string_view::npos);
  bytes[program + 3] ^= std::byte{1};
  expect_bad(bytes, "model.pt2|models/model.json");
}

TEST_F(ModelFile, Bomb) {
  const std::vector<std::byte> zeros(size_t{48} << 20);
  zip_error_t error;
  zip_source_t* const memory = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(memory);
  zip_t* const zip = zip_open_from_source(memory, ZIP_TRUNCATE, &error);
  ASSERT_NE(zip, nullptr);
  zip_source_t* const content = zip_source_buffer(zip, zeros.data(), zeros.size(), 0);
  ASSERT_GE(zip_file_add(zip, "model/models/model.json", content, 0), 0);
  ASSERT_EQ(zip_close(zip), 0);
  ASSERT_EQ(zip_source_open(memory), 0);
  std::vector<std::byte> bytes(size_t{1} << 20);
  bytes.resize(static_cast<size_t>(zip_source_read(memory, bytes.data(), bytes.size())));
  zip_source_close(memory);
  zip_source_free(memory);
  ASSERT_LT(bytes.size(), 100'000u);
  expect_bad(bytes, "model.pt2|model.json|times");
}

TEST_F(ModelFile, Missing) {
  expect_refusal({"compile", "none.pt2", "-o", "out"}, 2, {"none.pt2|no such file"});
}

TEST_F(ModelFile, AFolder) {
  std::filesystem::create_directory(folder() / "folder.pt2");
  expect_refusal({"compile", "folder.pt2", "-o", "out"}, 2, {"folder.pt2"});
}

TEST_F(ModelFile, AnotherFormat) {
  write("model.h5", test::to_bytes("x"));
  expect_refusal({"compile", "model.h5", "-o", "out"}, 2, {"model.h5|.pt2"});
}

TEST_F(ModelFile, FloatWithoutCalibrationIsANo) {
  expect_refusal({"compile", fixture("conv/linear.pt2"), "-o", "out"}, 1,
                 {"linear.pt2|'linear'|--calibrate"});
}

TEST_F(ModelFile, UnsupportedOpsAreAllNamed) {
  const std::string at = "unsupported_three.pt2|make_fixtures.py:|not supported|";
  const std::vector<std::string> errors = {at + "aten.erfinv", at + "aten.cumprod", at + "aten.fft_rfft"};
  expect_refusal({"compile", fixture("import/unsupported_three.pt2"), "-o", "out"}, 1, errors);
  expect_refusal({"check", fixture("import/unsupported_three.pt2")}, 1, errors);
}

TEST_F(ModelFile, DynamicBatchNeedsANumber) {
  const std::vector<std::string> compile = {"compile",     fixture("import/dynamic_batch.pt2"),
                                            "--calibrate", fixture("import/dynamic_batch.npz"),
                                            "-o",          "out"};
  expect_refusal(compile, 2, {"dynamic_batch.pt2|'x'|--batch"});
  std::vector<std::string> too_many = compile;
  too_many.insert(too_many.end(), {"--batch", "9"});
  expect_refusal(too_many, 2, {"dynamic_batch.pt2|9|8"});
}

}  // namespace
}  // namespace rushlight::must_fail
