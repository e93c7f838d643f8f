// SPDX-License-Identifier: Apache-2.0
#include "import/bytes/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <filesystem>

#include "import/bytes/file.h"
#include "import/bytes/reader.h"
#include "import/bytes/zip_writer.h"
#include "tests/import/edit.h"

namespace rushlight::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Written by libzip itself: deflated, or encrypted.
std::vector<std::byte> libzip_archive(const std::string& content, bool encrypted = false) {
  const std::string path = ::testing::TempDir() + "zip_test.zip";
  std::filesystem::remove(path);
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE, nullptr);
  zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
  const auto index = static_cast<zip_uint64_t>(zip_file_add(zip, "a", source, 0));
  zip_set_file_compression(zip, index, ZIP_CM_DEFLATE, 9);
  if (encrypted) zip_file_set_encryption(zip, index, ZIP_EM_AES_128, "secret");
  EXPECT_EQ(zip_close(zip), 0);
  return *read_file(path);
}

std::string open_error(std::vector<std::byte> bytes, const ZipLimits& limits = {}) {
  const auto zip = ZipArchive::from_bytes(std::move(bytes), "a.zip", limits);
  if (zip) return "none";
  EXPECT_EQ(zip.error().fault, Fault::input);
  return zip.error().text();
}

std::vector<std::byte> two_entries(std::string_view first, std::string_view second) {
  ZipWriter writer;
  writer.add(first, to_bytes("one"));
  writer.add(second, to_bytes("two"));
  return writer.finish();
}

TEST(Zip, ReadsWhatTheWriterWrote) {
  const auto zip = ZipArchive::from_bytes(two_entries("dir/b", "a"), "a.zip");
  ASSERT_TRUE(zip) << zip.error().text();
  EXPECT_THAT(zip->names(), ElementsAre("dir/b", "a"));
  EXPECT_EQ(as_text(*zip->read("dir/b")), "one");
  EXPECT_EQ(as_text(*zip->read("a")), "two");
  EXPECT_EQ(zip->size("a"), 3u);
  EXPECT_EQ(zip->read("c").error().text(), "a.zip: entry 'c': is missing");
  EXPECT_EQ(two_entries("dir/b", "a"), two_entries("dir/b", "a"));
}

TEST(Zip, ReadsDeflatedEntries) {
  const std::string text(5000, 'x');
  const auto zip = ZipArchive::from_bytes(libzip_archive(text), "a.zip");
  ASSERT_TRUE(zip) << zip.error().text();
  EXPECT_EQ(as_text(*zip->read("a")), text);
}

TEST(Zip, LimitsHold) {
  const std::string zeros(4 << 20, '\0');
  EXPECT_THAT(open_error(libzip_archive(zeros)), HasSubstr("entry 'a': unpacks to 4194304 bytes from"));
  EXPECT_EQ(open_error(libzip_archive(zeros), {.ratio = 2000}), "none");
  const auto bytes = two_entries("a", "b");
  EXPECT_THAT(open_error(bytes, {.archive_bytes = 100}), HasSubstr("at most 100 are allowed"));
  EXPECT_THAT(open_error(bytes, {.entry_bytes = 2}), HasSubstr("entry 'a': unpacks to 3 bytes; at most 2"));
  EXPECT_THAT(open_error(bytes, {.total_bytes = 5}), HasSubstr("unpacks to more than 5 bytes"));
  EXPECT_THAT(open_error(bytes, {.entries = 1}), HasSubstr("has 2 entries; at most 1"));
}

TEST(Zip, RefusesWhatIsNotOne) {
  EXPECT_THAT(open_error({}), HasSubstr("a.zip: is empty"));
  EXPECT_THAT(open_error(to_bytes("not an archive")), HasSubstr("is not a readable ZIP archive"));
  EXPECT_THAT(open_error(two_entries("a", "a")),
              HasSubstr("entry 'a': stands in the archive more than once"));
  EXPECT_THAT(open_error(two_entries("a\n", "b")), HasSubstr("entry 0 has no readable name"));
  EXPECT_THAT(open_error(libzip_archive("text", true)), HasSubstr("entry 'a': is encrypted"));
}

TEST(Zip, DamageIsFound) {
  auto bytes = two_entries("a", "b");
  bytes[31] ^= std::byte{1};  // the first entry's content starts behind a header of 30 bytes and the name
  const auto zip = ZipArchive::from_bytes(bytes, "a.zip");
  ASSERT_TRUE(zip);
  EXPECT_THAT(zip->read("a").error().text(), HasSubstr("a.zip: entry 'a': is damaged: CRC error"));
  EXPECT_TRUE(zip->read("b"));
}

TEST(Files, AreReplacedAsAWhole) {
  const std::string path = ::testing::TempDir() + "zip_test_file";
  ASSERT_TRUE(write_file(path, to_bytes("old")));
  ASSERT_TRUE(write_file(path, to_bytes("new")));
  EXPECT_EQ(as_text(*read_file(path)), "new");
  EXPECT_THAT(read_file(path, 2).error().text(), HasSubstr("has 3 bytes; at most 2 are allowed"));
  EXPECT_THAT(read_file(::testing::TempDir()).error().text(), HasSubstr("is not a regular file"));
  EXPECT_THAT(write_file("/nonexistent/file", {}).error().text(), HasSubstr("can't be written"));
}

TEST(Reader, KnowsWhereItEnds) {
  const auto bytes = to_bytes("\x01\x02\x03\x04\x05");
  ByteReader reader(bytes, "file");
  EXPECT_EQ(*reader.read<uint32_t>("a word"), 0x04030201u);
  EXPECT_EQ(reader.read<uint16_t>("a half").error().text(),
            "file: a half needs 2 bytes, but only 1 are left");
  EXPECT_EQ(*reader.read<uint8_t>("a byte"), 5);
}

}  // namespace
}  // namespace rushlight::test
