// SPDX-License-Identifier: Apache-2.0
#include "ops/expression.h"

#include <fmt/format.h>

#include <cctype>

namespace rushlight {
namespace {

constexpr int kMostDepth = 64;

size_t arity(const OpRow& row) { return row.unary ? 1 : row.binary ? 2 : 0; }

}  // namespace

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<Expression> run() {
    auto root = part(0);
    if (!root) return forward(root);
    expression_.root_ = *root;
    if (at_ != text_.size()) return wrong("the end");
    return std::move(expression_);
  }

 private:
  using Part = Expression::Part;

  tl::unexpected<Error> wrong(std::string_view wanted) const {
    return input_error("attribute expression", fmt::format("found '{}' at character {}, must be {}",
                                                           text_.substr(at_, 20), at_, wanted));
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Up to one of the marks that end a name or a value.
  std::string_view word() {
    skip_spaces();
    const size_t end = std::min(text_.find_first_of("(),;= ", at_), text_.size());
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }

  size_t keep(Part part) {
    expression_.parts_.push_back(std::move(part));
    return expression_.parts_.size() - 1;
  }

  Result<size_t> part(int depth) {
    if (depth > kMostDepth) return wrong(fmt::format("at most {} calls deep", kMostDepth));
    const size_t start = at_;
    const std::string_view name = word();
    if (name == "x") return keep({});
    if (const std::optional<Op> op = find_op(name)) return call(*op, depth);
    const auto number = parse_attribute(name);
    if (number)
      if (const double* value = std::get_if<double>(&*number)) return keep({Part::Kind::number, *value});
    at_ = start;
    return wrong("x, a real number or an op");
  }

  Result<size_t> call(Op op, int depth) {
    Part made{Part::Kind::op, 0, op};
    if (arity(row(op)) == 0) return wrong(fmt::format("an elementwise op, which {} is not", name(op)));
    if (!take('(')) return wrong("'('");
    do {
      auto argument = part(depth + 1);
      if (!argument) return argument;
      made.arguments.push_back(*argument);
    } while (take(','));
    NamedAttributes given;
    if (take(';')) {
      do {
        const std::string key(word());
        if (!take('=')) return wrong("'='");
        auto value = parse_attribute(word());
        if (!value) return forward(value);
        given[key] = std::move(*value);
      } while (take(','));
    }
    if (!take(')')) return wrong("')'");
    if (made.arguments.size() != arity(row(op)))
      return wrong(fmt::format("{} arguments of {}", arity(row(op)), name(op)));
    auto completed = complete_attributes(row(op).attribute_rows(), std::move(given));
    if (!completed) return forward(completed);
    made.attributes = std::move(*completed);
    return keep(std::move(made));
  }

  std::string_view text_;
  size_t at_ = 0;
  Expression expression_;
};

Result<Expression> Expression::parse(std::string_view text) { return ExpressionParser(text).run(); }

double Expression::evaluate(size_t index, double x) const {
  const Part& part = parts_[index];
  if (part.kind == Part::Kind::x) return x;
  if (part.kind == Part::Kind::number) return part.number;
  const OpRow& op = row(part.op);
  const Attributes attributes(op.attribute_rows(), part.attributes);
  const double first = evaluate(part.arguments[0], x);
  if (op.unary) return op.unary(first, attributes);
  return op.binary(first, evaluate(part.arguments[1], x), attributes);
}

std::string call_expression(Op op, const std::vector<std::string>& arguments,
                            const std::vector<Attribute>& attributes) {
  const auto rows = row(op).attribute_rows();
  std::string text = fmt::format("{}({}", name(op), fmt::join(arguments, ", "));
  for (size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "; " : ", ", rows[i].name, to_string(attributes[i]));
  return text + ")";
}

}  // namespace rushlight
