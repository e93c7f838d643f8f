// SPDX-License-Identifier: Apache-2.0
// What the op table can say of an op. The table itself is ops/table.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/attributes.h"
#include "types/tensor_type.h"

namespace rushlight {

// What an operand is to its op; the quantizer, the Q/DQ folding and the layout pass read it.
enum class Role : uint8_t {
  activation,  // quantized per tensor, asymmetric
  weight,      // constant, quantized symmetric per channel along channel_axis
  bias,        // constant, int32 at scale(activation) * scale(weight channel)
  parameter,   // constant that passes fold away (batch-norm statistics)
  index,       // integers that are not quantized
  state,       // recurrent state
};

struct Operand {
  std::string_view name = {};
  Role role = Role::activation;
  bool optional = false;
  bool variadic = false;  // the last operand only: stands for any number of values
  int channel_axis = -1;  // of a weight
};

enum class QuantRule : uint8_t {
  none,      // not a computation on quantized values
  free,      // the result has parameters of its own
  same,      // operands with role activation and all results share parameters: the integers are only moved or
             // compared
  fixed,     // where the quantizer chooses, the result has the parameters that the row states
  position,  // the results are positions: integers without quantization
  boundary,  // quantized at the outside only; the inside is derived at lowering (recurrent layers)
};

struct FixedQuantization {
  double scale = 0;
  int32_t zero_point = 0;
};

// What the shape rule is asked about: operand types (null where an optional operand is absent; a variadic
// operand's values stand in order at the end) and attributes.
struct OpQuery {
  std::span<const TensorType* const> operands;
  Attributes attributes;

  const TensorType& operand(size_t i) const { return *operands[i]; }
  const Shape& shape(size_t i) const { return operands[i]->shape; }
  bool has(size_t i) const { return i < operands.size() && operands[i] != nullptr; }
};

struct ResultShape {
  Shape shape;
  DType dtype;
};

// Shapes and dtypes of the results, or what is wrong with the operands and attributes. Quantization is not
// its business: an int8 operand stands for the real it represents.
using ShapeRule = Result<std::vector<ResultShape>> (*)(const OpQuery&);

// The real function of an elementwise op; null for others.
using UnaryFunction = double (*)(double, const Attributes&);
using BinaryFunction = double (*)(double, double, const Attributes&);

struct OpRow {
  std::string_view name;  // as in the text form
  std::string_view summary;
  std::array<Operand, 10> operands = {};  // those with a name
  std::array<AttributeRow, 10> attributes = {};
  int results = 1;  // kVariadic: any number
  ShapeRule shape = nullptr;
  QuantRule quant = QuantRule::free;
  FixedQuantization fixed = {};
  // The op can clamp its result at no cost; its nodes carry a clamp range.
  bool clamps = false;
  UnaryFunction unary = nullptr;
  BinaryFunction binary = nullptr;
  // Overloads of torch.ops that mean this op with operands and attributes of the same names. In-place forms
  // ("add_") need no entry.
  std::array<std::string_view, 6> torch = {};

  static constexpr int kVariadic = -1;

  constexpr size_t operand_count() const {
    size_t n = 0;
    while (n < operands.size() && !operands[n].name.empty()) ++n;
    return n;
  }
  constexpr size_t attribute_count() const {
    size_t n = 0;
    while (n < attributes.size() && !attributes[n].name.empty()) ++n;
    return n;
  }
  constexpr bool variadic() const { return operand_count() > 0 && operands[operand_count() - 1].variadic; }
  // The row of operand i of a node, also behind the start of a variadic operand.
  constexpr const Operand& operand(size_t i) const {
    const size_t n = operand_count();
    return operands[i < n ? i : n - 1];
  }
  std::span<const AttributeRow> attribute_rows() const { return {attributes.data(), attribute_count()}; }
};

}  // namespace rushlight
