# SPDX-License-Identifier: BSD-3-Clause
"""Layers of int8 that kernels of ours compute: the numbers of XNNPACK's, bit by bit where inputs have one scale, and of
the definition where rows have scales of their own, as delegates have them (eager has one for all rows)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.test.needs_runtime import CPUINFO, needs_runtime
from executorch.devtools import Inspector
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Method, Runtime

pytestmark = needs_runtime

THEIRS = {"own_kernels_enabled": False}


def has_dots() -> bool:
    """Whether the processor multiplies bytes by an instruction; on Arm, sizes decide who computes."""
    return CPUINFO.exists() and "avx512_vnni" in CPUINFO.read_text().split()


def quantized(
    model: nn.Module, inputs: tuple, dynamic: bool, shapes=None
) -> torch.export.ExportedProgram:
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=dynamic)
    exported = torch.export.export(model.eval(), inputs, dynamic_shapes=shapes)
    prepared = prepare_pt2e(exported.module(), XNNPACKQuantizer().set_global(config))
    prepared(*inputs)
    return torch.export.export(convert_pt2e(prepared), inputs, dynamic_shapes=shapes)


def lowered(program: torch.export.ExportedProgram) -> bytes:
    lower = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    return lower.to_executorch().buffer


def loaded(buffer: bytes, options: dict | None = None) -> Method:
    more = {"backend_options": {"XnnpackBackend": options}} if options else {}
    return Runtime.get().load_program(buffer, **more).load_method("forward")


def steps(buffer: bytes, inputs: tuple, folder: Path) -> list[str]:
    program = Runtime.get().load_program(buffer, enable_etdump=True)
    program.load_method("forward").execute(list(inputs))
    program.write_etdump_result_to_file(str(folder / "e.etdp"), str(folder / "e.bin"))
    blocks = Inspector(etdump_path=str(folder / "e.etdp")).event_blocks
    return [e.name.split(" #")[0] for block in blocks for e in block.events if "#" in e.name]


def by_rows(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """A row from its smallest number, or 0, to its largest in 255 steps; weights by channel from -127 to 127."""
    low, high = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
    steps = 255 / (high - low)
    is_low = (low + high) * steps > 1  # of both ends, the one whose zero point loses less
    zero = torch.where(is_low, -128 - low * steps, 127 - high * steps).clamp(-128, 127).round()
    rows = ((x * steps).round() + zero).clamp(-128, 127) - zero
    scale = layer.weight.abs().amax(1, keepdim=True) / 127
    result = (rows.double() @ (layer.weight / scale).round().double().T).float() / steps * scale.T
    return result if layer.bias is None else result + layer.bias


def conv(inputs: int, outputs: int, size: int, **more) -> nn.Module:
    return nn.Conv2d(inputs, outputs, size, **more)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = conv(24, 24, 3, padding=1), conv(24, 24, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class Shared(nn.Module):
    """Rows that become int8 once, for three layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(48, 40, bias=i != 1) for i in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b, c = (layer(x) for layer in self.layers)
        return torch.sigmoid(a) * b + c


# A network, the sizes of its input, and how many of its steps are ours.
STATIC: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], int]] = {
    "pixels": (lambda: conv(16, 16, 1), (2, 16, 9, 7), 1),
    "picture": (lambda: conv(3, 20, 3, stride=2, padding=1), (1, 3, 33, 20), 1),
    "large filter": (lambda: conv(5, 33, 7, padding=3), (1, 5, 12, 12), 1),
    "one row": (lambda: nn.Linear(70, 30), (1, 70), 1),
    "groups": (lambda: conv(32, 64, 3, groups=8), (1, 32, 10, 9), 1),
    "odd groups": (lambda: conv(21, 15, 3, padding=1, groups=3), (1, 21, 8, 9), 1),
    "dilated": (lambda: conv(20, 24, 3, padding=2, dilation=2), (1, 20, 9, 11), 1),
    "depthwise": (lambda: conv(40, 40, 3, padding=1, groups=40), (2, 40, 9, 12), 1),
    "depthwise of 49 taps": (lambda: conv(70, 70, 7, padding=3, groups=70), (1, 70, 11, 10), 1),
    "residual": (Residual, (1, 24, 8, 8), 2),
    "bounds": (lambda: nn.Sequential(conv(16, 24, 1), nn.ReLU6()), (1, 16, 6, 6), 1),
}
LINEAR: dict[str, tuple[Callable[[], nn.Linear], tuple[int, ...]]] = {
    "rows": (lambda: nn.Linear(64, 40), (33, 64)),
    "one row": (lambda: nn.Linear(100, 300, bias=False), (1, 100)),
    "batches": (lambda: nn.Linear(24, 17), (2, 5, 24)),
}
DYNAMIC: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "shared": (Shared, (9, 48)),
    "images": (lambda: nn.Sequential(conv(8, 12, 3, padding=1), nn.ReLU()), (3, 8, 9, 7)),
    "groups": (lambda: conv(24, 36, 3, stride=2, groups=6), (2, 24, 9, 9)),
    "two large groups": (lambda: conv(128, 192, 3, groups=2), (1, 128, 7, 8)),
    "signals": (lambda: nn.Conv1d(20, 33, 5, padding=2), (1, 20, 50)),
    "gelu": (lambda: nn.Sequential(nn.Linear(96, 384), nn.GELU(), nn.Linear(384, 96)), (50, 96)),
}


