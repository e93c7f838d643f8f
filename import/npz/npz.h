// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy (one array) and .npz (a ZIP archive of them) files.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "types/tensor.h"

namespace rushlight {

// Little-endian arrays of bool, u1, i1, i2, i4, i8, f2, f4 and f8, in C or Fortran order; the tensor is
// row-major. Big-endian arrays, other dtypes and Python objects are refused.
Result<Tensor> read_npy(const std::string& path);
// `where` names the array in errors.
Result<Tensor> read_npy(std::span<const std::byte> bytes, const std::string& where);

// By array name, that is without ".npy".
Result<std::map<std::string, Tensor>> read_npz(const std::string& path);
Result<std::map<std::string, Tensor>> read_npz(std::vector<std::byte> bytes, const std::string& where);

// The same arrays give the same bytes. The tensors must have dtypes that NumPy has.
std::vector<std::byte> npy_bytes(const Tensor& tensor);
std::vector<std::byte> npz_bytes(const std::map<std::string, Tensor>& arrays);
// Either the whole new file or the old one.
Status write_npz(const std::string& path, const std::map<std::string, Tensor>& arrays);

}  // namespace rushlight
