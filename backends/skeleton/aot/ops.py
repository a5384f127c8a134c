# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what the backend takes, under which conditions, and as what. The partitioner, preprocess, the
quantizer and the reasons why a call is not delegated all read it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from executorch.backends.skeleton.aot.payload import Payload
from executorch.exir.backend.lowering.annotation import ARITHMETIC
from executorch.exir.backend.lowering.op_table import (
    COMPUTED_AHEAD,
    Condition,
    Constants,
    OpTable,
    Row,
    TensorCondition,
    tensors_of,
)
from executorch.exir.backend.lowering.steps import Step


def _is_plain(tensor: Node, call: Node) -> bool:
    value = tensor.meta["val"]
    is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return is_float and value.is_contiguous()


def _is_of_tensors(node: Node, constants: Constants) -> bool:
    return all(isinstance(arg, Node) for arg in node.args)


def _have_one_shape(node: Node, constants: Constants) -> bool:
    shapes = [each.meta["val"].shape for each in tensors_of(node)]
    return all(
        len(shape) == len(shapes[0])
        and all(statically_known_true(a == b) for a, b in zip(shape, shapes[0], strict=True))
        for shape in shapes
    )


def _has_no_factor(node: Node, constants: Constants) -> bool:
    return node.kwargs.get("alpha", 1) == 1


def binary(operator: str) -> Callable[[Payload, Step], None]:
    def lower(payload: Payload, step: Step) -> None:
        payload.call(operator, step)

    return lower


TABLE = OpTable(
    {
        "aten.add.Tensor": Row(
            binary("Add"),
            (Condition(_has_no_factor, "alpha must be 1"),),
            annotation=ARITHMETIC,
        ),
        "aten.mul.Tensor": Row(binary("Mul"), annotation=ARITHMETIC),
    },
    of_tensors=(TensorCondition(_is_plain, "a contiguous tensor of dtype float32 is expected"),),
    of_calls=(
        Condition(_is_of_tensors, "tensors are expected, not numbers"),
        Condition(_have_one_shape, "tensors of one shape are expected"),
        COMPUTED_AHEAD,
    ),
)
