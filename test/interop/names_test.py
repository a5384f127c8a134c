# SPDX-License-Identifier: BSD-3-Clause
"""Programs with names of inputs and outputs, least sizes and free text, on upstream's runtime, which skips them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim, export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.test.interop import peer

pytestmark = pytest.mark.interop


class Named(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, image: torch.Tensor, *, mask: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"logits": self.linear(image) * mask, "sum": image.sum(1)}


INPUTS = (torch.randn(2, 4), torch.randn(2, 3))


@pytest.mark.parametrize("partitioner", [None, XnnpackPartitioner()], ids=["kernels", "xnnpack"])
def test_upstream_runs_a_program_with_names(tmp_path: Path, partitioner: Any, version: str) -> None:
    model = Named().eval()
    batch = {0: Dim("batch", max=8)}
    program = export(
        model,
        INPUTS[:1],
        {"mask": INPUTS[1]},
        dynamic_shapes={"image": batch, "mask": batch},
    )
    lowered = to_edge_transform_and_lower(program, partitioner=partitioner).to_executorch(
        ExecutorchBackendConfig(user_metadata={"labels": ["one", "two", "three"]})
    )
    (plan,) = lowered.executorch_program.execution_plan
    assert plan.input_names == ["image", "mask"] and plan.output_names == ["logits", "sum"]
    assert plan.output_dimensions == [0, 0, 0, 1, 0, 0]
    path = tmp_path / "named.pte"
    lowered.save(path)
    calls = [("forward", INPUTS), ("forward", tuple(torch.cat([each, each]) for each in INPUTS))]
    peer.do([peer.run_job(path, calls, path.with_suffix(".out"))], tmp_path, version)
    for (_, (image, mask)), got in zip(
        calls, torch.load(peer.result(path.with_suffix(".out"))), strict=True
    ):
        expected = model(image, mask=mask)
        torch.testing.assert_close(list(got), [expected["logits"], expected["sum"]])
