# SPDX-License-Identifier: BSD-3-Clause
"""The measurement of resident memory sees the weights of a program come and go."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.examples.xnnpack import aot_compiler
from executorch.exir import to_edge_transform_and_lower
from tools.bench.resident import Resident, measure

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
WIDTH = 2048


@needs_runtime
@on_linux
@pytest.mark.machine("resident memory")
def test_weights_are_resident_until_their_program_is_unloaded(tmp_path: Path) -> None:
    exported = torch.export.export(torch.nn.Linear(WIDTH, WIDTH), (torch.ones(2, WIDTH),))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    program = tmp_path / "linear.pte"
    manager.to_executorch().save(str(program))
    found = measure(program)
    weights = 4 * WIDTH * WIDTH
    assert found.file == program.stat().st_size > weights
    assert found.planned >= 2 * 2 * 4 * WIDTH
    for resident in (found.once, found.thrice):
        assert weights < resident and found.ratio(resident) < 1.3
    assert found.unloaded < weights / 4


@needs_runtime
@pytest.mark.full
@on_linux
@pytest.mark.machine("resident memory")
@pytest.mark.parametrize("precision", ["fp32", "q8"])
@pytest.mark.parametrize("model", ["mv2", "resnet18", "vit", "bert"])
def test_networks_cost_little_more_than_their_files(
    model: str, precision: str, tmp_path: Path
) -> None:
    """A quarter of the file for filters that are kept transformed (Winograd's algorithm), and two megabytes: one of
    code that has run, and the backend's objects, 3 KB an operator."""
    quantize = ["--quantize"] if precision == "q8" else []
    aot_compiler.main(["--model_name", model, "--output_dir", str(tmp_path), *quantize])
    found = measure(tmp_path / f"{model}_xnnpack_{precision}.pte")
    assert found.once - found.planned <= 1.25 * found.file + 2e6


def test_the_ratio_leaves_out_what_is_planned() -> None:
    found = Resident(file=100, planned=20, once=135, thrice=140, unloaded=3)
    assert found.ratio(found.once) == 1.15 and found.ratio(found.thrice) == 1.2
