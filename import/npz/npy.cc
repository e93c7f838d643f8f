// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "import/bytes/file.h"
#include "import/bytes/reader.h"
#include "import/npz/npy_header.h"
#include "import/npz/npz.h"

namespace rushlight {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxHeaderBytes = 65536;
constexpr size_t kAlignment = 64;

Result<NpyHeader> read_header(ByteReader& reader, const std::string& where) {
  auto magic = reader.take(kMagic.size(), "the magic number");
  if (!magic || as_text(*magic) != kMagic) return input_error(where, "is not an .npy array");
  const auto major = reader.read<uint8_t>("the version");
  const auto minor = reader.read<uint8_t>("the version");
  if (!major || !minor) return input_error(where, "ends in its header");
  if (*major < 1 || *major > 3 || *minor != 0)
    return input_error(where,
                       fmt::format("has the format version {}.{}; 1.0 to 3.0 are known", *major, *minor));
  size_t size = 0;
  if (*major == 1) {
    const auto bytes = reader.read<uint16_t>("the header's size");
    if (!bytes) return tl::unexpected(bytes.error());
    size = *bytes;
  } else {
    const auto bytes = reader.read<uint32_t>("the header's size");
    if (!bytes) return tl::unexpected(bytes.error());
    size = *bytes;
  }
  if (size > kMaxHeaderBytes)
    return input_error(
        where, fmt::format("has a header of {} bytes; at most {} are allowed", size, kMaxHeaderBytes));
  auto text = reader.take(size, "the header");
  if (!text) return forward(text);
  return parse_npy_header(as_text(*text), where);
}

// The first axis varies fastest: a row-major tensor of the reversed shape, its axes reversed.
Tensor from_fortran_order(const Tensor& reversed) {
  std::vector<int> order(reversed.shape().size());
  std::iota(order.rbegin(), order.rend(), 0);
  return reversed.permuted(order);
}

}  // namespace

Result<Tensor> read_npy(const std::string& path) {
  auto bytes = read_file(path);
  if (!bytes) return forward(bytes);
  return read_npy(*bytes, path);
}

Result<Tensor> read_npy(std::span<const std::byte> bytes, const std::string& where) {
  ByteReader reader(bytes, where);
  auto header = read_header(reader, where);
  if (!header) return forward(header);
  const auto count = checked_element_count(header->shape);
  if (!count)
    return input_error(where, fmt::format("has the shape {}; at most {} axes and {} elements are allowed",
                                          to_string(header->shape), kMaxRank, kMaxElements));
  const auto needed = static_cast<size_t>(*count * size_of(header->dtype));
  if (reader.remaining() != needed)
    return input_error(
        where, fmt::format("has {} bytes of elements; its shape {} of {} needs {}", reader.remaining(),
                           to_string(header->shape), name(header->dtype), needed));
  const bool reversed = header->fortran_order && header->shape.size() > 1;
  if (reversed) std::reverse(header->shape.begin(), header->shape.end());
  Tensor tensor(header->dtype, header->shape);
  const auto elements = *reader.take(needed, "the elements");
  std::ranges::copy(elements, tensor.bytes().begin());
  if (tensor.dtype() == DType::boolean &&
      std::ranges::any_of(elements, [](std::byte b) { return b > std::byte{1}; }))
    return input_error(where, "has truth values other than 0 and 1");
  return reversed ? from_fortran_order(tensor) : tensor;
}

std::vector<std::byte> npy_bytes(const Tensor& tensor) {
  require(!row(tensor.dtype()).numpy.empty(), "only dtypes that NumPy has are written");
  std::string text = npy_header({tensor.dtype(), false, tensor.shape()});
  const size_t start = kMagic.size() + 4;  // version and header size
  text.append((kAlignment - (start + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::vector<std::byte> bytes(start);
  std::ranges::copy(as_byte_span(kMagic), bytes.begin());
  bytes[6] = std::byte{1};  // version 1.0
  bytes[8] = static_cast<std::byte>(text.size() & 0xFF);
  bytes[9] = static_cast<std::byte>(text.size() >> 8);
  for (const auto part : {as_byte_span(text), tensor.bytes()})
    bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

}  // namespace rushlight
