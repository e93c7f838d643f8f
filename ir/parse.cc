// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unordered_map>

#include "ir/parse_type.h"
#include "ir/scanner.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace rushlight {
namespace {

// A short text can ask for large constants: "splat" gives one element for all.
constexpr int64_t kMaxSplatElements = int64_t{1} << 24;

struct Declaration {
  std::string_view name;
  TensorType type;
  size_t position = 0;
};

// One function a construct; false is a failure that `in_` remembers. Nothing recurses, so no text is too
// deep.
class GraphParser {
 public:
  explicit GraphParser(std::string_view text) : in_(text), text_size_(static_cast<int64_t>(text.size())) {}

  Result<Graph> run() {
    if (!graph()) return tl::unexpected(in_.error());
    if (Status good = verify(graph_); !good) return forward(good);
    return std::move(graph_);
  }

 private:
  bool graph() {
    std::string_view name;
    if (!in_.expect("graph") || !in_.expect("@") || !in_.name(name, "the graph's name")) return false;
    graph_.name = name;
    if (!inputs() || !in_.expect("{")) return false;
    while (!in_.accept("return"))
      if (!statement()) return false;
    return returned() && in_.expect("}") &&
           (in_.at_end() || in_.fail("expected the end of the text after '}'"));
  }

  bool inputs() {
    if (!in_.expect("(")) return false;
    if (in_.accept(")")) return true;
    do {
      Declaration d;
      if (!declaration(d)) return false;
      values_.emplace(d.name, graph_.add_input(d.name, std::move(d.type)));
    } while (in_.accept(","));
    return in_.expect(")");
  }

  bool returned() {
    if (in_.at_end() || in_.peek() == '}') return true;
    do {
      if (!use(graph_.outputs.emplace_back())) return false;
    } while (in_.accept(","));
    return true;
  }

  bool statement() {
    if (in_.accept("state")) {
      State& state = graph_.states.emplace_back();
      return use(state.input) && in_.expect("->") && use(state.update);
    }
    const int line = in_.line();
    std::vector<Declaration> results;
    do {
      if (!declaration(results.emplace_back())) return false;
    } while (in_.accept(","));
    if (!in_.expect("=")) return false;
    return in_.accept("constant") ? constant(results) : node(std::move(results), line);
  }

  bool declaration(Declaration& d) {
    if (!in_.expect("%")) return false;
    d.position = in_.mark();
    if (!in_.name(d.name, "a value's name") || !in_.expect(":") || !parse_type(in_, d.type)) return false;
    return !values_.contains(d.name) || in_.fail(d.position, fmt::format("%{} is defined above", d.name));
  }

  bool use(ValueId& id) {
    if (!in_.expect("%")) return false;
    const size_t position = in_.mark();
    std::string_view name;
    if (!in_.name(name, "a value's name")) return false;
    const auto found = values_.find(name);
    if (found == values_.end()) return in_.fail(position, fmt::format("%{} is not defined above", name));
    id = found->second;
    return true;
  }

  bool constant(const std::vector<Declaration>& results) {
    const Declaration& d = results.front();
    if (results.size() != 1) return in_.fail(results[1].position, "a constant is one value");
    const std::optional<int64_t> count = checked_element_count(d.type.shape);
    if (!count || *count == 0)
      return in_.fail(d.position, fmt::format("a constant has 1 to {} elements", kMaxElements));
    if (in_.accept("..."))
      return in_.fail(d.position, "was cut when it was printed; print constants in full");
    // Memory is taken in proportion to the text, which has more characters than a list has elements.
    const bool splat = in_.accept("splat");
    if (splat) splat_elements_ += *count;
    if (splat_elements_ > kMaxSplatElements)
      return in_.fail(d.position,
                      fmt::format("splat constants may have {} elements in all", kMaxSplatElements));
    if (!splat && *count > text_size_) return in_.fail(fmt::format("expected {} elements", *count));
    Tensor data(d.type.dtype, d.type.shape);
    if (splat ? !parse_splat(in_, data) : !parse_list(in_, data)) return false;
    values_.emplace(d.name,
                    graph_.add_constant(d.name, d.type, std::make_shared<const Tensor>(std::move(data))));
    return true;
  }

  bool node(std::vector<Declaration> results, int line) {
    const size_t position = in_.mark();
    std::string_view op_name;
    if (!in_.name(op_name, "an op or 'constant'")) return false;
    const std::optional<Op> op = find_op(op_name);
    if (!op)
      return in_.fail(position,
                      fmt::format("unknown op '{}'; 'rushlight ops' lists them", op_name.substr(0, 40)));
    Node made{.op = *op, .name = std::string(results.front().name), .source = fmt::format("line {}", line)};
    if (!operands(made) || !attributes(made) || !clamp(made)) return false;
    for (Declaration& d : results) {
      made.results.push_back(graph_.add_result(d.name, std::move(d.type)));
      if (!values_.emplace(d.name, made.results.back()).second)
        return in_.fail(d.position, fmt::format("%{} is defined twice", d.name));
    }
    graph_.nodes.push_back(std::move(made));
    return true;
  }

  // Optional operands at the end may be left out.
  bool operands(Node& made) {
    if (!in_.expect("(")) return false;
    if (!in_.accept(")")) {
      do {
        ValueId& id = made.operands.emplace_back(ValueId::none);
        if (!in_.accept("none") && !use(id)) return false;
      } while (in_.accept(","));
      if (!in_.expect(")")) return false;
    }
    const OpRow& row = made.row();
    while (made.operands.size() < row.operand_count() && row.operand(made.operands.size()).optional)
      made.operands.push_back(ValueId::none);
    return true;
  }

  bool attributes(Node& made) {
    const size_t position = in_.mark();
    NamedAttributes given;
    if (in_.accept("{")) {
      do {
        if (!attribute(given)) return false;
      } while (in_.accept(","));
      if (!in_.expect("}")) return false;
    }
    Result<std::vector<Attribute>> completed =
        complete_attributes(made.row().attribute_rows(), std::move(given));
    if (!completed) return in_.fail(position, completed.error().text());
    made.attributes = *std::move(completed);
    return true;
  }

  bool attribute(NamedAttributes& given) {
    const size_t position = in_.mark();
    std::string_view name;
    std::string_view text;
    if (!in_.name(name, "an attribute's name") || !in_.expect("=") || !in_.value(text)) return false;
    Result<Attribute> value = parse_attribute(text);
    if (!value) return in_.fail(position, value.error().text());
    const bool fresh = given.emplace(name, *std::move(value)).second;
    return fresh || in_.fail(position, fmt::format("attribute {} is given twice", name));
  }

  bool clamp(Node& made) {
    if (!in_.accept("clamp")) return true;
    return in_.expect("=") && in_.expect("[") && in_.real(made.clamp.lo, "the lower bound") &&
           in_.expect(",") && in_.real(made.clamp.hi, "the upper bound") && in_.expect("]");
  }

  Scanner in_;
  int64_t text_size_;
  int64_t splat_elements_ = 0;
  Graph graph_;
  std::unordered_map<std::string_view, ValueId> values_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text) { return GraphParser(text).run(); }

}  // namespace rushlight
