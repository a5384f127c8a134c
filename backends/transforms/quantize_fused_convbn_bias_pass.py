# SPDX-License-Identifier: BSD-3-Clause
"""Float biases of quantized convolutions, which fusing a batch norm makes, become int32.

before: conv2d(dequantize(%x), dequantize(%w), %b)
after:  conv2d(dequantize(%x), dequantize(%w), dequantize(%b of int32, scale of x * scale of w, 0))
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.backends.transforms.edits import finished
from executorch.backends.transforms.permute_pass_utils import get_arg
from executorch.backends.transforms.utils import (
    create_constant_placeholder,
    get_param_tensor,
    is_param_node,
)
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    quantization_of,
)
from executorch.exir.graph_facts import attribute_of, data_spec_of, op_name, replace_data

_CONVOLUTIONS = ("aten.conv2d.default", "aten.convolution.default", "aten.conv_transpose2d.input")
_UNSQUEEZES = ("aten.unsqueeze.default", "aten.unsqueeze_copy.default")
_QD = torch.ops.quantized_decomposed
_QMAX = 2**31 - 1


class QuantizeFusedConvBnBiasAtenPass(PassBase):
    """Works in place on a program's graph, whose signature then has the new constants, or on a module alone, which gets
    them as attributes. With `default_zero_bias` a convolution without a bias gets one; with `symmetric_quant` codes go
    from -2^31 + 1. Biases of int32 stay."""

    def __init__(
        self,
        exported_program: ExportedProgram | None = None,
        default_zero_bias: bool = False,
        symmetric_quant: bool = False,
    ) -> None:
        super().__init__()
        self.exported_program = exported_program
        self.default_zero_bias = default_zero_bias
        self.qmin = -_QMAX - 1 + int(symmetric_quant)

    def call(self, graph_module: GraphModule) -> PassResult:
        data = _Data(graph_module, self.exported_program)
        modified = False
        for node in list(graph_module.graph.nodes):
            if op_name(node) in _CONVOLUTIONS:
                modified |= self._quantize_bias(node, data)
        return finished(graph_module, modified)

    def _quantize_bias(self, node: Node, data: _Data) -> bool:
        scales, bias = _scales(node, data), get_arg(node, "bias")
        if scales is None or (bias is None and not self.default_zero_bias):
            return False
        if bias is None:
            floats = torch.zeros(_num_outputs(node, data))
            stored_name = f"{node.name}_default_zero_bias"
        else:
            floats, stored_name = data.tensor(bias), f"{node.name}_quantized_bias"
        if (
            floats is None
            or not floats.is_floating_point()
            or scales.numel() not in (1, len(floats))
        ):
            return False
        codes = (floats.detach().double() / scales.double()).round()
        codes = codes.clamp(self.qmin, _QMAX).to(torch.int32)
        if bias is not None and data.has_one_reader(bias):
            data.replace(bias, codes)
            stored = bias
        else:
            stored = data.new(node, stored_name, codes)
        rest = {name: value for name, value in node.kwargs.items() if name != "bias"}
        node.args = (*node.args[:2], self._dequantize(node, stored, scales, data), *node.args[3:])
        node.kwargs = rest
        return True

    def _dequantize(self, node: Node, stored: Node, scales: torch.Tensor, data: _Data) -> Node:
        limits = (self.qmin, _QMAX, torch.int32)
        if scales.dim() == 0:
            target = _QD.dequantize_per_tensor.default
            args = (stored, scales.item(), 0, *limits)
        else:
            zeros = torch.zeros(scales.shape, dtype=torch.int32)
            target = _QD.dequantize_per_channel.default
            scales = data.new(node, f"{node.name}_bias_scale", scales)
            points = data.new(node, f"{node.name}_bias_zero_point", zeros)
            args = (stored, scales, points, 0, *limits)
        with node.graph.inserting_before(node):
            made = node.graph.call_function(target, args)
        made.meta = {k: v for k, v in node.meta.items() if k not in ("val", "tensor_meta")}
        if "val" in node.meta:
            made.meta["val"] = node.meta["val"].new_empty(stored.meta["val"].shape)
        return made


def _dequantized(node: Node) -> Node:
    while op_name(node) in _UNSQUEEZES:
        node = node.args[0]
    return node


def _scales(node: Node, data: _Data) -> torch.Tensor | None:
    """Of the sums that the convolution makes: one in double, or float32 for each output channel. None when it is not
    quantized so."""
    image, weight = (_qparams_of(_dequantized(each)) for each in node.args[:2])
    if image is None or weight is None or not image.is_static:
        return None
    if weight.is_static:
        return torch.tensor(image.scale * weight.scale, dtype=torch.float64)
    by_channel = weight.axis == int(_is_transposed(node)) and weight.group_size == 0
    held = data.tensor(weight.scale) if by_channel else None
    if held is None:
        return None
    scales = (held.detach().double() * image.scale).float()
    return scales.repeat(get_arg(node, "groups")) if _is_transposed(node) else scales


def _qparams_of(node: Node) -> Quantization | None:
    return quantization_of(node) if is_dequantize(node) else None


def _is_transposed(node: Node) -> bool:
    """Whether weights are [in, out / groups, ...]."""
    if op_name(node) == "aten.convolution.default":
        return get_arg(node, "transposed")
    return "transpose" in op_name(node)


def _num_outputs(node: Node, data: _Data) -> int:
    codes = data.tensor(_dequantized(node.args[1]).args[0])
    if codes is None:
        return node.meta["val"].shape[1]
    return codes.shape[1] * get_arg(node, "groups") if _is_transposed(node) else codes.shape[0]


@dataclass(frozen=True)
class _Data:
    """Tensors of a graph by node: of the program, or of the module where there is none."""

    module: GraphModule
    program: ExportedProgram | None

    def tensor(self, node: Node) -> torch.Tensor | None:
        """None for a node that is computed."""
        if self.program is None:
            return attribute_of(self.module, node.target) if node.op == "get_attr" else None
        is_data = is_param_node(self.program, node)
        return get_param_tensor(self.program, node) if is_data else None

    def has_one_reader(self, node: Node) -> bool:
        same = [n for n in self.module.graph.nodes if n.op == node.op and n.target == node.target]
        return sum(len(each.users) for each in same) == 1

    def new(self, reader: Node, name: str, value: torch.Tensor) -> Node:
        graph = reader.graph
        if self.program is not None:
            with graph.inserting_before(next(iter(graph.nodes))):
                return create_constant_placeholder(
                    self.program, graph, name, InputKind.CONSTANT_TENSOR, value
                )
        self.module.register_buffer(name, value)
        with graph.inserting_before(reader):
            node = graph.get_attr(name)
        node.meta["val"] = value
        return node

    def replace(self, node: Node, value: torch.Tensor) -> None:
        spec = data_spec_of(self.program, node) if self.program is not None else None
        if spec is not None:
            replace_data(self.program, spec.target, value)
            node.meta["val"] = node.meta["val"].to(value.dtype)
            return
        owner, _, name = node.target.rpartition(".")
        holder = self.module.get_submodule(owner)
        is_parameter = name in holder._parameters
        setattr(holder, name, torch.nn.Parameter(value, False) if is_parameter else value)
        node.meta["val"] = value
