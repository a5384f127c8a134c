# SPDX-License-Identifier: BSD-3-Clause
"""A captured graph as a quantizer sees it: which row of a backend's table a call will become, and which values are too
large for few bits."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node

from executorch.exir.backend.lowering.annotation import NOT_QUANTIZED, SHARED, Annotation, Kind
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.backend.lowering.quantized import form_of_operator
from executorch.exir.graph_facts import op_name

# Masks hold values beyond it; one of them would take all the range from what it is added to.
LARGEST = 1e4

_CONVOLUTION = "aten.convolution.default"
_VIEW = "aten.view_copy.default"
# Calls of captured graphs -> what they are in an edge program, which has no calls of the first name. A row of the first
# name counts before one of the second.
_EDGE_NAMES = {
    "aten.conv1d.default": _CONVOLUTION,
    "aten.conv2d.default": _CONVOLUTION,
    "aten.conv3d.default": _CONVOLUTION,
    "aten.conv_transpose1d.default": _CONVOLUTION,
    "aten.conv_transpose2d.input": _CONVOLUTION,
    "aten.conv_transpose3d.input": _CONVOLUTION,
    "aten.max_pool2d.default": "aten.max_pool2d_with_indices.default",
    "aten.max_pool3d.default": "aten.max_pool3d_with_indices.default",
    "aten.softmax.int": "aten._softmax.default",
    "aten.log_softmax.int": "aten._log_softmax.default",
    "aten.layer_norm.default": "aten.native_layer_norm.default",
    "aten.group_norm.default": "aten.native_group_norm.default",
    "aten.batch_norm.default": "aten._native_batch_norm_legit_no_training.default",
    "aten.pad.default": "aten.constant_pad_nd.default",
    "aten.permute.default": "aten.permute_copy.default",
    "aten.expand.default": "aten.expand_copy.default",
    "aten.transpose.int": "aten.permute_copy.default",
    "aten.select.int": "aten.select_copy.int",
    "aten.slice.Tensor": "aten.slice_copy.Tensor",
    "aten.view.default": _VIEW,
    "aten.reshape.default": _VIEW,
    "aten.flatten.using_ints": _VIEW,
    "aten.unsqueeze.default": _VIEW,
    "aten.squeeze.dim": _VIEW,
    "aten.squeeze.dims": _VIEW,
}
# The same for names that both have.
_COMPUTED_BY = {
    "aten.adaptive_avg_pool2d.default": "aten.mean.dim",
    "aten.adaptive_avg_pool3d.default": "aten.mean.dim",
    "aten.relu6.default": "aten.hardtanh.default",
    "aten.silu.default": "aten.sigmoid.default",
}
# Lowering drops these: whatever reads them reads what they read.
_DROPPED = (
    "aten.dropout.default",
    "aten.clone.default",
    "aten.contiguous.default",
    "aten.detach.default",
    "aten.alias.default",
)
_SCALES_AND_FILLS = frozenset(
    {"add", "constant_pad_nd", "full", "full_like", "masked_fill", "mul", "pad", "sub", "where"}
)
_BOUNDED = frozenset(
    {
        "batch_norm",
        "conv1d",
        "conv2d",
        "conv3d",
        "embedding",
        "layer_norm",
        "linear",
        "matmul",
        "bmm",
    }
    | {"scaled_dot_product_attention", "sigmoid", "softmax", "tanh"}
)


@dataclass(frozen=True)
class CapturedTable:
    """A backend's table, asked about calls of captured graphs."""

    table: OpTable[Any]

    def annotation_of(self, node: Node) -> Annotation:
        """Of the row that `node` is a call of, or becomes one; NOT_QUANTIZED where there is none."""
        if node.op != "call_function":
            return NOT_QUANTIZED
        name = captured_name(node)
        found = SHARED if name in _DROPPED else self._of(name)
        return found if found.otherwise is None or found.when(node) else found.otherwise

    def kind_of(self, node: Node) -> Kind:
        return self.annotation_of(node).kind

    def has_row(self, name: str) -> bool:
        """Whether calls of that name in captured graphs are quantized."""
        return name in _DROPPED or self._of(name).kind is not Kind.NONE

    def has_weights(self, name: str) -> bool:
        """Whether calls of that name in captured graphs are GEMM."""
        return self._of(name).kind is Kind.GEMM

    def operators(self) -> list[OpOverload]:
        """Operators of captured graphs that are quantized for themselves."""
        left_out = (Kind.NONE, Kind.LOOKUP)
        names = [name for name in self._names() if self._of(name).kind not in left_out]
        return [_operator(name) for name in (*names, *_DROPPED)]

    def dynamic_operators(self) -> list[OpOverload]:
        """Those that take an input which is quantized while running."""
        return [_operator(name) for name in self._names() if name in self._of(name).dynamic]

    def _of(self, captured: str) -> Annotation:
        if captured in self._by_name:
            return self._by_name[captured]
        if captured in _EDGE_NAMES:
            return self._by_name.get(_EDGE_NAMES[captured], NOT_QUANTIZED)
        found = self._by_name.get(_COMPUTED_BY.get(captured, ""), NOT_QUANTIZED)
        # Parameters that sigmoid says are not those of silu.
        return NOT_QUANTIZED if found.kind is Kind.FIXED else found

    def _names(self) -> list[str]:
        """Of operators in captured graphs: not those that edge programs alone have."""
        edge = {*_EDGE_NAMES.values(), *_DROPPED}
        own = [name for name in self._by_name if name not in edge and "_copy." not in name]
        return list(dict.fromkeys([*own, *_EDGE_NAMES, *_COMPUTED_BY]))

    @functools.cached_property
    def _by_name(self) -> dict[str, Annotation]:
        """Of single calls, and of what patterns begin with, behind what dequantizes."""
        found: dict[str, Annotation] = {}
        for pattern, row in self.table.rows_of_patterns.items():
            found |= dict.fromkeys(_first_of(pattern), row.annotation)
        for name, row in self.table.items():
            if row.annotation.kind is not Kind.NONE or name not in found:
                found[name] = row.annotation
        return found


