// SPDX-License-Identifier: Apache-2.0
// Every pass is a function from graph to graph, in place; pipeline.h says in which order and why. Each has a
// text test in tests/passes.
#pragma once

#include "ir/graph.h"
#include "types/result.h"

namespace rushlight {

// Drops what does nothing at inference: dropout, aliases, contiguous, views to the same shape,
// requantizations to the same parameters without a clamp.
//   %y = aten.dropout(%x); %z = aten.relu(%y)      =>   %z = aten.relu(%x)
Status remove_identities(Graph& graph);

// Replaces nodes whose operands are all constants by their value. Over quantized constants only ops that
// move elements fold: as integers, or as reals where channels with scales of their own are no longer along
// one axis.
Status fold_constants(Graph& graph);

// relu, relu6, hardtanh, clamp become one op, so that rules need to know only that one.
//   %y = aten.relu6(%x)      =>   %y = requantize(%x) clamp=[0.0, 6.0]
Status canonicalize_clamps(Graph& graph);

// Batch-norm behind a convolution or linear layer becomes part of its weights and bias.
Status fold_batch_norm(Graph& graph);

// Batch-norm that could not be folded becomes what it is: a depthwise convolution of one tap, between views
// where its input is no image.
Status expand_batch_norm(Graph& graph);

// Views of views, permutations of permutations and movements that change nothing disappear; elementwise ops
// move above views, next to what computes their input; expansions that broadcasting does anyway are passed
// by.
//   %v = aten.view(%x); %y = aten.relu(%v)     =>   %r = aten.relu(%x); %y = aten.view(%r)
Status simplify_movement(Graph& graph);

// What is a function of one float tensor, however it is put together from elementwise ops and numbers,
// becomes one op: hardswish, silu and gelu from their parts, x * x, an affine change of units.
//   %s = aten.sigmoid(%x); %y = aten.mul(%x, %s)    =>   %y = elementwise(%x) "aten.mul(x, aten.sigmoid(x))"
Status fuse_elementwise(Graph& graph);

// Zero padding becomes part of the convolution behind it.
Status fuse_padding(Graph& graph);

// Functions of one int8 tensor become tables, and functions of their results one table with them, which keeps
// the rounding between them.
Status build_lookups(Graph& graph);

// A clamp whose input nobody else uses becomes the clamp range of its producer, where that can clamp. In
// integers only where producer and clamp have the same quantization: otherwise the rounding between them is
// part of the model.
//   %c = aten.conv2d(%x, %w, %b); %y = requantize(%c) clamp=[0.0, inf]   =>   %y = aten.conv2d(...)
//   clamp=[0.0, inf]
Status fuse_clamps(Graph& graph);

// The parameters of quantize and dequantize nodes become part of the types of the integers on their inner
// side; dequantized constants become constants with a quantized type. A step of fold_qdq.
Status read_quantization(Graph& graph);

// hardsigmoid is an affine function and a clamp: the layer before it takes it into weights, bias and
// clamp. A step of fold_qdq, where weights are known and results are not yet quantized.
Status fold_hardsigmoid(Graph& graph);

// The one rule that turns quantize/dequantize nodes into quantized types, driven by the op table's
// quantization rules:
//   %f = dequantize(%x); %g = op(%f, ...); %y = quantize(%g)      =>   %y: i8<q> = op(%x, ...)
// also through ops that only move elements, with constants, and at the graph's inputs and outputs. What it
// can't fold stays as it is, correct.
Status fold_qdq(Graph& graph);

// Gives convolutions and pools channels-last images, lets elementwise ops follow their operands, and inserts
// to_layout where a value has to change its order in memory (the graph's inputs and outputs are row-major, so
// are views).
Status assign_layouts(Graph& graph);

// linear(view(to_layout(x))) reads x as it lies in memory, with the weight's columns in that order.
Status absorb_layouts(Graph& graph);

}  // namespace rushlight
