# SPDX-License-Identifier: BSD-3-Clause
"""Choices that emission makes for what few programs have: numbers computed at run time, buffers that another method
changes, loops of a fixed length, operators that give views."""

from __future__ import annotations

import torch
from torch.export import Dim, export

from executorch.exir import ExecutorchBackendConfig, schema, to_edge
from executorch.exir.emit._values import signature_of
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass


def operators(plan: schema.ExecutionPlan) -> list[str]:
    return [f"{op.name}.{op.overload}" for op in plan.operators]


def test_a_number_computed_at_run_time_has_a_slot_of_its_type() -> None:
    class Scaled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * x.sum().item()

    (plan,) = (
        to_edge(export(Scaled(), (torch.randn(3),)))
        .to_executorch()
        .executorch_program.execution_plan
    )
    (call,) = (
        each.instr_args
        for each in plan.chains[0].instructions
        if plan.operators[each.instr_args.op_index].name == "aten::_local_scalar_dense"
    )
    assert plan.values[call.args[-1]].val == schema.Double(0.0)


class Writing(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return self.count + 1


class Reading(Writing):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.count


def test_a_method_reads_a_shared_buffer_where_the_other_writes_it() -> None:
    methods = {each.__name__: export(each(), (torch.randn(4),)) for each in (Writing, Reading)}
    planning = MemoryPlanningPass(share_mutable_buffers=True)
    config = ExecutorchBackendConfig(memory_planning_pass=planning)
    program = to_edge(methods).to_executorch(config).executorch_program
    places = {}
    for plan in program.execution_plan:
        tensors = [each.val for each in plan.values if isinstance(each.val, schema.Tensor)]
        (buffer,) = (each for each in tensors if each.data_buffer_idx > 0)
        places[plan.name] = buffer.allocation_info
    assert places["Reading"] == places["Writing"] == schema.AllocationDetails(2, 0, 0)
    alone = to_edge(methods["Reading"]).to_executorch().executorch_program.execution_plan[0]
    tensors = [each.val for each in alone.values if isinstance(each.val, schema.Tensor)]
    assert [e.allocation_info for e in tensors if e.data_buffer_idx > 0] == [None]  # a constant


class Mapped(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch._higher_order_ops.map(lambda row: row * 2, x)


def test_only_loops_of_a_length_that_varies_ask_whether_there_is_a_slice() -> None:
    x, asked = torch.randn(3, 2), {"aten::sym_size.int", "executorch_prim::lt.Scalar"}
    for shapes, expected in ((None, set()), ({"x": {0: Dim("n", max=8)}}, asked)):
        exported = export(Mapped(), (x,), dynamic_shapes=shapes)
        (plan,) = to_edge(exported).to_executorch().executorch_program.execution_plan
        assert asked & {*operators(plan)} == expected


def test_what_an_operator_writes_is_not_what_it_gives_a_view_of() -> None:
    aten = torch.ops.aten
    for op, written in (
        (aten.slice.Tensor, []),
        (aten.add_.Tensor, ["self"]),
        (aten.add.out, ["out"]),
        (aten.add.Tensor, []),
        (aten.unbind.int, []),
    ):
        assert [p.name for p in signature_of(op).parameters if p.is_result] == written, op


def test_a_tensor_that_is_left_out_is_none_where_it_may_be() -> None:
    conv = torch.nn.Conv2d(2, 3, 1, bias=False)
    (plan,) = (
        to_edge(export(conv, (torch.randn(1, 2, 4, 4),)))
        .to_executorch()
        .executorch_program.execution_plan
    )
    (call,) = (
        each.instr_args
        for each in plan.chains[0].instructions
        if plan.operators[each.instr_args.op_index].name == "aten::convolution"
    )
    assert plan.values[call.args[2]].val == schema.Null()
    kinds = {p.name: p.kind for p in signature_of(torch.ops.aten.convolution.out).parameters}
    assert (kinds["bias"], kinds["weight"]) == ("TensorType", "RequiredTensor")
