// SPDX-License-Identifier: Apache-2.0
// Importers against random damage: whatever the bytes, an error or a verified graph.
// RUSHLIGHT_FUZZ_ITERATIONS and RUSHLIGHT_FUZZ_SEED change how many and which.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "import/bytes/file.h"
#include "import/bytes/reader.h"
#include "import/bytes/zip.h"
#include "import/bytes/zip_writer.h"
#include "import/import.h"
#include "import/npz/npz.h"
#include "ir/verify.h"

namespace rushlight {
namespace {

using Bytes = std::vector<std::byte>;

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void bytes(Bytes& content) {
    for (size_t n = 1 + below(4); n > 0 && !content.empty(); --n) {
      const size_t at = below(content.size());
      switch (below(4)) {
        case 0:
          content[at] ^= static_cast<std::byte>(1 << below(8));
          break;
        case 1:
          content[at] = static_cast<std::byte>(below(256));
          break;
        case 2:
          content.resize(at);
          break;
        default:
          content.insert(content.begin() + static_cast<int64_t>(at), std::byte{0xFF});
          break;
      }
    }
  }

  // Replaces whole tokens, so that most results still are JSON: what reads the values is reached, not only
  // the parser.
  void json(std::string& text) {
    for (size_t n = 1 + below(3); n > 0; --n) {
      const auto [at, size] = token(text);
      if (size == 0) continue;
      const auto [other_at, other_size] = token(text);
      switch (below(3)) {
        case 0:
          text.replace(at, size, kValues[below(std::size(kValues))]);
          break;
        case 1:
          text.replace(at, size, text.substr(other_at, other_size));
          break;
        default:
          text.replace(at, size, std::to_string(static_cast<int64_t>(random_()) >> below(64)));
          break;
      }
    }
  }

 private:
  static constexpr const char* kValues[] = {
      "0",
      "-1",
      "1",
      "2147483648",
      "-9223372036854775808",
      "9223372036854775807",
      "18446744073709551616",
      "1e300",
      "\"NaN\"",
      "\"Infinity\"",
      "null",
      "true",
      "{}",
      "[]",
      "\"\"",
      "\"x\"",
      "\"as_ints\"",
      "\"as_tensor\"",
      "\"as_none\"",
      "\"as_sym_int\"",
      "\"aten.add_.Tensor\"",
      "\"torch.ops.aten.view.default\"",
      "\"Symbol('s0')\"",
  };

  // A number or a text with its quotes, somewhere.
  std::pair<size_t, size_t> token(const std::string& text) {
    size_t at = below(text.size());
    at = text.find_first_of("\"0123456789", at);
    if (at == std::string::npos) return {0, 0};
    if (text[at] == '"') {
      const size_t end = text.find('"', at + 1);
      return {at, end == std::string::npos ? 0 : end + 1 - at};
    }
    return {at, text.find_first_not_of("0123456789.", at) - at};
  }

  std::mt19937_64 random_;
};

std::string path_of(const std::string& name) { return std::string(RUSHLIGHT_SOURCE_DIR) + "/" + name; }

class ImportFuzz : public ::testing::Test {
 protected:
  const int64_t iterations_ = setting("RUSHLIGHT_FUZZ_ITERATIONS", 2000);
  const uint64_t seed_ = static_cast<uint64_t>(setting("RUSHLIGHT_FUZZ_SEED", 1));

  // Each iteration has a seed of its own, so that one can be repeated alone.
  template <class F>
  void each(F f) {
    std::cout << "seed " << seed_ << ", " << iterations_ << " iterations\n";
    for (int64_t i = 0; i < iterations_; ++i) {
      SCOPED_TRACE("RUSHLIGHT_FUZZ_ITERATIONS=1 RUSHLIGHT_FUZZ_SEED=" +
                   std::to_string(seed_ + static_cast<uint64_t>(i)));
      Damage damage(seed_ + static_cast<uint64_t>(i));
      f(damage);
      if (HasFailure()) return;
    }
  }

  static void expect_sound(const Result<Graph>& graph) {
    if (graph) {
      const auto verified = verify(*graph);
      EXPECT_TRUE(verified) << verified.error().text();
    } else {
      EXPECT_FALSE(graph.error().diagnostics.empty());
    }
  }
};

constexpr const char* kArchives[] = {
    "tests/fixtures/import/tied_weights.pt2", "tests/fixtures/import/dynamic_batch.pt2",
    "tests/fixtures/conv/linear_pt2e.pt2", "tests/fixtures/add/rank_one_inplace_relu.pt2"};

TEST_F(ImportFuzz, RawBytes) {
  std::vector<Bytes> archives;
  for (const char* name : kArchives) archives.push_back(*read_file(path_of(name)));
  each([&](Damage& damage) {
    Bytes bytes = archives[damage.below(archives.size())];
    damage.bytes(bytes);
    expect_sound(import_pt2_bytes(bytes, "fuzz.pt2", {.batch = 1}));
  });
}

TEST_F(ImportFuzz, EntriesOfTheArchive) {
  std::vector<ZipArchive> archives;
  for (const char* name : kArchives) archives.push_back(*ZipArchive::open(path_of(name)));
  each([&](Damage& damage) {
    const ZipArchive& archive = archives[damage.below(archives.size())];
    const size_t target = damage.below(3);  // 0: a table of tensors, else the program
    ZipWriter writer;
    for (const std::string& name : archive.names()) {
      std::string text(as_text(*archive.read(name)));
      const bool program = name.ends_with("model.json"), table = name.ends_with("_config.json");
      if ((program && target != 0) || (table && target == 0)) damage.json(text);
      writer.add(name, as_byte_span(text));
    }
    expect_sound(import_pt2_bytes(writer.finish(), "fuzz.pt2", {.batch = 2}));
  });
}

TEST_F(ImportFuzz, Samples) {
  const auto arrays = *read_npz(path_of("tests/fixtures/import/tied_weights.npz"));
  const Bytes archive = npz_bytes(arrays), array = npy_bytes(arrays.begin()->second);
  each([&](Damage& damage) {
    Bytes bytes = damage.below(2) == 0 ? archive : array;
    damage.bytes(bytes);
    const auto tensor = read_npy(bytes, "fuzz.npy");
    EXPECT_TRUE(tensor || !tensor.error().diagnostics.empty());
    const auto tensors = read_npz(bytes, "fuzz.npz");
    EXPECT_TRUE(tensors || !tensors.error().diagnostics.empty());
  });
}

}  // namespace
}  // namespace rushlight
