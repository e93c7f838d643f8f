// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes: expressions such as "Mul(Integer(2), Symbol('s77', positive=True, integer=True))", and the
// values that their symbols stand for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "import/pt2/schema.h"
#include "types/result.h"
#include "types/shape.h"

namespace rushlight::pt2 {

using Binding = std::map<std::string, int64_t, std::less<>>;  // by symbol

// The value of an expression; what is wrong with it (syntax, a symbol that is not bound, overflow, division
// by zero) as plain text.
tl::expected<int64_t, std::string> evaluate(std::string_view expression, const Binding& binding);
tl::expected<int64_t, std::string> evaluate(const SymInt& value, const Binding& binding);
tl::expected<Shape, std::string> evaluate(const std::vector<SymInt>& sizes, const Binding& binding);

// The symbol that an expression consists of, if it is just one.
std::optional<std::string> only_symbol(std::string_view expression);

// The operators that symbolic sizes know, on numbers.
std::optional<int64_t> checked_add(int64_t a, int64_t b);
std::optional<int64_t> checked_subtract(int64_t a, int64_t b);
std::optional<int64_t> checked_multiply(int64_t a, int64_t b);
std::optional<int64_t> checked_floor_divide(int64_t a, int64_t b);
std::optional<int64_t> checked_modulo(int64_t a, int64_t b);  // as Python's: the sign of b

// Binds the symbols of the inputs' leading axes to `batch`. A dynamic model needs a batch inside its range; a
// static one accepts only the batch that it has. Any other dynamic axis is refused.
Result<Binding> bind_batch(const Program& program, std::optional<int64_t> batch, const std::string& file);

}  // namespace rushlight::pt2
