# SPDX-License-Identifier: BSD-3-Clause
"""Graphs and programs written call by call compute what their calls do, and go on to a program."""

from __future__ import annotations

import operator

import pytest
import torch
from torch.export.graph_signature import InputKind, OutputKind

from executorch.backends.test.graph_builder import GraphBuilder, single_op_builder
from executorch.backends.test.program_builder import IrMode, ProgramBuilder
from executorch.exir.dialects._ops import ops as exir_ops

ADD = exir_ops.edge.aten.add.Tensor


def test_a_graph_computes_its_calls() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", torch.randn(2, 3))
    largest = builder.call_operator(torch.ops.aten.max.dim, (x, 1))
    first = builder.call_getitem(largest, 0)
    builder.output([builder.call_operator(ADD, (first, first), {"alpha": 2})])
    graph_module = builder.get_graph_module()
    assert [n.target for n in graph_module.graph.nodes][1:4] == [
        torch.ops.aten.max.dim,
        operator.getitem,
        ADD,
    ]
    given = torch.tensor([[1.0, 5.0, 2.0], [3.0, 0.0, 1.0]])
    torch.testing.assert_close(graph_module(given)[0], torch.tensor([15.0, 9.0]))
    assert first.data.shape == (2,)


def test_a_call_that_cannot_be_is_an_error_at_its_place() -> None:
    builder = GraphBuilder()
    x, y = builder.placeholder("x", torch.ones(2, 3)), builder.placeholder("y", torch.ones(4))
    with pytest.raises(RuntimeError, match="broadcast"):
        builder.call_operator(ADD, (x, y))


def test_a_graph_of_one_call() -> None:
    p, q = torch.randn(2, 2), torch.randn(2, 2)
    graph_module = single_op_builder((p, q), torch.ops.aten.sub.Tensor, (q, p), {"alpha": 2})
    torch.testing.assert_close(graph_module(p, q)[0], q - 2 * p)
    assert [n.name for n in graph_module.graph.find_nodes(op="placeholder")] == ["p_0", "p_1"]
    several = single_op_builder((p, q), torch.ops.aten.cat.default, ([p, q], 1))
    torch.testing.assert_close(several(p, q)[0], torch.cat([p, q], 1))


def test_a_program_with_a_parameter() -> None:
    weight = torch.randn(2, 3)
    for mode, add in ((IrMode.EXIR, ADD), (IrMode.ATEN, torch.ops.aten.add.Tensor)):
        builder = ProgramBuilder(mode)
        w = builder.placeholder("w", weight, input_kind=InputKind.PARAMETER)
        x = builder.placeholder("x", torch.randn(2, 3))
        builder.output([builder.call_operator(add, (x, w))])
        program = builder.get_program()
        given = torch.ones(2, 3)
        torch.testing.assert_close(program.module()(given)[0], given + weight)
        assert program.graph_signature.inputs_to_parameters == {"w": "w"}
        assert program.graph_signature.user_inputs == ("x",)


def test_a_program_goes_on_to_bytes() -> None:
    builder = ProgramBuilder()
    total = builder.placeholder("total", torch.zeros(2), input_kind=InputKind.BUFFER)
    one = builder.placeholder("one", torch.ones(2), input_kind=InputKind.CONSTANT_TENSOR)
    x = builder.placeholder("x", torch.ones(2))
    new = builder.call_operator(ADD, (total, x))
    kinds = [OutputKind.BUFFER_MUTATION, OutputKind.USER_OUTPUT]
    builder.output([new, builder.call_operator(ADD, (new, one))], kinds, ["total", None])
    program = builder.get_edge_program().to_executorch()

    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    loaded = _load_for_executorch_from_buffer(program.buffer)
    results = [loaded.forward([torch.tensor([1.0, 2.0])])[0].tolist() for _ in range(2)]
    assert results == [[2.0, 3.0], [3.0, 5.0]]  # (0 + x) + 1, then (x + x) + 1
