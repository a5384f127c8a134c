# SPDX-License-Identifier: BSD-3-Clause
"""What passes and tools look for in an edge graph: where data stands, which names and metadata nodes have."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram, export
from torch.export.graph_signature import InputKind
from torch.fx import Node

from executorch.exir import to_edge
from executorch.exir.debug_handle_utils import get_greatest_ancestor_node_identifier
from executorch.exir.pass_base import ExportPass

X = torch.randn(2, 3)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)
        self.never = torch.nn.Linear(3, 3)
        self.register_buffer("offset", torch.ones(4))
        self.register_buffer("spare", torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x).relu() * 2.5 + self.offset
        return torch.cond(y.sum() > 0, lambda a: a.sin() * a, lambda a: a.cos(), (y,))


def edge() -> ExportedProgram:
    return to_edge(export(Model(), (X,))).exported_program()


def calls(program: ExportedProgram) -> list[Node]:
    return [node for node in program.graph.nodes if node.op == "call_function"]


def test_numbers_are_buffers_after_those_of_the_model() -> None:
    program = edge()
    (spec,) = [s for s in program.graph_signature.input_specs if "_lifted" in str(s.target)]
    assert (spec.kind, spec.target, spec.persistent) == (
        InputKind.BUFFER,
        "_lifted_tensor_constant2",
        True,
    )
    torch.testing.assert_close(program.state_dict[spec.target], torch.tensor(2.5))
    assert not program.constants


def test_parameters_that_nobody_reads_leave_and_buffers_stay() -> None:
    exported = export(Model(), (X,))
    program = to_edge(exported).exported_program()
    assert set(program.state_dict) == {
        "linear.weight",
        "linear.bias",
        "offset",
        "spare",
        "_lifted_tensor_constant2",
    }
    assert "never.weight" in exported.state_dict  # the given program is as it was
    torch.testing.assert_close(program.module()(X), exported.module()(X))


def test_branches_are_numbered_and_operands_are_a_list() -> None:
    program = edge()
    (cond,) = [n for n in calls(program) if n.target is torch.ops.higher_order.cond]
    assert [n.target for n in cond.args[1:3]] == ["submodule_0", "submodule_1"]
    assert isinstance(cond.args[3], list)


def test_debug_handles_follow_the_first_graph() -> None:
    """Nodes made from one node of the model share a handle; branches go on counting."""
    program = edge()
    handles: dict[str, set[int]] = {}
    for module in (program.graph_module, program.graph_module.submodule_0):
        for node in module.graph.nodes:
            if node.op == "call_function":
                origin = get_greatest_ancestor_node_identifier(node)
                handles.setdefault(origin, set()).add(node.meta["debug_handle"])
    assert all(len(found) == 1 for found in handles.values())
    numbers = sorted(number for found in handles.values() for number in found)
    assert numbers[0] == 1 and len(set(numbers)) == len(numbers)
    decomposed = export(Model(), (X,)).run_decompositions()
    again = to_edge(decomposed).exported_program()
    by_name = {node.name: node.meta["debug_handle"] for node in calls(again)}
    assert by_name["aten_permute_copy_default"] == by_name["aten_addmm_default"] == 1


def test_metadata_of_calls() -> None:
    program = edge()
    first = calls(program)[0]
    assert first.meta["original_aten"] is torch.ops.aten.linear.default
    assert get_greatest_ancestor_node_identifier(first).startswith("linear.")
    assert {"stack_trace", "nn_module_stack", "torch_fn", "from_node", "val"} <= set(first.meta)
    (value,) = program.graph.output_node().meta["val"]
    assert value.shape == (2, 4)


def test_operators_of_torch_are_named_after_all_their_overloads() -> None:
    class Sigmoids(ExportPass):
        def call_operator(self, op: object, args: tuple, kwargs: dict, meta: object) -> object:
            return super().call_operator(torch.ops.aten.sigmoid.default, args[:1], {}, meta)

    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sin().cos()

    module = to_edge(export(Twice(), (X,))).exported_program().graph_module
    names = [node.name for node in Sigmoids()(module).graph_module.graph.nodes]
    assert names == ["x", "sigmoid", "sigmoid_1", "output"]
