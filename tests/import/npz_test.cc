// SPDX-License-Identifier: Apache-2.0
#include "import/npz/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/bytes/file.h"
#include "import/bytes/reader.h"
#include "import/bytes/zip_writer.h"
#include "tests/import/edit.h"

namespace rushlight::test {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> npy(const std::string& header, std::string_view elements, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i));
  return to_bytes(text + header + std::string(elements));
}

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }          \n";
}

std::string error(const std::vector<std::byte>& bytes) {
  const auto tensor = read_npy(bytes, "x.npy");
  if (tensor) return "none";
  EXPECT_EQ(tensor.error().fault, Fault::input);
  return tensor.error().text();
}

TEST(Npy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3})
    EXPECT_EQ(*read_npy(npy(header("|i1", "False", "(2, 2)"), "\x01\x02\x03\xFF", version), "x.npy"),
              Tensor::of<int8_t>({2, 2}, {1, 2, 3, -1}));
}

TEST(Npy, ReadsEveryShape) {
  EXPECT_EQ(read_npy(npy(header("|u1", "False", "()"), "\x05"), "x.npy")->shape(), Shape{});
  EXPECT_EQ(read_npy(npy(header("|u1", "False", "(1,)"), "\x05"), "x.npy")->shape(), Shape{1});
  EXPECT_EQ(read_npy(npy(header("<f4", "False", "(3, 0)"), ""), "x.npy")->shape(), (Shape{3, 0}));
}

TEST(Npy, FortranOrderIsTransposed) {
  EXPECT_EQ(*read_npy(npy(header("|u1", "True", "(2, 3)"), "\x01\x02\x03\x04\x05\x06"), "x.npy"),
            Tensor::of<uint8_t>({2, 3}, {1, 3, 5, 2, 4, 6}));
}

TEST(Npy, RefusesOtherArrays) {
  EXPECT_THAT(error(npy(header(">f4", "False", "(1,)"), "1234")), HasSubstr("x.npy: is big-endian ('>f4')"));
  EXPECT_THAT(error(npy(header("|O", "False", "(1,)"), "1234")), HasSubstr("holds Python objects"));
  EXPECT_THAT(error(npy(header("<c8", "False", "(1,)"), "12345678")), HasSubstr("has the dtype '<c8'"));
  EXPECT_THAT(error(npy(header("", "False", "(1,)"), "1")), HasSubstr("not as NumPy writes it"));
  EXPECT_THAT(error(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "1234")),
              HasSubstr("holds records"));
  EXPECT_THAT(error(npy(header("<f4", "False", "(2,)"), "1234")),
              HasSubstr("has 4 bytes of elements; its shape [2] of f32 needs 8"));
  EXPECT_THAT(error(npy(header("<f4", "False", "(1,)"), "12345")), HasSubstr("has 5 bytes of elements"));
  EXPECT_THAT(error(npy(header("|b1", "False", "(1,)"), "\x02")),
              HasSubstr("truth values other than 0 and 1"));
}

TEST(Npy, RefusesHostileHeaders) {
  EXPECT_THAT(error({}), HasSubstr("is not an .npy array"));
  EXPECT_THAT(error(npy("{", "", 9)), HasSubstr("format version 9.0"));
  EXPECT_THAT(error(npy(header("<f4", "False", "(4294967296, 4294967296)"), "")),
              HasSubstr("at most 8 axes"));
  EXPECT_THAT(error(npy(header("<f4", "False", "(-1,)"), "")), HasSubstr("at most 8 axes"));
  EXPECT_THAT(error(npy(header("<f4", "False", "(99999999999999999999,)"), "")),
              HasSubstr("not as NumPy writes it"));
  for (const char* text : {"", "{", "{'descr", "{'descr': '<f4'", "{'descr': '<f4', 'shape': (", "{}",
                           "{'other': 1}", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}"})
    EXPECT_THAT(error(npy(text, "")), HasSubstr("not as NumPy writes it")) << text;
  auto short_header = npy(header("<f4", "False", "(1,)"), "");
  short_header.resize(30);
  EXPECT_THAT(error(short_header), HasSubstr("the header needs"));
  auto large_header = npy("{", "", 2);
  large_header[11] = std::byte{0x7F};
  EXPECT_THAT(error(large_header), HasSubstr("at most 65536 are allowed"));
}

std::map<std::string, Tensor> some_arrays() {
  return {{"bool", Tensor::of<bool>({2}, std::array<bool, 2>{true, false})},
          {"u1", Tensor::of<uint8_t>({1}, {200})},
          {"i1", Tensor::of<int8_t>({2, 2}, {1, 2, 3, -4})},
          {"i2", Tensor::of<int16_t>({1}, {-300})},
          {"i4", Tensor::of<int32_t>({}, {1 << 30})},
          {"i8", Tensor::of<int64_t>({1}, {int64_t{1} << 60})},
          {"f2", Tensor::of<float>({3}, {1, -2, 0.5f}).converted(DType::float16)},
          {"f4", Tensor::of<float>({1, 2}, {0.5f, -1})},
          {"f8", Tensor::of<double>({1}, {0.1})}};
}

TEST(Npz, RoundTrips) {
  const std::string path = ::testing::TempDir() + "npz_test.npz";
  ASSERT_TRUE(write_npz(path, some_arrays()));
  const auto arrays = read_npz(path);
  ASSERT_TRUE(arrays) << arrays.error().text();
  EXPECT_EQ(*arrays, some_arrays());
  EXPECT_EQ(*read_file(path), npz_bytes(some_arrays()));
}

TEST(Npz, ReadsWhatNumPyWrote) {
  const auto stored = read_npz(fixture("import/tied_weights.npz").string());
  ASSERT_TRUE(stored) << stored.error().text();
  EXPECT_FALSE(stored->empty());
  const auto deflated = read_npz(std::string(RUSHLIGHT_SOURCE_DIR) + "/models/digits/digits_test.npz");
  ASSERT_TRUE(deflated) << deflated.error().text();
  EXPECT_EQ(deflated->at("x").shape(), (Shape{450, 1, 8, 8}));
}

TEST(Npz, ErrorsNameTheArray) {
  ZipWriter writer;
  writer.add("a.npy", to_bytes("nothing"));
  EXPECT_EQ(read_npz(writer.finish(), "s.npz").error().text(), "s.npz:a: is not an .npy array");
  writer = {};
  writer.add("a.txt", to_bytes("nothing"));
  EXPECT_THAT(read_npz(writer.finish(), "s.npz").error().text(),
              HasSubstr("entry 'a.txt', which is no .npy array"));
}

}  // namespace
}  // namespace rushlight::test
