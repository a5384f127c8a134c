# SPDX-License-Identifier: BSD-3-Clause
"""`to_edge(p).to_backend(partitioner)` makes the delegates of `to_edge_transform_and_lower(p, partitioner=[...])`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export
from torch.nn import functional as F
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.skeleton.aot.partitioner import SkeletonPartitioner
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.exir.pass_base import ExportPass
from executorch.exir.program_copies import own_copy

IMAGE, ROWS = torch.randn(1, 4, 8, 8), torch.randn(2, 6)


class Of(nn.Module):
    """A function, with modules whose data it reads."""

    def __init__(self, function: Callable[..., Any], *modules: nn.Module) -> None:
        super().__init__()
        self.function, self.inner = function, nn.ModuleList(modules)

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*self.inner, *inputs)


def _program(
    function: Callable[..., Any], *modules: nn.Module, inputs: Any = (ROWS,)
) -> ExportedProgram:
    return export(Of(function, *modules).eval(), inputs)


def _quantized(is_dynamic: bool) -> ExportedProgram:
    module = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)).eval()
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=is_dynamic)
    prepared = prepare_pt2e(export(module, (ROWS,)).module(), XNNPACKQuantizer().set_global(config))
    prepared(ROWS)
    return export(convert_pt2e(prepared), (ROWS,))


def _apply(module: nn.Module, x: Tensor) -> Tensor:
    return module(x)


def _image(*modules: nn.Module) -> ExportedProgram:
    return _program(_apply, nn.Sequential(*modules), inputs=(IMAGE,))


def _dynamic() -> ExportedProgram:
    rows = {0: Dim("rows", min=1, max=9)}
    return export(
        nn.Sequential(nn.Linear(6, 5), nn.Hardswish()).eval(), (ROWS,), dynamic_shapes=[rows]
    )


def _recurrent() -> ExportedProgram:
    return _program(lambda cell, x: cell(x)[0], nn.LSTM(6, 4), inputs=(torch.randn(3, 1, 6),))


def _attention() -> ExportedProgram:
    heads = torch.randn(1, 2, 5, 4)
    return _program(
        lambda project, x: F.scaled_dot_product_attention(project(x), project(x), x),
        nn.Linear(4, 4),
        inputs=(heads,),
    )


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2, 6))
        self.linear = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1)
        return self.linear(x) + self.count


CASES: dict[str, Callable[[], ExportedProgram]] = {
    "linear": lambda: _program(_apply, nn.Sequential(nn.Linear(6, 5), nn.GELU(), nn.Linear(5, 2))),
    "convolutions": lambda: _image(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Hardswish()),
    "prelu": lambda: _image(nn.PReLU(4), nn.Conv2d(4, 4, 1)),
    "resized": lambda: _image(nn.Conv2d(4, 4, 1), nn.Upsample(scale_factor=2, mode="bilinear")),
    "nearest": lambda: _image(nn.Upsample(scale_factor=2), nn.Conv2d(4, 4, 1)),
    "attention": _attention,
    "recurrent": _recurrent,
    "static int8": lambda: _quantized(False),
    "dynamic int8": lambda: _quantized(True),
    "dynamic sizes": _dynamic,
    "a buffer": lambda: export(Counts(), (ROWS,)),
    "sums and products": lambda: _program(lambda x, y: x * y + x, inputs=(ROWS, ROWS)),
    "constants computed": lambda: _program(
        lambda layer, x: x + layer.weight.t() * 2.0, nn.Linear(2, 6)
    ),
    "twice the same": lambda: _program(lambda x: (torch.exp(x) + x, torch.exp(x) * x)),
    "split and joined": lambda: _program(lambda x: torch.cat([p * 2 for p in x.chunk(2, 1)], 1)),
}  # fmt: skip


def _delegates(manager: EdgeProgramManager) -> list[tuple[str, bytes]]:
    lowered = get_lowered_backend_modules(manager.exported_program().graph_module)
    return [(each.backend_id, bytes(each.processed_bytes)) for each in lowered]


@pytest.mark.parametrize("partitioner", [XnnpackPartitioner, SkeletonPartitioner])
@pytest.mark.parametrize("case", CASES)
def test_both_ways_make_the_same(case: str, partitioner: type) -> None:
    program = CASES[case]()
    at_once = to_edge_transform_and_lower(program, partitioner=[partitioner()])
    edge = to_edge(program)
    before = edge.exported_program().graph_module.code
    in_steps = edge.to_backend(partitioner())
    assert _delegates(in_steps) == _delegates(at_once)
    assert in_steps.to_executorch().buffer == at_once.to_executorch().buffer
    assert edge.exported_program().graph_module.code == before, "a manager stays as it is"


class Renamed(ExportPass):
    """Writes a graph anew, as it is."""


def _left(manager: EdgeProgramManager) -> list[str]:
    return [
        str(node.target)
        for node in manager.exported_program().graph.nodes
        if node.op == "call_function"
    ]


def test_what_was_changed_after_to_edge_is_lowered_as_it_is() -> None:
    """A hardswish is in pieces then; what a user has put into the graph is not lost."""
    program = _program(F.hardswish)
    whole = _delegates(to_edge(program).to_backend(XnnpackPartitioner()))
    for change in (_by_pass, _by_hand):
        edge = to_edge(program)
        changed = change(edge)
        assert _delegates(changed.to_backend(XnnpackPartitioner())) != whole
        kept = _delegates(to_edge(program).transform([]).to_backend(XnnpackPartitioner()))
        assert kept == whole, "no pass, no change"


def _by_pass(edge: EdgeProgramManager) -> EdgeProgramManager:
    return edge.transform([Renamed()])


def _by_hand(edge: EdgeProgramManager) -> EdgeProgramManager:
    graph = edge.exported_program().graph
    for node in graph.nodes:
        node.meta["seen by the user"] = True
    return edge


def test_a_second_backend_takes_what_the_first_has_left() -> None:
    program = CASES["sums and products"]()
    several = [SkeletonPartitioner(), XnnpackPartitioner()]
    at_once = to_edge_transform_and_lower(program, partitioner=several)
    in_steps = to_edge(program).to_backend(several[0]).to_backend(several[1])
    assert _delegates(in_steps) == _delegates(at_once) != []


def test_the_exported_program_stays_as_it_is() -> None:
    program = CASES["linear"]()
    before = own_copy(program).graph_module.code
    edge = to_edge(program)
    edge.to_backend(XnnpackPartitioner())
    edge.to_backend(SkeletonPartitioner())
    assert program.graph_module.code == before and "delegate" not in "".join(_left(edge))