def _first_of(pattern: Call) -> list[str]:
    inner = [each for each in pattern.reads if isinstance(each, Call)]
    computed = [each for each in inner if not any(map(form_of_operator, each.ops))]
    if not computed and not any(map(form_of_operator, pattern.ops)):
        return list(pattern.ops)
    return [name for each in computed for name in _first_of(each)]


def captured_name(node: Node) -> str:
    """`aten.relu.default` for it and for `aten.relu_.default`."""
    return op_name(node).replace("_.", ".")


def _operator(name: str) -> OpOverload:
    return functools.reduce(getattr, name.split("."), torch.ops)


def function_name(node: Node) -> str:
    """`relu` of `aten.relu.default`."""
    return (captured_name(node).split(".") + [""])[1]


def is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def qualified(kind: type | str) -> str:
    """The name of a class with its module's, as a captured graph may have it already."""
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"


def module_paths(node: Node) -> list[str]:
    """Qualified names of the modules that a node is in, the innermost last."""
    stack = node.meta.get("nn_module_stack", {}).values()
    return [str(path).removeprefix("L['self'].") for path, _ in stack]


def module_types(node: Node) -> list[str]:
    """Qualified names of the classes of those."""
    return [qualified(kind) for _, kind in node.meta.get("nn_module_stack", {}).values()]


def attribute(model: GraphModule, node: Node) -> torch.Tensor | None:
    """The tensor that a get_attr node reads."""
    found: object = model
    for name in str(node.target).split("."):
        found = getattr(found, name, None)
    return found if isinstance(found, torch.Tensor) else None


def large_values(model: GraphModule) -> set[Node]:
    """Nodes whose values may be larger than LARGEST: made from such a number and not bounded since."""
    found: set[Node] = set()
    for node in model.graph.nodes:
        if node.op == "get_attr":
            tensor = attribute(model, node)
            large = tensor is not None and tensor.numel() > 0 and _is_large(tensor)
        else:
            name = function_name(node)
            made = name in _SCALES_AND_FILLS and any(
                isinstance(arg, int | float) and abs(arg) > LARGEST for arg in node.args
            )
            kept = is_float(node) and any(each in found for each in node.all_input_nodes)
            large = name not in _BOUNDED and (made or kept)
        if large:
            found.add(node)
    return found


def _is_large(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and bool(tensor.detach().abs().max() > LARGEST)
