# SPDX-License-Identifier: BSD-3-Clause
"""Delegated programs on x86 processors that are emulated, for which XNNPACK chooses other kernels and other orders of
packed weights than for the one at hand."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.test.corpus.row import Function
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.backends.xnnpack.test.ops_test import ROWS
from executorch.exir import to_edge_transform_and_lower
from executorch.test.e2e.cpp_calls import call_in_cpp

EMULATOR = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
pytestmark = [
    needs_runtime,
    pytest.mark.skipif(
        platform.machine() not in ("x86_64", "AMD64"), reason="not a processor of this family"
    ),
    pytest.mark.skipif(EMULATOR is None, reason="needs qemu-user-static (make setup)"),
]
# SSE4 alone; AVX; AVX2 with FMA; the same of another maker, for which kernels read four steps of the depth at a time.
PROCESSORS = ["Nehalem", "SandyBridge", "Haswell", "EPYC"]
NAN, INF = float("nan"), float("inf")

Case = tuple[str, nn.Module, tuple[torch.Tensor, ...]]


def products() -> list[Case]:
    """Matmuls of values and of weights, of every depth up to nine."""
    found: list[Case] = []
    for depth in range(1, 10):
        left, right = torch.randn(3, 4, depth), torch.randn(3, depth, 19)
        found.append((f"bmm_{depth}", Function(torch.bmm), (left, right)))
        found.append((f"linear_{depth}", nn.Linear(depth, 19), (torch.randn(5, depth),)))
    return found


def rows() -> list[Case]:
    return [(name, row.module(), row.inputs) for name, row in ROWS.items()]


def logarithms() -> list[Case]:
    values = torch.tensor([0.0, -0.0, 1e-30, 0.5, 1.0, 2e38, INF, -INF, -1.0, NAN, -NAN] * 3)
    return [("log_of_anything", Function(torch.log), (values,))]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Sequence[Case]]:
    """One program with a method for each case."""
    torch.manual_seed(0)
    cases = [*rows(), *products(), *logarithms()]
    methods = {name: torch.export.export(module.eval(), inputs) for name, module, inputs in cases}
    partitioner = {name: [XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)] for name in methods}
    path = tmp_path_factory.mktemp("processors") / "rows.pte"
    manager = to_edge_transform_and_lower(methods, partitioner=partitioner)
    path.write_bytes(manager.to_executorch().buffer)
    return path, cases


@pytest.mark.req("XQ-011")
@pytest.mark.parametrize("processor", PROCESSORS)
def test_rows_compute_what_eager_does(processor: str, program: tuple[Path, list[Case]]) -> None:
    path, cases = program
    assert EMULATOR is not None
    # Once more, in memory that the others have used.
    calls = [(name, inputs) for name, _, inputs in cases] * 2
    results = call_in_cpp(path, calls, emulator=(EMULATOR, "-cpu", processor))
    assert len(results) == 2 * len(cases)
    for (name, module, inputs), (found,) in zip([*cases, *cases], results, strict=True):
        with torch.no_grad():
            expected = module(*inputs)
        torch.testing.assert_close(
            found,
            expected,
            rtol=1e-4,
            atol=1e-5,
            equal_nan=True,
            msg=lambda text, name=name: f"{name} on {processor}: {text}",
        )
