// SPDX-License-Identifier: Apache-2.0
// Real functions of one number that rows of the op table name, as PyTorch defines them. Attributes are those
// of the row.
#pragma once

#include "ops/attributes.h"

namespace rushlight::functions {

double sigmoid(double x, const Attributes&);
double gelu(double x, const Attributes&);  // approximate: "none" (erf) or "tanh"
double silu(double x, const Attributes&);
double mish(double x, const Attributes&);
double hardswish(double x, const Attributes&);
double hardsigmoid(double x, const Attributes&);
double elu(double x, const Attributes&);   // alpha, scale, input_scale; selu and celu are instances
double celu(double x, const Attributes&);  // alpha
double softplus(double x, const Attributes&);
double log_sigmoid(double x, const Attributes&);
double softsign(double x, const Attributes&);
double hardshrink(double x, const Attributes&);
double softshrink(double x, const Attributes&);
double threshold(double x, const Attributes&);
double round_half_even(double x, const Attributes&);
double sign(double x, const Attributes&);
double power(double x, const Attributes&);  // exponent

}  // namespace rushlight::functions
