# SPDX-License-Identifier: BSD-3-Clause
"""Operators that are written in Python alone: without C++, without kernels."""

from __future__ import annotations

import pytest
import torch

from executorch.exir import EdgeProgramManager, to_edge
from executorch.exir.error import ExportError
from executorch.runtime import Runtime


@torch.library.custom_op("user_operators_test::squared_gelu", mutates_args=())
def squared_gelu(x: torch.Tensor, factor: float, shift: torch.Tensor | None) -> torch.Tensor:
    y = factor * torch.nn.functional.gelu(x) ** 2
    return y if shift is None else y + shift


@torch.library.custom_op("user_operators_test::halves", mutates_args=())
def halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x[: x.shape[0] // 2] + 0, squared_gelu(x[x.shape[0] // 2 :], 1.0, None)


@torch.library.custom_op("user_operators_test::through_numpy", mutates_args=())
def through_numpy(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() * 2)


squared_gelu.register_fake(lambda x, factor, shift: torch.empty_like(x))
halves.register_fake(
    lambda x: (
        x.new_empty(x.shape[0] // 2, *x.shape[1:]),
        x.new_empty(x.shape[0] - x.shape[0] // 2, *x.shape[1:]),
    )
)
through_numpy.register_fake(torch.empty_like)


def exported(function, *inputs: torch.Tensor, **options) -> EdgeProgramManager:
    class Model(torch.nn.Module):
        def forward(self, *args: torch.Tensor):
            return function(*args)

    return to_edge(torch.export.export(Model(), inputs, **options))


def run(edge: EdgeProgramManager, *inputs: torch.Tensor) -> list[torch.Tensor]:
    program = edge.to_executorch()
    plan = program.executorch_program.execution_plan[0]
    assert not [op.name for op in plan.operators if op.name.startswith("user_operators_test")]
    return list(Runtime.get().load_program(program.buffer).load_method("forward").execute(inputs))


@pytest.mark.req("KS-026")
def test_an_operator_is_exported_as_what_its_function_computes() -> None:
    x, y = torch.randn(4, 3), torch.randn(3)
    edge = exported(lambda x, y: squared_gelu(x, 1.5, y) - squared_gelu(x, 2.0, None), x, y)
    (found,) = run(edge, x, y)
    torch.testing.assert_close(found, squared_gelu(x, 1.5, y) - squared_gelu(x, 2.0, None))


def test_operators_that_call_operators_and_give_several_results() -> None:
    x = torch.randn(6, 2)
    found = run(exported(lambda x: halves(x), x), x)
    torch.testing.assert_close(found, list(halves(x)))


def test_sizes_may_vary() -> None:
    size = torch.export.Dim("size", min=2, max=8)
    dynamic = {"dynamic_shapes": (({0: size},),)}
    edge = exported(lambda x: squared_gelu(x, 3.0, None), torch.randn(4, 3), **dynamic)
    x = torch.randn(7, 3)
    (found,) = run(edge, x)
    torch.testing.assert_close(found, squared_gelu(x, 3.0, None))


@pytest.mark.req("KS-027")
def test_a_function_that_cannot_be_traced_is_named() -> None:
    edge = exported(lambda x: through_numpy(x), torch.ones(2))
    with pytest.raises(ExportError) as caught:
        edge.to_executorch()
    message = str(caught.value)
    assert "Missing out variants: {'user_operators_test::through_numpy'}" in message
    assert (
        "the function of user_operators_test::through_numpy is not made of PyTorch's operators"
        in message
    )


def test_an_operator_with_an_out_variant_keeps_its_kernel() -> None:
    @torch.library.custom_op("user_operators_test::kept", mutates_args=())
    def kept(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    kept.register_fake(torch.empty_like)
    torch.library.define(
        "user_operators_test::kept.out", "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
    )
    program = exported(lambda x: kept(x), torch.ones(2)).to_executorch()
    operators = program.executorch_program.execution_plan[0].operators
    assert [(op.name, op.overload) for op in operators] == [("user_operators_test::kept", "out")]
