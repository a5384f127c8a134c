# SPDX-License-Identifier: BSD-3-Clause
"""Delegated files of both sides: upstream's run here, or say which backend they need; ours read the same there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings.portable_lib import (
    _load_for_executorch,
    _load_for_executorch_from_buffer,
)
from executorch.test.e2e.build_tree import load_demo_backends
from executorch.test.interop import peer

load_demo_backends()

pytestmark = pytest.mark.interop


class MmAdd(torch.nn.Module):
    def forward(self, a: torch.Tensor, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        z = torch.mm(a, x) + b
        return torch.mm(z - a, x) + b


INPUTS = (torch.randn(2, 2), torch.randn(2, 2), torch.randn(2, 2))
SEGMENTS = {"segment": True, "inline": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, version: str) -> Path:
    """All files of both sides, made in one process of the peer."""
    folder = tmp_path_factory.mktemp("delegates")
    exported = torch.export.export(MmAdd(), INPUTS)
    torch.export.save(exported, folder / "mm_add.pt2")
    jobs = []
    for name, segments in SEGMENTS.items():
        manager = to_edge(exported).to_backend(AddMulPartitionerDemo())
        config = ExecutorchBackendConfig(extract_delegate_segments=segments)
        manager.to_executorch(config).save(folder / f"{name}.pte")
        jobs.append(peer.read_job(folder / f"{name}.pte", folder / f"{name}.json"))
    methods = {"forward": folder / "mm_add.pt2"}
    for partitioner in ("demo", "xnnpack"):
        out = folder / f"{partitioner}.pte"
        jobs.append(peer.lower_job(methods, out, partitioner=partitioner))
    peer.do(jobs, folder, version)
    return folder


def test_upstreams_delegates_run_here(folder: Path) -> None:
    program = _load_for_executorch(str(peer.result(folder / "demo.pte")))
    torch.testing.assert_close(program.forward(INPUTS)[0], MmAdd()(*INPUTS))


@pytest.mark.parametrize("name", SEGMENTS)
def test_upstream_reads_our_delegates(folder: Path, name: str) -> None:
    found = json.loads(peer.result(folder / f"{name}.json").read_text())
    exported = torch.export.export(MmAdd(), INPUTS)
    program = to_edge(exported).to_backend(AddMulPartitionerDemo()).exported_program()
    expected = [
        [m.backend_id, {s.key: s.value.hex() for s in m.compile_specs}, m.processed_bytes.hex()]
        for m in get_lowered_backend_modules(program.graph_module)
    ]
    assert found == expected and len(found) == 2


@pytest.mark.req("PY-019")
def test_a_backend_that_is_not_here_is_named(folder: Path) -> None:
    """Under another name, so that this build's backends do not matter."""
    delegated = peer.result(folder / "xnnpack.pte").read_bytes()
    elsewhere = delegated.replace(b"XnnpackBackend", b"AnotherBackend")
    with pytest.raises(RuntimeError, match="Backend AnotherBackend is not registered"):
        _load_for_executorch_from_buffer(elsewhere).forward(INPUTS)
