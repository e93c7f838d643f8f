// SPDX-License-Identifier: Apache-2.0
// Helpers for references in double, written from PyTorch's definitions as plain loops over every index.
#pragma once

#include "eval/evaluator.h"
#include "tests/support/graphs.h"

namespace rushlight::testing_support {

// One node over float inputs of these shapes; operands that are absent have no entry.
struct OneNode {
  Graph graph;
  std::vector<Tensor> inputs;

  Tensor run() const {
    const auto results = Evaluator(graph).run(inputs);
    EXPECT_TRUE(results);
    return results->front();
  }
};

inline OneNode one_node(Op op, const std::vector<Shape>& shapes, const NamedAttributes& attributes,
                        uint64_t seed) {
  OneNode made;
  Random random(seed);
  std::vector<ValueId> operands;
  for (const Shape& shape : shapes) {
    made.inputs.push_back(random.floats(shape, -2, 2));
    operands.push_back(made.graph.add_input("x", {.dtype = DType::float32, .shape = shape}));
  }
  Result<Node> node = made.graph.make_node(op, "y", operands, attributes);
  EXPECT_TRUE(node) << node.error().text();
  made.graph.outputs = {node->result()};
  made.graph.nodes.push_back(*std::move(node));
  return made;
}

// Sums of so many terms of magnitude up to 4 in float32 may differ from double by this.
inline void expect_near(const Tensor& found, const std::vector<double>& expected, double terms) {
  ASSERT_EQ(found.elements(), static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < found.elements(); ++i)
    ASSERT_NEAR(found.at(i), expected[static_cast<size_t>(i)], (terms + 1) * 4e-6) << "element " << i;
}

// Element at these indices.
inline double at(const Tensor& tensor, const Shape& index) {
  int64_t flat = 0;
  for (size_t d = 0; d < index.size(); ++d) flat = flat * tensor.shape()[d] + index[d];
  return tensor.at(flat);
}

// Calls f with every index of the shape, last axis fastest.
template <class F>
void for_each_index(const Shape& shape, F f) {
  Shape index(shape.size(), 0);
  for (int64_t left = element_count(shape); left > 0; --left) {
    f(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace rushlight::testing_support
