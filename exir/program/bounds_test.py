# SPDX-License-Identifier: BSD-3-Clause
"""Dimensions that were exported without an upper bound: refused, or bounded by `EdgeCompileConfig.max_dynamic_size`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import Dim, ExportedProgram, export

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.error import ExportError
from executorch.extension.pybindings.portable_lib import _load_program_from_buffer


class Scores(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.linear(x).relu() @ x.t(), -1)


def exported(dim: Any) -> tuple[torch.nn.Module, ExportedProgram]:
    torch.manual_seed(0)
    model = Scores().eval()
    return model, export(model, (torch.randn(5, 4),), dynamic_shapes=({0: dim},))


DIMS = {"minimum": Dim("n", min=1), "auto": Dim.AUTO, "dynamic": Dim.DYNAMIC}


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("partitioner", [None, XnnpackPartitioner()], ids=["kernels", "xnnpack"])
@pytest.mark.parametrize(("bound", "largest"), [(9, 9), ("example", 5)])
def test_a_bound_for_all(dim: str, partitioner: Any, bound: Any, largest: int) -> None:
    model, program = exported(DIMS[dim])
    config = EdgeCompileConfig(max_dynamic_size=bound)
    edge = to_edge_transform_and_lower(program, partitioner=partitioner, compile_config=config)
    method = _load_program_from_buffer(edge.to_executorch().buffer).load_method("forward")
    for size in (1, 2, largest):
        x = torch.randn(size, 4)
        torch.testing.assert_close(method.call([x])[0], model(x))
    least = 1 if dim == "minimum" else 0
    with pytest.raises(
        RuntimeError, match=f"dimension 0: expected {least} to {largest}, found {largest + 1}"
    ):
        method.call([torch.randn(largest + 1, 4)])


def test_without_one_the_message_names_the_option() -> None:
    _, program = exported(Dim.AUTO)
    with pytest.raises(ExportError, match="max_dynamic_size"):
        to_edge(program).to_executorch()
    with pytest.raises(ExportError, match="max_dynamic_size"):
        to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])


def test_the_given_program_keeps_its_ranges() -> None:
    _, program = exported(Dim.AUTO)
    before = str(program.range_constraints)
    for bound in (7, 20):  # the second is no less than it says
        edge = to_edge(program, compile_config=EdgeCompileConfig(max_dynamic_size=bound))
        (values,) = edge.exported_program().range_constraints.values()
        assert values.upper == bound
    assert str(program.range_constraints) == before


def test_own_bounds_stay() -> None:
    class Add(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x.sum() + y

    k = Dim("k")
    dims = ({0: Dim("n", max=100)}, {0: 2 * k})
    program = export(Add(), (torch.ones(30), torch.ones(4)), dynamic_shapes=dims)
    config = EdgeCompileConfig(max_dynamic_size=9)
    (plan,) = (
        to_edge(program, compile_config=config).to_executorch().executorch_program.execution_plan
    )
    sizes = [plan.values[i].val.sizes for i in plan.inputs]
    assert sizes == [[100], [8]]  # the largest multiple of 2


@pytest.mark.parametrize("bound", [0, -1, 2.0, True, "large", 2**31])
def test_bounds_that_are_none(bound: Any) -> None:
    _, program = exported(Dim.AUTO)
    with pytest.raises(ExportError, match="expected a size from 1 to 2147483647, or 'example'"):
        to_edge(program, compile_config=EdgeCompileConfig(max_dynamic_size=bound))


def test_a_bound_below_the_example() -> None:
    _, program = exported(Dim.AUTO)
    with pytest.raises(ExportError, match="is 4, but dimension 0 of input x is 5 in the example"):
        to_edge(program, compile_config=EdgeCompileConfig(max_dynamic_size=4))


def _rows_of_eight(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, 8, 3)


def _sums_of_pairs(x: torch.Tensor) -> torch.Tensor:
    return x.view(x.shape[0] // 2, 2, 3).sum(1)


@pytest.mark.parametrize(("function", "step"), [(_rows_of_eight, 8), (_sums_of_pairs, 2)])
def test_sizes_that_a_view_divides(function: Any, step: int) -> None:
    """Sizes of the view are s // c and s // (s // c): bounded by what the export found out, and refused at run time
    where they would come out as others."""

    class Call(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return function(x)

    program = export(Call(), (torch.ones(16, 3),), dynamic_shapes=({0: Dim.AUTO},))
    config = EdgeCompileConfig(max_dynamic_size=45)
    lowered = to_edge(program, compile_config=config).to_executorch()
    (plan,) = lowered.executorch_program.execution_plan
    assert plan.values[plan.inputs[0]].val.sizes == [45 // step * step, 3]
    method = _load_program_from_buffer(lowered.buffer).load_method("forward")
    for size in (16, 24, 45 // step * step):
        x = torch.randn(size, 3)
        torch.testing.assert_close(method.call([x])[0], function(x))
    with pytest.raises(RuntimeError, match=rf"expected {step} \* n \+ 0 .* found 13"):
        method.call([torch.ones(13, 3)])
