# SPDX-License-Identifier: BSD-3-Clause
"""A captured graph as the quantizer sees it: which row of the table of ops a call will become, and which values are
too large for int8."""

from __future__ import annotations

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node

from executorch.backends.xnnpack.aot.ops import TABLE, Quantized, Row
from executorch.backends.xnnpack.aot.steps import CONVOLUTION
from executorch.exir.graph_facts import op_name

# Masks hold values beyond it; one of them would take all the range from what it is added to.
LARGEST = 1e4

# What is not named as its row of the table is.
_ROWS = {
    "aten.conv1d.default": CONVOLUTION,
    "aten.conv2d.default": CONVOLUTION,
    "aten.conv3d.default": CONVOLUTION,
    "aten.conv_transpose2d.input": CONVOLUTION,
    "aten.conv_transpose3d.input": CONVOLUTION,
    "aten.adaptive_avg_pool2d.default": "aten.mean.dim",
    "aten.adaptive_avg_pool3d.default": "aten.mean.dim",
    "aten.max_pool2d.default": "aten.max_pool2d_with_indices.default",
    "aten.max_pool3d.default": "aten.max_pool3d_with_indices.default",
    "aten.relu6.default": "aten.hardtanh.default",
    "aten.silu.default": "aten.sigmoid.default",
    "aten.pad.default": "aten.constant_pad_nd.default",
    "aten.permute.default": "aten.permute_copy.default",
    "aten.transpose.int": "aten.permute_copy.default",
    "aten.slice.Tensor": "aten.slice_copy.Tensor",
    **dict.fromkeys(
        (
            "aten.view.default",
            "aten.reshape.default",
            "aten.flatten.using_ints",
            "aten.unsqueeze.default",
            "aten.squeeze.dim",
            "aten.squeeze.dims",
            # Lowering drops these.
            "aten.dropout.default",
            "aten.clone.default",
            "aten.contiguous.default",
            "aten.detach.default",
            "aten.alias.default",
        ),
        "aten.view_copy.default",
    ),
}
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


def captured_name(node: Node) -> str:
    """`aten.relu.default` for it and for `aten.relu_.default`."""
    return op_name(node).replace("_.", ".")


def row_of(node: Node) -> Row | None:
    name = captured_name(node)
    return TABLE.get(_ROWS.get(name, name))


def quantized_operators() -> list[OpOverload]:
    """Operators of captured graphs that work on 8-bit values."""
    kinds = (Quantized.GEMM, Quantized.ARITHMETIC, Quantized.SHARED_PARAMETERS)
    # Edge programs alone have the others.
    names = [
        *_ROWS,
        *(name for name in TABLE if "_copy." not in name and name not in _ROWS.values()),
    ]
    return [_operator(name) for name in names if TABLE[_ROWS.get(name, name)].quantized in kinds]


def _operator(name: str) -> OpOverload:
    namespace, packet, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload)


def function_name(node: Node) -> str:
    """`relu` of `aten.relu.default`."""
    return (captured_name(node).split(".") + [""])[1]


def is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


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
