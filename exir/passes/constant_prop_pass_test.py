# SPDX-License-Identifier: BSD-3-Clause
"""What depends on constants alone becomes data, and what nobody reads then goes. Names, places and what stays are what
upstream's package gives."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed
from torch import nn
from torch.export import ExportedProgram, export

from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.passes.constant_prop_pass import (
    constant_prop_pass,
    get_default_skip_targets_no_quant,
)
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

aten, edge_aten = torch.ops.aten, exir_ops.edge.aten
_QUANTIZED = torch.ops.quantized_decomposed
X = torch.ones(2, 3)
A, B = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])
BYTES = torch.tensor([1, 2, 3], dtype=torch.int8)


class Call(nn.Module):
    def __init__(self, function: Any, **data: Any) -> None:
        super().__init__()
        self.function = function
        for name, value in data.items():
            if isinstance(value, nn.Parameter):
                self.register_parameter(name, value)
            else:
                self.register_buffer(name, value)

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def manager_of(function: Any, skip_dim_order: bool = False, **data: Any) -> EdgeProgramManager:
    config = EdgeCompileConfig(_skip_dim_order=skip_dim_order)
    return to_edge(export(Call(function, **data), (X,)), compile_config=config)


def contents(program: ExportedProgram) -> tuple[list[str], list[str], list[str]]:
    inputs = [spec.arg.name for spec in program.graph_signature.input_specs]
    return inputs, sorted(program.state_dict), sorted(program.constants)


def targets(program: ExportedProgram) -> list[Any]:
    return [node.target for node in program.graph.nodes if node.op == "call_function"]


NEW = "_prop_tensor_constant0"


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: x + m.w[0:2],
        lambda m, x: x + (m.w[0:2] + m.a),
        lambda m, x: x + torch.arange(3),
        lambda m, x: x + m.a.expand(2, 3),
        lambda m, x: x + m.a.topk(3)[0],
    ],
    ids=["parameter", "two", "nothing", "stride 0", "one of two results"],
)
def test_only_the_result_is_left(function: Any) -> None:
    data = {"w": nn.Parameter(torch.arange(12.0).reshape(4, 3)), "a": A, "unread": B}
    program = manager_of(function, **data).exported_program()
    assert constant_prop_pass(program) is program
    assert contents(program) == ([NEW, "x"], [], [NEW])
    assert 0 not in program.constants[NEW].stride()
    program._validate()
    torch.testing.assert_close(program.module()(X), function(Call(function, **data), X))


def test_programs_of_torch_export_too() -> None:
    program = export(Call(lambda m, x: (x + m.a, m.a + m.b), a=A, b=B), (X,))
    constant_prop_pass(program)
    assert contents(program) == (["b_a", NEW, "x"], ["a"], [NEW])
    assert targets(program) == [aten.add.Tensor, aten.clone.default]
    program._validate()
    torch.testing.assert_close(program.module()(X), (X + A, A + B))


def test_quantizing_stays_unless_other_operators_are_to_stay() -> None:
    def dequantized(m: Any, x: torch.Tensor) -> torch.Tensor:
        return x + _QUANTIZED.dequantize_per_tensor(m.w, 0.5, 0, -128, 127, torch.int8)

    program = manager_of(dequantized, w=BYTES).exported_program()
    constant_prop_pass(program)
    assert contents(program) == (["b_w", "x"], ["w"], [])
    constant_prop_pass(program, get_default_skip_targets_no_quant())
    assert contents(program) == ([NEW, "x"], [], [NEW])
    torch.testing.assert_close(program.constants[NEW], BYTES * 0.5)


def test_what_is_to_stay_replaces_the_default() -> None:
    def both(m: Any, x: torch.Tensor) -> torch.Tensor:
        return x + torch.full((3,), 2.0).exp() + m.a.sin()

    for custom, left in (
        (None, [edge_aten.full.default, edge_aten.exp.default]),
        ({edge_aten.sin.default}, [edge_aten.sin.default]),
        (set(), []),
    ):
        program = manager_of(both, a=A).exported_program()
        constant_prop_pass(program, custom)
        assert [t for t in targets(program) if t != edge_aten.add.Tensor] == left


def test_random_numbers_are_no_constants() -> None:
    """Upstream computes them at export: every call gives the same ones."""
    program = manager_of(lambda m, x: x + torch.rand(3).sin()).exported_program()
    constant_prop_pass(program)
    assert edge_aten.rand.default in targets(program)


@pytest.mark.parametrize("skip_dim_order", [False, True])
def test_an_output_is_a_copy_of_the_constant(skip_dim_order: bool) -> None:
    manager = manager_of(lambda m, x: (x.sin(), m.a + m.b), skip_dim_order, a=A, b=B)
    program = manager.exported_program()
    constant_prop_pass(program, _skip_dim_order=skip_dim_order)
    clone = exir_ops.edge.dim_order_ops._clone_dim_order.default
    clone = edge_aten.clone.default if skip_dim_order else clone
    assert targets(program) == [edge_aten.sin.default, clone]
    assert contents(program) == ([NEW, "x"], [], [NEW])
    program._validate()
    results = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward((X,))
    torch.testing.assert_close(results, [X.sin(), A + B])


def test_conditions_stay_and_say_so(caplog: pytest.LogCaptureFixture) -> None:
    def choice(m: Any, x: torch.Tensor) -> torch.Tensor:
        branches = (lambda y: y + m.a.sin(), lambda y: y * 1)
        return torch.cond(x.sum() > 0, *branches, (x,)) + m.a.cos()

    program = manager_of(choice, a=A).exported_program()
    with caplog.at_level(logging.WARNING):
        constant_prop_pass(program)
    assert "does not constant propagate in control flow modules" in caplog.text
    assert edge_aten.cos.default not in targets(program)
    torch.testing.assert_close(program.module()(X), X + A.sin() + A.cos())
