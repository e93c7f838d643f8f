// SPDX-License-Identifier: Apache-2.0
// The ZIP archive that torch.export.save writes: the program, and the raw storages of its tensors.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "import/bytes/file.h"
#include "import/bytes/zip.h"
#include "import/pt2/schema.h"
#include "types/tensor.h"

namespace rushlight::pt2 {

// The dtype of torch's enum, if tensors here can have it.
std::optional<DType> dtype_of_scalar_type(int64_t code);
// "complex64", for messages.
std::string scalar_type_name(int64_t code);

class Archive {
 public:
  static Result<Archive> open(std::vector<std::byte> bytes, std::string file);

  const Program& program() const { return program_; }

  // The tensor of a parameter, buffer or constant, row-major. Tensors that are one view of one storage share
  // one copy.
  Result<std::shared_ptr<const Tensor>> tensor(const InputSpec& spec);

 private:
  Archive(ZipArchive zip, std::string file) : zip_(std::move(zip)), file_(std::move(file)) {}
  Status find_root();
  Status read_tables();
  Result<std::string> text(std::string_view path) const;
  Result<std::shared_ptr<const std::vector<std::byte>>> storage(const std::string& path);
  Result<std::shared_ptr<const Tensor>> load(const TensorMeta& meta, const std::string& path,
                                             const std::string& where);

  ZipArchive zip_;
  std::string file_;
  std::string root_;  // with the '/' behind it
  Program program_;
  Payloads weights_;
  Payloads constants_;
  std::map<std::string, std::shared_ptr<const std::vector<std::byte>>> storages_;
  // By entry, dtype, sizes, strides and offset.
  std::map<std::tuple<std::string, DType, Shape, Shape, int64_t>, std::shared_ptr<const Tensor>> tensors_;
  int64_t tensor_bytes_ = 0;
};

}  // namespace rushlight::pt2
