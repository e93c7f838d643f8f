// SPDX-License-Identifier: Apache-2.0
// Operators of PyTorch that mean several ops: 1-D convolution is a 2-D one between two views, split is
// several slices.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "import/pt2/call.h"

namespace rushlight::pt2 {

struct Composite {
  std::string_view torch;  // in functional form, without "torch.ops."
  // Puts the nodes into the graph and gives the results, one for each tensor that the operator returns.
  // Arguments that it understands are dropped from the call.
  Result<std::vector<ValueId>> (*build)(Call&);
};

const Composite* find_composite(std::string_view torch);
std::span<const std::span<const Composite>> composites();

// By file.
extern const std::span<const Composite> kWindowComposites;    // composites_window.cc
extern const std::span<const Composite> kMovementComposites;  // composites_movement.cc
extern const std::span<const Composite> kProductComposites;   // composites_product.cc

// Nodes one after another under one source node. The first failure is kept, later steps do nothing.
class Steps {
 public:
  explicit Steps(Call& call) : call_(call) {}

  // Arguments, dropped from the call.
  ValueId tensor(std::string_view argument);
  ValueId optional_tensor(std::string_view argument);
  int64_t integer(std::string_view argument, std::optional<int64_t> otherwise = {});
  Integers integers(std::string_view argument, std::optional<Integers> otherwise = {});
  bool boolean(std::string_view argument, bool otherwise);
  // The attribute as it is, None where it is missing.
  Attribute attribute(std::string_view argument);

  ValueId add(Op op, std::vector<ValueId> operands, NamedAttributes attributes = {});
  ValueId view(ValueId input, Shape size) {
    return add("aten.view"_op, {input}, {{"size", std::move(size)}});
  }
  ValueId permute(ValueId input, Integers dims);
  ValueId slice(ValueId input, int64_t dim, int64_t start, int64_t end, int64_t step = 1);

  Call& call() { return call_; }
  // Of a value that exists; a scalar after a failure.
  const Shape& shape(ValueId id) const;
  // 0..rank-1, or a failure.
  size_t axis(int64_t dim, ValueId of);
  void fail(Error error);
  template <class T>
  void fail(tl::unexpected<T> error) {
    fail(std::move(error.value()));
  }
  bool failed() const { return error_.has_value(); }

  Result<std::vector<ValueId>> done(std::vector<ValueId> results);
  Result<std::vector<ValueId>> done(ValueId result) { return done(std::vector{result}); }

 private:
  template <class T>
  T take(std::string_view argument, Result<T> value);

  Call& call_;
  std::optional<Error> error_;
};

}  // namespace rushlight::pt2
