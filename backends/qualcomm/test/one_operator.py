# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of one operator, written by hand, for tests of the evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from executorch.backends.qualcomm.aot.graph import (
    DataType,
    Encoding,
    EncodingType,
    Graph,
    Operator,
    Parameter,
    Tensor,
    TensorType,
)
from executorch.backends.qualcomm.test.reference.evaluator import evaluate

_TYPES = {
    torch.float32: DataType.FLOAT_32,
    torch.float16: DataType.FLOAT_16,
    torch.int32: DataType.INT_32,
    torch.bool: DataType.BOOL_8,
}


def tensor(value: torch.Tensor, dtype: DataType | None = None, **more: object) -> Tensor:
    """Like `value`, without its numbers."""
    found = dtype or _TYPES[value.dtype]
    return Tensor("", TensorType.NATIVE, found, tuple(value.shape) or (1,), **more)


def static(value: torch.Tensor, dtype: DataType | None = None, **more: object) -> Tensor:
    return replace(tensor(value, dtype, **more), type=TensorType.STATIC, data=value)


def per_tensor(scale: float, offset: int) -> Encoding:
    return Encoding(EncodingType.SCALE_OFFSET, (scale,), (offset,))


def graph_of(
    kind: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    parameters: dict[str, Parameter] | None = None,
) -> Graph:
    """Inputs that are not static are the graph's."""
    tensors = tuple(
        replace(each, name=f"t{place}") for place, each in enumerate([*inputs, *outputs])
    )
    reads, writes = tuple(range(len(inputs))), tuple(range(len(inputs), len(tensors)))
    given = tuple(place for place in reads if tensors[place].type is not TensorType.STATIC)
    operator = Operator("op", kind, reads, writes, parameters or {})
    return Graph("forward", tensors, (operator,), given, writes)


def outputs_of(
    kind: str,
    inputs: Sequence[torch.Tensor],
    like: Sequence[torch.Tensor],
    parameters: dict[str, Parameter] | None = None,
) -> list[torch.Tensor]:
    """Of an operator of floats, integers and booleans, whose outputs have the types and sizes of `like`."""
    graph = graph_of(kind, [tensor(x) for x in inputs], [tensor(x) for x in like], parameters)
    return evaluate(graph, inputs)


CHECKED: set[str] = set()


def check(
    kind: str,
    inputs: Sequence[torch.Tensor] | torch.Tensor,
    wanted: Sequence[torch.Tensor] | torch.Tensor,
    **parameters: Parameter,
) -> None:
    """That the operator gives `wanted`, whose int64 stands for int32."""
    CHECKED.add(kind)
    inputs = [inputs] if isinstance(inputs, torch.Tensor) else inputs
    wanted = [wanted] if isinstance(wanted, torch.Tensor) else wanted
    wanted = [each.int() if each.dtype is torch.int64 else each for each in wanted]
    found = outputs_of(kind, inputs, wanted, parameters)
    torch.testing.assert_close(
        found, wanted, atol=1e-5, rtol=1e-5, msg=lambda text: f"{kind}\n{text}"
    )


def checked(module: Mapping[str, Any]) -> set[str]:
    """Types of operators that the tests of a module check, whichever of them ran before this one."""
    for name, test in module.items():
        if name.startswith("test_") and not name.startswith("test_no_operator"):
            test()
    return CHECKED


def last(x: torch.Tensor) -> torch.Tensor:
    """Channels last."""
    return x.movedim(1, -1)
