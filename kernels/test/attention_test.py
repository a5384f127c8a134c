# SPDX-License-Identifier: BSD-3-Clause
"""scaled_dot_product_attention in programs: one call of our kernel where it is preserved, else decomposed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.export import Dim, export

from executorch.exir import EdgeCompileConfig, to_edge
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

_OP = torch.ops.aten.scaled_dot_product_attention.default
_NAME = "aten::scaled_dot_product_attention.out"


class Attention(torch.nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

    def forward(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, mask, **self.options)


def lower(model: torch.nn.Module, inputs: tuple[Any, ...], preserve: bool, **options: Any) -> Any:
    config = EdgeCompileConfig(preserve_ops=[_OP] if preserve else [])
    return to_edge(export(model, inputs, **options), compile_config=config).to_executorch()


def operators(program: Any) -> set[str]:
    plan = program.executorch_program.execution_plan[0]
    return {f"{op.name}.{op.overload}" for op in plan.operators}


def tensors(dtype: torch.dtype, key_heads: int = 4) -> tuple[torch.Tensor, ...]:
    shapes = ((2, 4, 70, 24), (2, key_heads, 210, 24), (2, key_heads, 210, 40))
    return tuple(torch.randn(shape).to(dtype) for shape in shapes)


CASES = {
    "plain": ({}, 4, None),
    "causal": ({"is_causal": True}, 4, None),
    "grouped": ({"enable_gqa": True, "scale": 0.2}, 2, None),
    "allowed": ({}, 4, torch.rand(70, 210) > 0.5),
    "added": ({}, 4, torch.randn(2, 1, 70, 210)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", CASES)
def test_a_preserved_operator_is_one_call(name: str, dtype: torch.dtype) -> None:
    options, key_heads, mask = CASES[name]
    inputs = tensors(dtype, key_heads)
    if mask is not None:
        inputs = (*inputs, mask if mask.dtype == torch.bool else mask.to(dtype))
    model = Attention(**options)
    program = lower(model, inputs, preserve=True)
    assert operators(program) == {_NAME}
    (found,) = _load_for_executorch_from_buffer(program.buffer).forward(inputs)
    near = 1e-4 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(found, model(*inputs), rtol=near, atol=near)


def test_programs_decompose_it_unless_told() -> None:
    inputs = tensors(torch.float32)
    program = lower(Attention(), inputs, preserve=False)
    assert _NAME not in operators(program)
    (found,) = _load_for_executorch_from_buffer(program.buffer).forward(inputs)
    torch.testing.assert_close(found, Attention()(*inputs), rtol=1e-4, atol=1e-4)


def test_lengths_may_change() -> None:
    queries, keys = Dim("queries", max=80), Dim("keys", max=300)
    model = Attention()
    shapes = {"q": {2: queries}, "k": {2: keys}, "v": {2: keys}}
    program = lower(model, tensors(torch.float32), preserve=True, dynamic_shapes=shapes)
    assert operators(program) == {_NAME}
    module = _load_for_executorch_from_buffer(program.buffer)
    for length, depth in ((1, 1), (3, 200), (65, 193), (80, 300)):
        inputs = (
            torch.randn(2, 4, length, 24), torch.randn(2, 4, depth, 24), torch.randn(2, 4, depth, 40),
        )  # fmt: skip
        (found,) = module.forward(inputs)
        torch.testing.assert_close(found, model(*inputs), rtol=1e-4, atol=1e-4)
