# SPDX-License-Identifier: BSD-3-Clause
"""Weights are packed once: the file's bytes are not kept beside them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.ops_test import needs_runtime
from executorch.exir import to_edge_transform_and_lower

MEASURE = """
import os, sys, torch
from executorch.extension.pybindings.portable_lib import _load_for_executorch
page = os.sysconf("SC_PAGESIZE")
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * page
x = torch.ones(1, 4096)
before = resident()
program = _load_for_executorch(sys.argv[1])
program.forward((x,))
print(resident() - before)
"""


@needs_runtime
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.req("XQ-009")
def test_memory_after_a_run_is_below_twice_the_weights(tmp_path: Path) -> None:
    module = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(2)))
    exported = torch.export.export(module, (torch.ones(1, 4096),))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    file = tmp_path / "linear.pte"
    manager.to_executorch().save(str(file))
    command = [sys.executable, "-c", MEASURE, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    weights = 2 * 4 * 4096 * 4096
    assert weights <= int(done.stdout) < 1.6 * weights
