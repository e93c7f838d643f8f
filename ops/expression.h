// SPDX-License-Identifier: Apache-2.0
// A function of one number x, put together from the elementwise ops of the table:
//   aten.mul(x, aten.clamp(aten.add(x, 3.0; alpha=1.0); min=0.0, max=6.0))
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/attributes.h"
#include "ops/table.h"
#include "types/result.h"

namespace rushlight {

class Expression {
 public:
  // An error says what was found where; names must be elementwise ops, nesting at most 64 deep.
  static Result<Expression> parse(std::string_view text);

  double operator()(double x) const { return evaluate(root_, x); }

 private:
  friend class ExpressionParser;
  struct Part {
    enum class Kind : uint8_t { x, number, op } kind = Kind::x;
    double number = 0;
    Op op = {};
    std::vector<Attribute> attributes = {};
    std::vector<size_t> arguments = {};  // parts
  };

  double evaluate(size_t part, double x) const;

  std::vector<Part> parts_;
  size_t root_ = 0;
};

// "aten.clamp(x; min=0.0, max=none)" of an op over arguments that are expressions.
std::string call_expression(Op op, const std::vector<std::string>& arguments,
                            const std::vector<Attribute>& attributes);

}  // namespace rushlight
