# SPDX-License-Identifier: BSD-3-Clause
"""Weights are packed once, the file's bytes are not kept beside them, and unloading gives all of it back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import to_edge_transform_and_lower

WIDTH = 2048
WEIGHTS = 2 * 4 * WIDTH * WIDTH
SIXTEENTH = WEIGHTS // 16

COUNT = """
import gc, json, os, sys, torch
from executorch.extension.pybindings.portable_lib import _load_for_executorch
page = os.sysconf("SC_PAGESIZE")
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * page
"""
CYCLES = f"""
x = torch.ones(1, {WIDTH})
def load():
    program = _load_for_executorch(sys.argv[1])
    program.forward((x,))
    return program
before = resident()
program = load()
one = resident()
other = load()
two = resident()
del program, other
gc.collect()
for _ in range(100):
    load()
gc.collect()
print(json.dumps([each - before for each in (one, two, resident())]))
"""
SIDE = 80
ACTIVATIONS = 4 * 256 * SIDE * SIDE
RUNS = f"""
x = torch.ones(1, 256, {SIDE}, {SIDE}).to(memory_format=torch.channels_last)
program = _load_for_executorch(sys.argv[1])
program.forward((x,))
once = resident()
program.forward((x,))
print(resident() - once)
"""


def _save(module: torch.nn.Module, x: torch.Tensor, file: Path) -> None:
    exported = torch.export.export(module, (x,))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    manager.to_executorch().save(str(file))


def _measured(script: str, file: Path) -> object:
    command = [sys.executable, "-c", COUNT + script, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@needs_runtime
@pytest.mark.machine("resident memory")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.req("XQ-009")
def test_memory_of_weights(tmp_path: Path) -> None:
    module = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(2)))
    file = tmp_path / "linear.pte"
    _save(module, torch.ones(1, WIDTH), file)
    one, two, unloaded = _measured(CYCLES, file)
    assert WEIGHTS <= one < 1.15 * file.stat().st_size
    assert two - one < SIXTEENTH, "a second program with the same weights"
    assert unloaded < SIXTEENTH * 2, "after a hundred loads"


@needs_runtime
@pytest.mark.machine("resident memory")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_activations_stay_after_a_first_run_that_does_not_pack(tmp_path: Path) -> None:
    layers = *(torch.nn.Conv2d(256, 256, 1) for _ in range(3)), torch.nn.AdaptiveAvgPool2d(1)
    x = torch.ones(1, 256, SIDE, SIDE).to(memory_format=torch.channels_last)
    file = tmp_path / "convolutions.pte"
    _save(torch.nn.Sequential(*layers), x, file)
    assert _measured(RUNS, file) > ACTIVATIONS, "two of them come back for the second run"
