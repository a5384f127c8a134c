# SPDX-License-Identifier: BSD-3-Clause
"""Operators that write an argument and return something else: values in the edge dialect, in place in programs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import export

from executorch.exir import to_edge
from executorch.exir.error import ExportError
from executorch.exir.operator.custom_writes import is_functional_write
from executorch.exir.pass_base import ExportPass

torch.library.define("write_test::put", "(Tensor x, Tensor(a!) into, int at) -> Tensor")
torch.library.define(
    "write_test::put.out",
    "(Tensor x, Tensor(a!) into, int at, *, Tensor(b!) out) -> Tensor(b!)",
)
torch.library.define("write_test::swap", "(Tensor(a!) x, Tensor(b!) y) -> ()")


@torch.library.impl("write_test::put", "CompositeExplicitAutograd")
def put(x: torch.Tensor, into: torch.Tensor, at: int) -> torch.Tensor:
    into.narrow(0, at, x.size(0)).copy_(x)
    return x.new_zeros(1)


torch.library.register_fake("write_test::put")(lambda x, into, at: x.new_empty(1))
torch.library.register_fake("write_test::swap")(lambda x, y: None)
OPS = torch.ops.write_test


class Cache(torch.nn.Module):
    def __init__(self, way: str = "write") -> None:
        super().__init__()
        self.way = way
        self.register_buffer("rows", torch.zeros(4, 2))

    def forward(self, x: torch.Tensor) -> Any:
        match self.way:
            case "twice":
                OPS.put(x, self.rows, 0)
                between = self.rows * 2
                OPS.put(x, self.rows, 2)
                return between + self.rows
            case "old value":
                before = self.rows
                doubled = before.clone()
                OPS.put(x, self.rows, 1)
                return doubled.sum() + self.rows.sum()
            case "not a buffer":
                local = x.repeat(2, 1)
                again = local + 1
                OPS.put(x, local, 0)
                return local, again
            case "part":
                OPS.put(x[:, :1], self.rows[:, :1], 0)
                return self.rows + 1
        OPS.put(x, self.rows, 1)
        return self.rows + 1


def lower(way: str) -> tuple[Any, Any]:
    edge = to_edge(export(Cache(way), (torch.ones(2, 2),)))
    return edge, edge.to_executorch()


def calls(program: Any) -> list[str]:
    return [
        str(node.target).removeprefix("write_test.")
        for node in program.exported_program().graph.nodes
        if node.op == "call_function" and "alloc" not in node.name
    ]


def test_edge_programs_have_values_only() -> None:
    edge, _ = lower("write")
    program = edge.exported_program()
    (write,) = [node for node in program.graph.nodes if is_functional_write(node)]
    (new,) = write.users
    assert program.graph_signature.buffers_to_mutate == {new.name: "rows"}
    torch.testing.assert_close(program.module()(torch.ones(2, 2)).sum(), torch.tensor(12.0))


def test_programs_write_in_place() -> None:
    _, program = lower("write")
    assert calls(program) == ["put.out", "aten.add.Scalar_out"]
    graph = program.exported_program().graph
    (write,) = [node for node in graph.nodes if node.target is OPS.put.out]
    assert write.args[1].name == "b_rows"
    plan = program.executorch_program.execution_plan[0]
    first = plan.chains[0].instructions[0].instr_args
    x, cache, at, out, result = first.args
    assert out == result
    assert len({x, cache, at, out}) == 4
    assert plan.values[out].val.sizes == [1]


def test_values_in_between_are_read_before_the_next_write() -> None:
    _, program = lower("twice")
    assert calls(program) == ["put.out", "aten.mul.Scalar_out", "put.out", "aten.add.out"]


def test_what_somebody_reads_again_is_copied() -> None:
    edge, program = lower("old value")
    assert calls(program) == [
        "dim_order_ops._clone_dim_order.out", "put.out", "aten.sum.IntList_out",
        "aten.sum.IntList_out", "aten.add.out", "aten.copy_.default",
    ]  # fmt: skip
    inputs = torch.ones(2, 2)
    expected = Cache("old value")(inputs)
    torch.testing.assert_close(edge.exported_program().module()(inputs), expected)


def test_local_tensors_are_written_too() -> None:
    _, program = lower("not a buffer")
    assert calls(program) == ["aten.repeat.out", "aten.add.Scalar_out", "put.out"]


def test_a_pass_may_run_over_them() -> None:
    edge, _ = lower("write")
    again = edge.transform([ExportPass()])
    assert calls(again.to_executorch()) == ["put.out", "aten.add.Scalar_out"]


def test_a_program_that_torch_made_functional_is_the_same() -> None:
    program = export(Cache(), (torch.ones(2, 2),)).run_decompositions({})
    assert calls(to_edge(program).to_executorch()) == ["put.out", "aten.add.Scalar_out"]


def test_a_part_of_a_tensor_is_told() -> None:
    with pytest.raises(ExportError, match="writes a part of a tensor as `into`"):
        lower("part")
