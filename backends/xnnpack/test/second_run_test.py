# SPDX-License-Identifier: BSD-3-Clause
"""Layers of every kind beside a float matrix that only the second run packs: what the first one gave back is poisoned,
and no later run reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from executorch.test.e2e.cpp_calls import POISON, call_in_cpp

pytestmark = needs_runtime
RUNS = 3
SIDE = 6


class Beside(nn.Module):
    """`layer` of 96 channels, then a matrix of 384 KiB for each of its positions."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.matrix = layer, nn.Linear(96, 1024)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.matrix(self.layer(x).flatten(2).transpose(1, 2))


def _conv(kernel: int, **options: int) -> Callable[[], nn.Module]:
    return lambda: nn.Conv2d(96, 96, kernel, **options)


def _transposed(kernel: int, **options: int) -> Callable[[], nn.Module]:
    return lambda: nn.ConvTranspose2d(96, 96, kernel, **options)


# XNNPACK packs the filters of these in five ways, and looks up what is packed already in three.
LAYERS: dict[str, Callable[[], nn.Module]] = {
    "matrix": _conv(1),
    "3x3": _conv(3, padding=1),
    "groups": _conv(3, groups=12),
    "depthwise 3x3": _conv(3, padding=1, groups=96),
    "depthwise 7x7": _conv(7, padding=3, groups=96),
    "a factor for each channel": _conv(1, groups=96),
    "transposed 2x2": _transposed(2, stride=2),
    "transposed 3x3, stride 1": _transposed(3),
    "transposed, groups": _transposed(3, stride=2, groups=8),
    "prelu": lambda: nn.PReLU(96),
    "norm": lambda: nn.BatchNorm2d(96),
}


def check(model: nn.Module, x: torch.Tensor, path: Path, tolerance: float) -> None:
    exported = torch.export.export(model, (x,))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    path.write_bytes(manager.to_executorch().buffer)
    with torch.no_grad():
        expected = model(x)
    for (found,) in call_in_cpp(path, [("forward", [x])] * RUNS, **POISON):
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def drawn(kind: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    return Beside(LAYERS[kind]()).eval(), torch.randn(1, 96, SIDE, SIDE)


@pytest.mark.parametrize("kind", LAYERS)
def test_floats(kind: str, tmp_path: Path) -> None:
    check(*drawn(kind), tmp_path / "beside.pte", 1e-4)


@pytest.mark.parametrize("kind", ["matrix", "3x3", "depthwise 3x3", "transposed 2x2"])
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_int8_beside_a_float_matrix(kind: str, is_dynamic: bool, tmp_path: Path) -> None:
    """The scales of the int8 layer are read anew ahead of what is packed."""
    model, x = drawn(kind)
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=is_dynamic)
    quantizer = XNNPACKQuantizer().set_module_name("layer", config)
    check(_quantized(model, x, quantizer), x, tmp_path / "beside.pte", 2e-2)


def _quantized(model: nn.Module, x: torch.Tensor, quantizer: XNNPACKQuantizer) -> nn.Module:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    prepared = prepare_pt2e(torch.export.export(model, (x,)).module(), quantizer)
    prepared(x)
    return convert_pt2e(prepared)


@pytest.mark.parametrize("nodes", [1, 4])
@pytest.mark.parametrize("is_int8", [False, True], ids=["float", "int8"])
def test_parts_that_run_by_themselves_give_the_same_bits(is_int8: bool, nodes: int) -> None:
    """Delegates cut after every node, or a few: what lies between has memory of its own, and other sizes each run."""
    model, x = drawn("depthwise 3x3")
    sizes = None if is_int8 else ({0: torch.export.Dim("batch", min=1, max=4)},)
    example = x if is_int8 else x.repeat(2, 1, 1, 1)
    if is_int8:
        config = get_symmetric_quantization_config(is_per_channel=True)
        model = _quantized(model, x, XNNPACKQuantizer().set_global(config))
    exported = torch.export.export(model, (example,), dynamic_shapes=sizes)
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    data = manager.to_executorch().buffer
    whole, parts = (
        Runtime.get()
        .load_program(data, backend_options={"XnnpackBackend": {"segment_nodes": given}})
        .load_method("forward")
        for given in (0, nodes)
    )
    for batch in (1, 1) if is_int8 else (2, 4, 1, 2):
        given = torch.randn(batch, *x.shape[1:])
        assert torch.equal(whole.execute([given])[0], parts.execute([given])[0])
