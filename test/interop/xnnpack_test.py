# SPDX-License-Identifier: BSD-3-Clause
"""float32 programs for XNNPACK: upstream's run here, ours run there, and the numbers are eager's on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.backends.xnnpack.test.quantized_test import calls, converted
from executorch.examples.models import make_example
from executorch.exir import to_edge_transform_and_lower
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.e2e.programs import Calls, assert_same, run_in_python
from executorch.test.interop import peer
from executorch.test.interop.exchanged import Exported, Row, lowered_there

pytestmark = pytest.mark.interop

NAMES = ["mv2", "resnet18", "vit", "bert"]


@pytest.fixture(scope="module")
def theirs(program_store: ProgramStore, version: str) -> Path:
    """The peer's files."""
    return lowered_there(program_store, exported(program_store), version, "xnnpack")


def exported(store: ProgramStore) -> dict[Row, Exported]:
    return {(name, False): Exported(store, (name, False)) for name in NAMES}


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore, version: str
) -> Path:
    """What our files gave there."""
    folder = tmp_path_factory.mktemp("xnnpack")
    jobs = []
    for (name, _), example in exported(program_store).items():

        def make(made: Path, example: Exported = example) -> None:
            (program,) = example.programs().values()
            manager = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
            manager.to_executorch().save(str(made / "model.pte"))

        ours = program_store.folder(f"lowered here/{name} for XNNPACK", make) / "model.pte"
        given, _ = calls_and_answers(name)
        jobs.append(peer.run_job(ours, given, folder / f"{name}.out"))
    peer.do(jobs, folder, version)
    return folder


def calls_and_answers(name: str) -> tuple[Calls, list]:
    method = make_example(name, False).methods["forward"]
    leaves = torch.utils._pytree.tree_leaves
    given = [("forward", leaves(inputs)) for inputs in method.calls]
    return given, list(method.eager())


@needs_runtime
@pytest.mark.parametrize("name", NAMES)
def test_their_file_runs_here(name: str, theirs: Path) -> None:
    given, expected = calls_and_answers(name)
    assert_same(run_in_python(theirs / f"{name}.pte", given), expected)


@pytest.mark.parametrize("name", NAMES)
def test_our_file_runs_there(name: str, folder: Path) -> None:
    _, expected = calls_and_answers(name)
    results = torch.load(peer.result(folder / f"{name}.out"), weights_only=True)
    assert_same(results, expected)


# Convolutions over three dimensions, which upstream itself does not delegate; in float those that pay alone.
CONV3D = {
    "float": [nn.Conv3d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv3d(16, 16, (3, 1, 1))],
    "int8": [nn.Conv3d(16, 16, 3, 2, 1), nn.ReLU(), nn.ConvTranspose3d(16, 16, 3, 2, 1, 1)],
}


@pytest.mark.parametrize("precision", CONV3D)
def test_our_conv3d_runs_there(precision: str, tmp_path: Path, version: str) -> None:
    model, inputs = nn.Sequential(*CONV3D[precision]).eval(), (torch.randn(2, 16, 5, 6, 7),)
    if precision == "int8":
        model = converted(model, inputs)
    exported = torch.export.export(model, inputs)
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert calls(manager) == ["executorch_call_delegate"]
    manager.to_executorch().save(str(tmp_path / "conv3d.pte"))
    run = peer.run_job(tmp_path / "conv3d.pte", [("forward", list(inputs))], tmp_path / "out")
    peer.do([run], tmp_path, version)
    results = torch.load(peer.result(tmp_path / "out"), weights_only=True)
    expected = model(*inputs)
    quantum = (expected.max() - expected.min()).item() / 255 if precision == "int8" else 1e-5
    assert_same(results, [[expected]], atol=1.01 * quantum)
