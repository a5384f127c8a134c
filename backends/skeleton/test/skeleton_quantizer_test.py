# SPDX-License-Identifier: BSD-3-Clause
"""A model quantized for the backend is delegated and gives what PyTorch gives of it; one that was not calibrated is
said to be."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor, nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.skeleton.aot.partitioner import SkeletonPartitioner
from executorch.backends.skeleton.aot.quantizer import SkeletonQuantizer
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.lowering.quantizer.configs import quantization_config


class Model(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return (x + y) * x


INPUTS = (torch.linspace(-2, 2, 12).view(3, 4), torch.linspace(1, 3, 12).view(3, 4))


def lowered(is_calibrated: bool) -> tuple[nn.Module, EdgeProgramManager]:
    captured = torch.export.export(Model(), INPUTS).module()
    prepared = prepare_pt2e(captured, SkeletonQuantizer().set_global(quantization_config()))
    if is_calibrated:
        prepared(*INPUTS)
    converted = convert_pt2e(prepared)
    program = torch.export.export(converted, INPUTS)
    return converted, to_edge_transform_and_lower(program, partitioner=[SkeletonPartitioner()])


def test_what_is_quantized_is_delegated() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        converted, edge = lowered(is_calibrated=True)
    names = [str(node.target) for node in edge.exported_program().graph.nodes]
    assert not any("aten.add" in name or "aten.mul" in name for name in names)
    assert (
        sum("quantize_per_tensor" in name for name in names) >= 6
    )  # of x, y, the sum, the product
    found, expected = edge.exported_program().module()(*INPUTS), converted(*INPUTS)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    # results from -1.1 to 10 in 255 steps; each rounding before adds its own
    torch.testing.assert_close(found, Model()(*INPUTS), rtol=0, atol=0.12)


@pytest.mark.filterwarnings("ignore:must run observer")
def test_a_model_that_saw_nothing_is_said_to_be_uncalibrated() -> None:
    with pytest.warns(UserWarning, match="as of an observer that saw no values"):
        lowered(is_calibrated=False)
