# SPDX-License-Identifier: Apache-2.0
"""Export, PT2E quantization and saving, shared by the model scripts and tests/fixtures/make_fixtures.py."""
import copy
import pathlib
import re

import torch
from torchao.quantization.pt2e import MinMaxObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec, QuantizationAnnotation, QuantizationSpec, Quantizer, SharedQuantizationSpec)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = pathlib.Path(torch.__file__).resolve().parents[1]
aten = torch.ops.aten

WEIGHTED = {aten.conv2d.default, aten.linear.default}
BINARY = {aten.add.Tensor, aten.add_.Tensor, aten.sub.Tensor, aten.sub_.Tensor, aten.rsub.Scalar}
ACTIVATION = {aten.relu.default, aten.relu_.default, aten.relu6.default, aten.relu6_.default, aten.hardtanh.default,
              aten.hardtanh_.default, aten.clamp.default, aten.clamp_.default}
MEAN = {aten.mean.dim}
# Their integers are the input's integers (or an average of them), so input and output share one scale and zero point.
SAME = {aten.view.default, aten.reshape.default, aten.flatten.using_ints, aten.dropout.default, aten.clone.default,
        aten.adaptive_avg_pool2d.default, aten.permute.default}

ACT = QuantizationSpec(torch.int8, MinMaxObserver.with_args(quant_min=-128, quant_max=127), -128, 127,
                       torch.per_tensor_affine)
WEIGHT = QuantizationSpec(torch.int8, PerChannelMinMaxObserver.with_args(ch_axis=0, quant_min=-127, quant_max=127),
                          -127, 127, torch.per_channel_symmetric, ch_axis=0)


def bias_of(x, weight, node):
    """int32 with scale = input scale * weight scale, so that it adds straight to the accumulator."""
    def derive(observers):
        (x_scale, _), (w_scale, _) = (o.calculate_qparams() for o in observers)
        scale = x_scale * w_scale
        return scale, torch.zeros_like(scale, dtype=torch.int32)
    return DerivedQuantizationSpec([(x, node), (weight, node)], derive, torch.int32, -2**31, 2**31 - 1,
                                   torch.per_channel_symmetric, ch_axis=0)


class Int8Quantizer(Quantizer):
    """int8 asymmetric per-tensor activations, int8 symmetric per-channel weights, int32 biases."""

    def __init__(self, fuse_activations=True):
        self.fuse_activations = fuse_activations

    def fused_end(self, node):
        """The node whose output is stored: the activation that follows, where one kernel does both."""
        user = next(iter(node.users), None)
        fuses = self.fuse_activations and len(node.users) == 1 and user.target in ACTIVATION
        return user if fuses else node

    def annotate(self, model):
        def put(node, inputs, output):
            node.meta["quantization_annotation"] = QuantizationAnnotation(inputs, output, _annotated=True)

        def ended_by(node, inputs):
            end = self.fused_end(node)
            put(node, inputs, ACT if end is node else None)
            if end is not node:
                put(end, {}, ACT)

        for node in model.graph.nodes:
            if "quantization_annotation" in node.meta:
                continue
            if node.target in WEIGHTED:
                x, weight, bias = (list(node.args) + [None])[:3]
                inputs = {x: ACT, weight: WEIGHT}
                if bias is not None:
                    inputs[bias] = bias_of(x, weight, node)
                ended_by(node, inputs)
            elif node.target in BINARY:
                ended_by(node, {a: ACT for a in node.args if isinstance(a, torch.fx.Node)})
            elif node.target in ACTIVATION | MEAN:
                put(node, {node.args[0]: ACT}, ACT)
            elif node.target in SAME:
                put(node, {node.args[0]: ACT}, SharedQuantizationSpec((node.args[0], node)))
            elif node.target == aten.cat.default:
                first, *rest = node.args[0]
                shared = SharedQuantizationSpec((first, node))
                put(node, {first: ACT, **{r: shared for r in rest}}, shared)
        return model

    def validate(self, model):
        pass


def export(model, args, **options):
    return torch.export.export(model.eval(), args, **options)


def quantize(exported, samples, quantizer=None):
    """PT2E: observe `samples` (tuples of inputs) and return the converted module."""
    prepared = prepare_pt2e(exported.module(check_guards=False), quantizer or Int8Quantizer())
    with torch.no_grad():
        for sample in samples:
            prepared(*sample)
    return convert_pt2e(prepared)


def relative(match):
    """Source paths relative to the repository or to the package folder: the archive must not depend on the machine."""
    path = pathlib.Path(match[1])
    if not path.is_absolute():  # a converted module inherits what was saved before
        return match[0]
    path = path.resolve()
    for base in (ROOT, PACKAGES):
        if path.is_relative_to(base):
            return f'File "{path.relative_to(base).as_posix()}"'
    return f'File "{path.name}"'


def number_graphs(sources, numbers):
    """Graph ids are memory addresses: in order of appearance instead, the same script writes the same bytes."""
    for source in sources:
        if source.node_info:
            source.node_info.graph_id = numbers.setdefault(source.graph_id, len(numbers))
        number_graphs(source.from_node, numbers)


def save(exported, path):
    numbers = {}
    for node in exported.graph.nodes:
        if trace := node.meta.get("stack_trace"):
            node.meta["stack_trace"] = re.sub(r'File "([^"]+)"', relative, trace)
        if "from_node" in node.meta:
            node.meta["from_node"] = copy.deepcopy(node.meta["from_node"])  # nodes share their sources
            number_graphs(node.meta["from_node"], numbers)
    torch.export.save(exported, path)
