# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what the backend takes, under which conditions, and as what. The partitioner, preprocess and the
reasons why a call stays outside all read it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from executorch.backends.skeleton.aot.payload import Payload
from executorch.exir.backend.op_table import Condition, Constants, OpTable, Row


def _tensors(node: Node) -> list[torch.Tensor]:
    return [each.meta["val"] for each in (*node.all_input_nodes, node)]


def _are_plain(node: Node, constants: Constants) -> bool:
    return (
        len(node.args) == 2
        and all(isinstance(arg, Node) for arg in node.args)
        and all(
            isinstance(value, torch.Tensor)
            and value.dtype == torch.float32
            and value.is_contiguous()
            for value in _tensors(node)
        )
    )


def _have_one_shape(node: Node, constants: Constants) -> bool:
    first, *others = (value.shape for value in _tensors(node))
    return all(
        len(first) == len(other)
        and all(statically_known_true(a == b) for a, b in zip(first, other, strict=True))
        for other in others
    )


def _reads_a_value(node: Node, constants: Constants) -> bool:
    return any(each not in constants for each in node.all_input_nodes)


def _has_no_factor(node: Node, constants: Constants) -> bool:
    return node.kwargs.get("alpha", 1) == 1


def binary(operator: str) -> Callable[[Payload, Node], None]:
    def lower(payload: Payload, node: Node) -> None:
        payload.call(operator, node, *node.args)

    return lower


TABLE = OpTable(
    {
        "aten.add.Tensor": Row(binary("Add"), (Condition(_has_no_factor, "alpha must be 1"),)),
        "aten.mul.Tensor": Row(binary("Mul")),
    },
    of_all=(
        Condition(_are_plain, "contiguous tensors of dtype float32 are expected"),
        Condition(_have_one_shape, "tensors of one shape are expected"),
        Condition(_reads_a_value, "all operands are static: it is computed ahead of time"),
    ),
)