@pytest.mark.parametrize("name", STATIC)
def test_static_layers_have_the_numbers_of_xnnpack(name: str, tmp_path: Path) -> None:
    make, sizes, count = STATIC[name]
    torch.manual_seed(0)
    inputs = (torch.randn(sizes),)
    program = quantized(make(), inputs, dynamic=False)
    buffer = lowered(program)
    method = loaded(buffer)
    method.execute(list(inputs))
    ours = method.execute(list(inputs))[0]
    assert torch.equal(ours, loaded(buffer, THEIRS).execute(list(inputs))[0])
    assert torch.equal(ours, loaded(buffer, {"segment_nodes": 1}).execute(list(inputs))[0])
    expected = program.module()(*inputs)
    step = (expected.max() - expected.min()) / 200  # of the output's integers, at most
    assert (ours - expected).abs().max() <= step
    if has_dots():
        own = [each for each in steps(buffer, inputs, tmp_path) if "(INT8" in each]
        assert len(own) == count


@pytest.mark.parametrize("name", LINEAR)
@torch.no_grad()
def test_rows_have_scales_of_their_own(name: str, tmp_path: Path) -> None:
    make, sizes = LINEAR[name]
    torch.manual_seed(0)
    layer, x = make(), torch.randn(sizes) * torch.linspace(0.1, 9, sizes[-2])[:, None]
    buffer = lowered(quantized(layer, (x,), dynamic=True))
    ours, expected = loaded(buffer).execute([x])[0], by_rows(layer, x)
    assert (ours - expected).norm() <= 1e-5 * expected.norm()
    if has_dots():
        assert steps(buffer, (x,), tmp_path) == ["Quantize rows (INT8)", "Matmul (INT8 by rows)"]


@pytest.mark.parametrize("name", DYNAMIC)
def test_networks_of_dynamic_layers_are_near_xnnpack(name: str, tmp_path: Path) -> None:
    make, sizes = DYNAMIC[name]
    torch.manual_seed(0)
    inputs = (torch.randn(sizes),)
    buffer = lowered(quantized(make(), inputs, dynamic=True))
    ours = loaded(buffer).execute(list(inputs))[0]
    theirs = loaded(buffer, THEIRS).execute(list(inputs))[0]
    assert (ours - theirs).norm() <= 5e-3 * theirs.norm()
    if has_dots():
        assert not any("QD8" in each for each in steps(buffer, inputs, tmp_path))


@torch.no_grad()
def test_rows_that_change_in_number() -> None:
    torch.manual_seed(0)
    rows = torch.export.Dim("rows", min=1, max=64)
    layer = nn.Linear(40, 24)
    method = loaded(lowered(quantized(layer, (torch.randn(8, 40),), True, ({0: rows},))))
    for count in (8, 64, 1, 33):
        x = torch.randn(count, 40)
        expected = by_rows(layer, x)
        assert (method.execute([x])[0] - expected).norm() <= 1e-5 * expected.norm()


def test_two_delegates_share_what_is_packed() -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(1, 24, 8, 8),)
    buffer = lowered(quantized(Residual(), inputs, dynamic=False))
    first, second = loaded(buffer), loaded(buffer)
    for _ in range(2):
        assert torch.equal(first.execute(list(inputs))[0], second.execute(list(inputs))[0])
