# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Small questions about nodes, under the names that users import."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.transforms.utils import (
    get_param_tensor,
    is_get_attr_node,
    is_param_node,
)
from executorch.backends.xnnpack.aot.graph_builder import NHWC, ORDER, PLAIN
from executorch.exir.graph_facts import data_spec_of

PERM_NCHW_TO_NHWC = ORDER[NHWC]
PERM_NHWC_TO_NCHW = ORDER[PLAIN]


def check_or_raise(condition: bool, err: str) -> None:
    if not condition:
        raise RuntimeError(err)


def is_node(node: Any) -> bool:
    return isinstance(node, Node)


def is_getitem(node: Node) -> bool:
    return node.op == "call_function" and node.target is operator.getitem


def get_input_node(node: Node, input_index: int) -> Node:
    """The argument at a place; RuntimeError when it is no node."""
    found = node.args[input_index]
    check_or_raise(
        is_node(found), f"argument {input_index} of {node.name} is {found!r}; expected a node"
    )
    return found


def get_tensor_name(exp_prog: ExportedProgram, node: Node | None) -> str:
    """What the program calls the data of a node; empty for None."""
    if node is None:
        return ""
    spec = data_spec_of(exp_prog, node)
    check_or_raise(spec is not None or is_get_attr_node(node), f"{node.name} is no data")
    return spec.target if spec is not None else node.target


def normalize_mean_dims(mean_dims: Sequence[int] | int | None, rank: int) -> list[int]:
    """Dimensions counted from the first; None: all."""
    if mean_dims is None:
        return list(range(rank))
    dims = [mean_dims] if isinstance(mean_dims, int) else mean_dims
    return [dim % rank for dim in dims]


def get_groups_from_conv(conv_node: Node) -> int:
    return conv_node.args[8]


def is_depthwise_conv(
    kernel_shape: tuple[int, ...], groups: int = 1, is_transpose: bool = False
) -> bool:
    """Whether each group reads one channel."""
    first, second = kernel_shape[:2]
    inputs, outputs = (first // groups, second) if is_transpose else (second, first // groups)
    return inputs == 1 and outputs % inputs == 0


__all__ = [
    "PERM_NCHW_TO_NHWC",
    "PERM_NHWC_TO_NCHW",
    "check_or_raise",
    "get_groups_from_conv",
    "get_input_node",
    "get_param_tensor",
    "get_tensor_name",
    "is_depthwise_conv",
    "is_get_attr_node",
    "is_getitem",
    "is_node",
    "is_param_node",
    "normalize_mean_dims",
]
