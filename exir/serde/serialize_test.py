# SPDX-License-Identifier: BSD-3-Clause
"""A saved edge program comes back as the same program: it lowers to the same bytes."""

from __future__ import annotations

import io
import operator
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim, ExportedProgram, export

from executorch import exir
from executorch.exir import EdgeProgramManager, memory, to_edge
from executorch.exir.backend.test.op_partitioner_demo import (
    AddMulPartitionerDemo,
    AllNodesPartitionerDemo,
)
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.exir.serde import schema
from executorch.exir.serde.export_serialize import SerializeError
from executorch.exir.serde.serialize import (
    ExportedProgramDeserializer,
    ExportedProgramSerializer,
    deserialize,
    serialize,
)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.seen.add_(1)
        y = self.linear(x)
        largest, place = y.max(dim=1)
        return torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a * 2, (y,)), largest + place


X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
DYNAMIC = {"x": {0: Dim("n", min=2, max=8)}}


def through_a_file(program: ExportedProgram) -> ExportedProgram:
    stream = io.BytesIO()
    exir.save(program, stream)
    stream.seek(0)
    return exir.load(stream)


@pytest.mark.req("CMP-061")
@pytest.mark.parametrize("dynamic_shapes", [None, DYNAMIC], ids=["static", "dynamic"])
def test_an_edge_program_comes_back(dynamic_shapes: dict[str, dict[int, Dim]] | None) -> None:
    manager = to_edge(export(Net(), (X,), dynamic_shapes=dynamic_shapes))
    program = manager.exported_program()
    loaded = through_a_file(program)
    assert [str(n.target) for n in loaded.graph.nodes] == [
        str(n.target) for n in program.graph.nodes
    ]
    assert loaded.graph_signature == program.graph_signature
    lines = [n.meta.get("stack_trace") for n in program.graph.nodes if n.op == "call_function"]
    again = [n.meta.get("stack_trace") for n in loaded.graph.nodes if n.op == "call_function"]
    assert any(lines) and again == lines
    torch.testing.assert_close(loaded.module()(X), program.module()(X))
    assert EdgeProgramManager(loaded).to_executorch().buffer == manager.to_executorch().buffer


@pytest.mark.parametrize("partitioner", [AddMulPartitionerDemo, AllNodesPartitionerDemo])
def test_delegated_parts_come_back(partitioner: type) -> None:
    class Model(torch.nn.Module):
        def forward(self, a: torch.Tensor, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            y = torch.mm(a, x) + b
            return torch.mm(y - a, x) + b

    inputs = tuple(torch.randn(2, 2) for _ in range(3))
    manager = to_edge(export(Model(), inputs)).to_backend(partitioner())
    program = manager.exported_program()
    before = [node.meta["val"] for node in program.graph.nodes if "val" in node.meta]
    loaded = through_a_file(program)
    modules = get_lowered_backend_modules(program.graph_module)
    again = get_lowered_backend_modules(loaded.graph_module)
    assert [m.processed_bytes for m in again] == [m.processed_bytes for m in modules]
    assert [m.backend_id for m in again] == [m.backend_id for m in modules]
    torch.testing.assert_close(loaded.module()(*inputs), Model()(*inputs))
    assert EdgeProgramManager(loaded).to_executorch().buffer == manager.to_executorch().buffer
    assert [node.meta["val"] for node in program.graph.nodes if "val" in node.meta] == before


def test_files_with_extra_content(tmp_path: Path) -> None:
    program = to_edge(export(Net(), (X,))).exported_program()
    path = tmp_path / "net.pt2"
    exir.save(program, path, extra_files={"labels.txt": "cat dog"})
    found = {"labels.txt": ""}
    exir.load(path, extra_files=found)
    assert found == {"labels.txt": "cat dog"}


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.pt2"
    path.write_bytes(b"no archive")
    with pytest.raises(ExportError, match="expected a file that executorch.exir.save wrote"):
        exir.load(path)


def test_an_unknown_operator_is_named() -> None:
    artifact = serialize(to_edge(export(Net(), (X,))).exported_program())
    artifact.exported_program = artifact.exported_program.replace(
        b"#edge:aten.linear.default", b"#edge:nowhere.linear.default"
    )
    with pytest.raises(SerializeError, match=r"nowhere\.linear\.default is not registered"):
        deserialize(artifact)


class Cache(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 8, 2, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.ops.llama.update_cache(x, self.cache, 3)
        return self.cache * 2


READ = """
import sys, torch
from executorch.exir import load
program = load(sys.argv[1])
found = program.module()(torch.ones(1, 1, 2, 4))
print(found.sum().item(), found[0, 3].sum().item())
"""


def test_a_cache_that_is_written_comes_back_where_nothing_is_imported(tmp_path: Path) -> None:
    """A row of 2 x 4 ones, doubled."""
    import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  (defines the operator)

    edge = to_edge(export(Cache(), (torch.randn(1, 1, 2, 4),), strict=False))
    path = tmp_path / "cache.pt2"
    exir.save(edge.exported_program(), path)
    command = [sys.executable, "-c", READ, str(path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["16.0", "16.0"]


def test_the_parts_by_hand() -> None:
    program = to_edge(export(Net(), (X,))).exported_program()
    parts = ExportedProgramSerializer().serialize(program)
    assert isinstance(parts.exported_program, schema.ExportedProgram)
    loaded = ExportedProgramDeserializer().deserialize(
        parts.exported_program, parts.state_dict, parts.constants, parts.example_inputs
    )
    torch.testing.assert_close(loaded.module()(X), program.module()(X))


class Function(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function
        self.linear = torch.nn.Linear(3, 4)
        self.register_buffer("total", torch.zeros(2, 3))

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def count(m: Function, x: torch.Tensor) -> torch.Tensor:
    m.total.add_(x)
    return m.total * 2


PLANNED = {
    "weights": lambda m, x: m.linear(x).relu(),
    "two outs": lambda m, x: x.topk(2),
    "a list": lambda m, x: x.split(1)[1] + 1,
    "a list of one": lambda m, x: x.split(2)[0] + 1,
    "a view": lambda m, x: x.view(6) + 1,
    "a view by hand": lambda m, x: memory.view(x, [6]) + 1,
    "a branch": lambda m, x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y * 2, (x,)).sin(),
    "a buffer": count,
}


@pytest.mark.parametrize("name", PLANNED)
def test_a_planned_program_comes_back(name: str) -> None:
    """With calls of exir.memory and out variants; it computes the same."""
    module = Function(lambda m, x: tuple(torch.utils._pytree.tree_leaves(PLANNED[name](m, x))))
    program = to_edge(export(module, (X,))).to_executorch().exported_program()
    loaded = through_a_file(program)
    targets = [
        [node.target for node in each.graph.nodes if node.op == "call_function"]
        for each in (program, loaded)
    ]
    assert [t for t in targets[0] if t is not operator.getitem] == [
        t for t in targets[1] if t is not operator.getitem
    ]
    module.total.zero_()
    with torch.no_grad():  # out variants know no gradients
        torch.testing.assert_close(tuple(loaded.module()(X)), module(X))
