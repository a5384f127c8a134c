# SPDX-License-Identifier: BSD-3-Clause
"""Passes that are made with the manager's program and change its signature and data, as passes that add or fold
constants do. Expected numbers are eager's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram, export
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    TensorArgument,
)
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir import EdgeProgramManager, ExecutorchBackendConfig, to_edge
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass
from executorch.exir.pass_manager import PassManager
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

edge_aten = exir_ops.edge.aten
X = torch.tensor([[1.0, 2.0, 3.0]])
FACTOR = torch.tensor([10.0, 100.0, 1000.0])


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("offset", torch.tensor([0.5, 0.25, 0.125]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + self.offset).relu()


class Nothing(ExportPass):
    """Writes the graph anew."""


class ScaleResult(ExportPass):
    """Multiplies the result by a constant that it adds to the program that it was made with."""

    def __init__(self, program: ExportedProgram, retraces: bool = False) -> None:
        super().__init__()
        self.program, self.retraces = program, retraces

    def call(self, graph_module: GraphModule) -> PassResult:
        graph, program = graph_module.graph, self.program
        first = next(iter(graph.nodes))
        with graph.inserting_before(first):
            factor = graph.placeholder("c_factor")
        factor.meta["val"] = first.meta["val"].fake_mode.from_tensor(FACTOR, static_shapes=True)
        signature = program.graph_signature
        row = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument("c_factor"), "factor")
        program._graph_signature = ExportGraphSignature(
            [row, *signature.input_specs], list(signature.output_specs)
        )
        program.constants["factor"] = FACTOR
        output = graph.output_node()
        (result,) = output.args[0]
        with graph.inserting_before(output):
            product = graph.call_function(edge_aten.mul.Tensor, (result, factor))
        product.meta = {"val": result.meta["val"]}
        output.args = ((product,),)
        graph_module.recompile()
        return super().call(graph_module) if self.retraces else PassResult(graph_module, True)


class DropOffset(PassBase):
    """Takes a buffer out of the program that it was made with, and reports no change."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__()
        self.program = program

    def call(self, graph_module: GraphModule) -> PassResult:
        (add,) = graph_module.graph.find_nodes(op="call_function", target=edge_aten.add.Tensor)
        x, offset = add.args
        add.replace_all_uses_with(x)
        graph_module.graph.erase_node(add)
        graph_module.graph.erase_node(offset)
        signature = self.program.graph_signature
        for spec in [s for s in signature.input_specs if s.target == "offset"]:
            signature.input_specs.remove(spec)
        self.program.state_dict.pop("offset")
        return PassResult(graph_module, False)


def edge() -> EdgeProgramManager:
    return to_edge(export(Model(), (X,)))


def result_of(manager: Any) -> torch.Tensor:
    return _load_for_executorch_from_buffer(manager.buffer).forward((X,))[0]


SCALED = (X + torch.tensor([0.5, 0.25, 0.125])) * FACTOR


@pytest.mark.parametrize("retraces", [False, True])
@pytest.mark.parametrize("before", [0, 1], ids=["alone", "after_a_retrace"])
def test_a_pass_adds_data_to_the_program_it_was_made_with(before: int, retraces: bool) -> None:
    manager = edge()
    scale = ScaleResult(manager.exported_program(), retraces)
    changed = manager.transform([*[Nothing()] * before, scale, Nothing()])
    torch.testing.assert_close(changed.exported_program().module()(X), SCALED)
    torch.testing.assert_close(result_of(changed.to_executorch()), SCALED)


def test_a_pass_takes_data_out_of_the_program_it_was_made_with() -> None:
    for before in ([], [Nothing()]):
        manager = edge()
        changed = manager.transform([*before, DropOffset(manager.exported_program())])
        torch.testing.assert_close(result_of(changed.to_executorch()), X)
        if before:  # else the pass said that it changed nothing, and did it in place
            assert "offset" not in changed.exported_program().state_dict


def test_a_pass_manager_sees_the_program_too() -> None:
    manager = edge()
    changed = manager.transform(PassManager([ScaleResult(manager.exported_program())]))
    torch.testing.assert_close(result_of(changed.to_executorch()), SCALED)


def test_passes_of_to_executorch_leave_the_manager_as_it_was() -> None:
    manager = edge()
    program = manager.exported_program()
    config = ExecutorchBackendConfig(passes=[Nothing(), ScaleResult(program)])
    for _ in range(2):
        torch.testing.assert_close(result_of(manager.to_executorch(config)), SCALED)
        assert manager.exported_program() is program and "factor" not in program.constants
        torch.testing.assert_close(program.module()(X), Model()(X))
    torch.testing.assert_close(result_of(manager.to_executorch()), Model()(X))
