# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that a call of Java's copies, counted below: a library before the others counts memcpy's and memmove's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.export import export

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.android.test.jvm import Jvm, sanitizer

COUNT = (1 << 18) + 3  # floats: copies of so many bytes are nobody's else
BYTES = 4 * COUNT


class Sum(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


def program(folder: Path, planned: bool) -> Path:
    """`planned`: inputs have memory of the method's own, into which they are copied, as is the default."""
    inputs = (torch.ones(COUNT), torch.ones(COUNT))
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_input=planned)
    )
    path = folder / f"sum_{planned}.pte"
    to_edge(export(Sum(), inputs)).to_executorch(config).save(path)
    return path


def copied_per_call(java: Jvm, counter: Path, *words: str) -> float:
    def copied(calls: int) -> int:
        environment = {"LD_PRELOAD": str(counter), "COPIES_LEAST": str(BYTES)}
        path, size, *more = words
        name = "org.pytorch.executorch.Copies"
        errors = java.run(name, path, size, str(calls), *more, environment=environment).stderr
        return int(re.findall(r"^copied (\d+) bytes$", errors, re.M)[-1])

    return (copied(30) - copied(10)) / 20


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None or sanitizer():
        pytest.skip("needs a C compiler, and a library that no sanitizer watches")
    library = tmp_path_factory.mktemp("copies") / "copies.so"
    # Without its own ideas of what a loop that copies is.
    options = ["-O2", "-fno-builtin", "-fno-tree-loop-distribute-patterns", "-shared", "-fPIC"]
    source = Path(__file__).with_name("copies.c")
    subprocess.run([compiler, *options, "-o", library, source], check=True)
    return library


def test_bytes_of_a_call(java: Jvm, counter: Path, tmp_path: Path) -> None:
    borrowed, size = str(program(tmp_path, planned=False)), str(COUNT)
    assert copied_per_call(java, counter, borrowed, size, "place") == 0
    assert copied_per_call(java, counter, borrowed, size) == BYTES, "the output"
    planned = str(program(tmp_path, planned=True))
    assert copied_per_call(java, counter, planned, size, "place") == 2 * BYTES, "the inputs"
