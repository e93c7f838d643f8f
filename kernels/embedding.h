// SPDX-License-Identifier: Apache-2.0
// Rows of a table by index.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

struct EmbeddingParams {
  int32_t count;
  int32_t rows, width;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("count", self.count);
    v("rows", self.rows);
    v("width", self.width);
  }
};

// indices [count], table [rows][width], out [count][width]. An index outside the table reads its first or
// last row: nothing else in memory is touched.
template <class T>
inline void embedding(const EmbeddingParams& p, const int32_t* indices, const T* table, T* out) {
  for (int32_t i = 0; i < p.count; ++i, out += p.width) {
    const int32_t index = indices[i] < 0 ? 0 : indices[i] >= p.rows ? p.rows - 1 : indices[i];
    __builtin_memcpy(out, table + index * p.width, static_cast<size_t>(p.width) * sizeof(T));
  }
}

inline void embedding_s8(const EmbeddingParams& p, const int32_t* indices, const int8_t* table, int8_t* out) {
  embedding(p, indices, table, out);
}
inline void embedding_s16(const EmbeddingParams& p, const int32_t* indices, const int16_t* table,
                          int16_t* out) {
  embedding(p, indices, table, out);
}

}  // namespace rushlight::kernels
