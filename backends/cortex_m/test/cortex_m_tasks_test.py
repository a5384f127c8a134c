# SPDX-License-Identifier: BSD-3-Clause
"""Four tiny networks, trained on tasks of our own, in int8 by the kernels beside themselves in floats."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.cortex_m.passes.edge_config import edge_config
from executorch.backends.cortex_m.test.lowered import lowered, quantized
from executorch.backends.cortex_m.test.tiny_tasks import TASKS
from executorch.exir import to_edge
from executorch.runtime import Runtime

pytestmark = pytest.mark.full


def by_kernels(model: nn.Module, samples: Tensor, given: Tensor) -> Tensor:
    """In int8, calibrated with `samples`."""
    first, *rest = (each[None].clone(memory_format=torch.preserve_format) for each in samples)
    stored = quantized(model, first, samples=[(each,) for each in rest])
    captured = torch.export.export(stored, (first,))
    edge = lowered(to_edge(captured, compile_config=edge_config()))
    program = Runtime.get().load_program(edge.to_executorch().buffer)
    method = program.load_method("forward")
    return torch.cat([method.execute((each[None],))[0].clone() for each in given])


@pytest.mark.req("ARM-037", "ARM-039")
@pytest.mark.parametrize("name", TASKS)
def test_int8_tells_as_much_right_as_floats(name: str) -> None:
    """Calibrated with 32 samples, asked about 300 others."""
    task = TASKS[name]
    model = task.trained()
    (calibration, _), (given, labels) = task.samples(32, 2), task.samples(300, 3)
    with torch.no_grad():
        floats = model(given)
    stored = by_kernels(model, calibration, given)
    right = [task.accuracy(each, given, labels) for each in (floats, stored)]
    signal = 10 * torch.log10(floats.square().sum() / (floats - stored).square().sum())
    print(f"| {name} | {right[0]:.1%} | {right[1]:.1%} | {signal:.1f} |")
    assert right[0] > 0.7  # it has learned the task, so that there is something to lose
    assert right[1] > right[0] - 0.02
