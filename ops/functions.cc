// SPDX-License-Identifier: Apache-2.0
#include "ops/functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rushlight::functions {
namespace {

double softplus_of(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

}  // namespace

double sigmoid(double x, const Attributes&) { return 1 / (1 + std::exp(-x)); }

double gelu(double x, const Attributes& attributes) {
  if (attributes.text("approximate") == "tanh") {
    const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(inner));
  }
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

double silu(double x, const Attributes&) { return x / (1 + std::exp(-x)); }

double mish(double x, const Attributes&) { return x * std::tanh(softplus_of(x)); }

double hardswish(double x, const Attributes&) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }

double hardsigmoid(double x, const Attributes&) { return std::clamp(x + 3, 0.0, 6.0) / 6; }

double elu(double x, const Attributes& attributes) {
  const double scale = attributes.real("scale");
  if (x > 0) return scale * x;
  return scale * attributes.real("alpha") * std::expm1(attributes.real("input_scale") * x);
}

double celu(double x, const Attributes& attributes) {
  const double alpha = attributes.real("alpha");
  return std::max(x, 0.0) + std::min(0.0, alpha * std::expm1(x / alpha));
}

double softplus(double x, const Attributes& attributes) {
  const double beta = attributes.real("beta");
  return x * beta > attributes.real("threshold") ? x : softplus_of(x * beta) / beta;
}

double log_sigmoid(double x, const Attributes&) { return -softplus_of(-x); }

double softsign(double x, const Attributes&) { return x / (1 + std::abs(x)); }

double hardshrink(double x, const Attributes& attributes) {
  return std::abs(x) > attributes.real("lambd") ? x : 0;
}

double softshrink(double x, const Attributes& attributes) {
  const double lambda = attributes.real("lambd");
  return x > lambda ? x - lambda : x < -lambda ? x + lambda : 0;
}

double threshold(double x, const Attributes& attributes) {
  return x > attributes.real("threshold") ? x : attributes.real("value");
}

double round_half_even(double x, const Attributes&) { return std::nearbyint(x); }

double sign(double x, const Attributes&) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

double power(double x, const Attributes& attributes) { return std::pow(x, attributes.real("exponent")); }

}  // namespace rushlight::functions
