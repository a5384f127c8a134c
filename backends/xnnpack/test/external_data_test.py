# SPDX-License-Identifier: BSD-3-Clause
"""Weights of delegates in data files: each way to mark them moves all of them out of the program, and it runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram, export

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.passes.external_constants_pass import (
    delegate_external_constants_pass,
    delegate_external_constants_pass_unlifted,
)
from executorch.extension.pybindings.portable_lib import _load_for_executorch

X = torch.linspace(-1, 1, 192).reshape(3, 64)
Tag = Callable[[torch.fx.Node], str | None]


class Named(nn.Module):
    """Names that torch writes otherwise in a graph: of capitals, of a digit, equal in small letters; and a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.Conv_1a, self.conv_1A = nn.Linear(64, 64), nn.Linear(64, 64)
        self.layers = nn.Sequential(nn.Linear(64, 32), nn.ReLU())
        self.register_buffer("Mean", torch.linspace(1, 2, 64))
        self.table = torch.linspace(-1, 1, 64)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(self.conv_1A(self.Conv_1a(x) * self.Mean) + self.table)


def lower(program: ExportedProgram, *passes: object) -> EdgeProgramManager:
    return to_edge_transform_and_lower(
        program, transform_passes=list(passes) or None, partitioner=[XnnpackPartitioner()]
    )


def unlifted(strict: bool) -> Callable[[nn.Module, Tag], EdgeProgramManager]:
    def make(model: nn.Module, tag: Tag) -> EdgeProgramManager:
        module = export(model, (X,)).module()
        assert delegate_external_constants_pass_unlifted(module=module, gen_tag_fn=tag).modified
        return lower(export(module, (X,), strict=strict))

    return make


def exported(model: nn.Module, tag: Tag) -> EdgeProgramManager:
    program = export(model, (X,))
    assert delegate_external_constants_pass(program, gen_tag_fn=tag).modified
    return lower(program)


def among_passes(model: nn.Module, tag: Tag) -> EdgeProgramManager:
    program = export(model, (X,))
    return lower(program, partial(delegate_external_constants_pass, ep=program, gen_tag_fn=tag))


def of_edge_programs(model: nn.Module, tag: Tag) -> EdgeProgramManager:
    edge = to_edge(export(model, (X,)))
    program = edge.exported_program()
    delegate_external_constants_pass(program.graph_module, program, tag)
    return edge.to_backend(XnnpackPartitioner())


@needs_runtime
@pytest.mark.parametrize(
    "way",
    [unlifted(False), unlifted(True), exported, among_passes, of_edge_programs],
    ids=["unlifted", "unlifted strict", "exported", "among passes", "edge"],
)
@pytest.mark.parametrize(
    "make",
    [Named, lambda: nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))],
    ids=["names", "numbers"],
)
def test_all_weights_lie_in_the_data_file(
    way: Callable[..., EdgeProgramManager], make: Callable[[], nn.Module], tmp_path: Path
) -> None:
    model = make().eval()
    data = [*model.parameters(), *model.buffers()]
    program = way(model, lambda node: "weights").to_executorch()
    program.save(str(tmp_path / "model.pte"))
    program.write_tensor_data_to_file(str(tmp_path))
    assert [path.name for path in tmp_path.glob("*.ptd")] == ["weights.ptd"]
    assert (tmp_path / "weights.ptd").stat().st_size > sum(each.nbytes for each in data)
    # graph and header: the smallest of the weights has 8 KiB
    assert (tmp_path / "model.pte").stat().st_size < 4096
    method = _load_for_executorch(str(tmp_path / "model.pte"), str(tmp_path / "weights.ptd"))
    torch.testing.assert_close(method.forward((X,))[0], model(X), rtol=1e-4, atol=1e-5)


@needs_runtime
@pytest.mark.parametrize("way", [unlifted(False), exported], ids=["unlifted", "exported"])
def test_the_function_says_which_weights(
    way: Callable[..., EdgeProgramManager], tmp_path: Path
) -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)).eval()
    program = way(model, lambda node: "first" if "0" in node.name else None).to_executorch()
    program.save(str(tmp_path / "model.pte"))
    program.write_tensor_data_to_file(str(tmp_path))
    sizes = [path.stat().st_size for path in (tmp_path / "model.pte", tmp_path / "first.ptd")]
    assert all(64 * 64 * 4 < size < 1.5 * 64 * 64 * 4 for size in sizes), sizes


def test_a_graph_alone_does_not_say_what_is_data() -> None:
    with pytest.raises(TypeError, match="give the ExportedProgram, alone or as `ep`"):
        delegate_external_constants_pass(export(nn.Linear(2, 2), (torch.ones(2),)).graph_module)
