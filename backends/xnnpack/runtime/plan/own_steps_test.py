# SPDX-License-Identifier: BSD-3-Clause
"""Delegates of which kernels of ours compute some nodes, between parts that XNNPACK runs: matmuls and convolutions,
wherever they stand in a graph, with elementwise nodes behind them. Expected are eager's numbers, infinities that spread
as only Winograd's algorithm spreads them, and events that say what was one step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.devtools import Inspector
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Method, Runtime

pytestmark = needs_runtime


def conv(inputs: int = 32, outputs: int = 32) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1)


def depthwise(channels: int = 96, taps: int = 3) -> nn.Conv2d:
    return nn.Conv2d(channels, channels, taps, padding=taps // 2, groups=channels)


class Residual(nn.Module):
    """Two of them in a row, a sum of what the first reads and the second writes, with and without bounds."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = conv(), conv()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + self.second(self.first(x).relu())).clamp(-0.5, 6)


class Shared(nn.Module):
    """One filter for two nodes, the first of which is an output, too."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = conv()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first = self.layer(x)
        return first, self.layer(first)


class Branches(nn.Module):
    """Beside a convolution that XNNPACK computes and a matrix that its first run does not pack."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = conv(32, 48), nn.Conv2d(32, 48, 3, 2, padding=1)
        self.matrix = nn.Linear(48, 2048)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left = nn.functional.max_pool2d(self.left(x), 2)
        return self.matrix((left + self.right(x)).mean((2, 3)))


NETWORKS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "alone": (conv, 1),
    "residual": (Residual, 2),
    "shared": (Shared, 2),
    "branches": (Branches, 1),
    "uneven": (lambda: nn.Sequential(conv(19, 50), nn.ReLU6(), conv(50, 33)), 2),
}


OPTIONS: list[dict[str, bool | int]] = [
    {},
    {"weight_cache_enabled": False},
    {"segment_nodes": 1},
    {"winograd_enabled": False},
    {"own_kernels_enabled": False},
]


class Gated(nn.Module):
    """A layer whose result is read twice: x * sigmoid(x)."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(24, 40)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(self.layer(x))


class Sums(nn.Module):
    """Behind each layer an operand of another kind: a tensor, a row, a number of each image, one number."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(24, 24, 1) for _ in range(4))
        self.row = nn.Parameter(torch.randn(1, 24, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = x.mean((2, 3), keepdim=True)
        y = (x + self.layers[0](x)).clamp(-1, 1)
        y = self.row * self.layers[1](y)
        y = self.layers[2](y) * gate
        return (2.5 - self.layers[3](y)).tanh()


class OfConstant(nn.Module):
    """Layers that read what is known, too: positions of a table, and a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Buffer(torch.randn(7, 24))
        self.picture = nn.Buffer(torch.randn(1, 24, 5, 5))
        self.layer, self.conv, self.by_channel = (
            nn.Linear(24, 40),
            nn.Conv2d(24, 40, 3),
            depthwise(24),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        picture = self.conv(self.picture).sum() + self.by_channel(self.picture).sum()
        return self.layer(x) * self.layer(self.table).abs() + picture


class Kept(nn.Module):
    """What lies between the layer and the last node is a result, too."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(24, 40)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.layer(x).abs()
        return y, y.neg()


class Tridents(nn.Module):
    """One filter with strides and dilations of several kinds, as in TridentNet."""

    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(0.05 * torch.randn(80, 128, 3, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        conv = nn.functional.conv2d
        y = conv(x, self.filter, None, 2, 1)
        y = y + conv(x, self.filter, None, 2, 2, 2)
        return y + conv(x, self.filter, None, 2, 3, 3)


class Products(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = x @ x.transpose(1, 2) * 0.3 + x.new_ones(9, 1)
        return (weights @ x).abs()


def activated(activation: nn.Module) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(nn.Linear(24, 40, bias=False), activation)


class Named(nn.Module):
    """A function of torch's behind a layer."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.layer, self.function = nn.Linear(24, 40), function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self.layer(x))


def times(function: Callable[[torch.Tensor], torch.Tensor], count: int) -> Callable:
    def repeated(x: torch.Tensor) -> torch.Tensor:
        for _ in range(count):
            x = function(x)
        return x

    return repeated


# A network, the sizes of its input, and the nodes of its steps of ours.
LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], list[str]]] = {
    "linear": (lambda: nn.Linear(24, 40), (7, 24), ["Matmul"]),
    "one row": (lambda: nn.Linear(300, 1000), (1, 300), ["Matmul"]),
    "batches": (lambda: nn.Linear(24, 40), (3, 7, 24), ["Matmul"]),
    "pixels": (lambda: nn.Conv2d(24, 40, 1), (2, 24, 5, 6), ["Matmul"]),
    "bounds": (activated(nn.ReLU6()), (7, 24), ["Matmul"]),
    "gated": (Gated, (50, 24), ["Matmul + Sigmoid + Multiply"]),
    "rows": (
        lambda: Named(lambda x: x * torch.linspace(-1, 1, 40) + torch.linspace(2, 1, 40)),
        (70, 24),
        ["Matmul + Multiply + Add"],
    ),
    "sums": (
        Sums,
        (2, 24, 9, 10),
        [
            "Mean",
            "Matmul + Add",
            "Matmul + Multiply",
            "Matmul + Multiply",
            "Matmul + Subtract + Tanh",
        ],
    ),
    "means": (lambda: Named(lambda x: x.mean((2, 3))), (3, 24, 7, 24), ["Matmul", "Mean"]),
    "means of rows": (
        lambda: Named(lambda x: x * x.mean(-1, keepdim=True)),
        (50, 24),
        ["Matmul", "Mean"],
    ),
    "of a constant": (OfConstant, (7, 24), ["Matmul + Multiply + Add"]),
    "kept": (Kept, (7, 24), ["Matmul + Abs"]),
    "ten": (lambda: Named(times(torch.abs, 10)), (7, 24), ["Matmul" + 8 * " + Abs"]),
    "elu": (activated(nn.ELU(0.7)), (7, 24), ["Matmul + ELU"]),
    "gelu": (activated(nn.GELU()), (7, 24), ["Matmul + Gelu"]),
    "hardswish": (activated(nn.Hardswish()), (7, 24), ["Matmul + Hardswish"]),
    "leaky": (activated(nn.LeakyReLU(0.3)), (7, 24), ["Matmul + LeakyReLU"]),
    "ceil": (lambda: Named(torch.ceil), (7, 24), ["Matmul + Ceiling"]),
    "floor": (lambda: Named(torch.floor), (7, 24), ["Matmul + Floor"]),
    "cos": (lambda: Named(torch.cos), (7, 24), ["Matmul + Cos"]),
    "sin": (lambda: Named(torch.sin), (7, 24), ["Matmul + Sin"]),
    "neg": (lambda: Named(torch.neg), (7, 24), ["Matmul + Negate"]),
    "exp": (lambda: Named(torch.exp), (7, 24), ["Matmul + Exp"]),
    "log": (lambda: Named(lambda x: (x.abs() + 1).log()), (7, 24), ["Matmul + Abs + Add + Log"]),
    "roots": (
        lambda: Named(lambda x: (x.square() + 1).sqrt().rsqrt()),
        (7, 24),
        ["Matmul + Square + Add + SquareRoot + ReciprocalSquareRoot"],
    ),
    "quotient": (
        lambda: Named(lambda x: x / (x.square() + 2)),
        (7, 24),
        ["Matmul + Square + Add + Div"],
    ),
    "two values": (
        Products,
        (3, 9, 24),
        ["Batch matmul + Multiply + Add", "Batch matmul + Abs"],
    ),
    "stride": (
        lambda: nn.Sequential(nn.Conv2d(24, 40, 3, 2, 1), nn.SiLU(), nn.Conv2d(40, 8, 1, 2)),
        (2, 24, 9, 10),
        ["Convolution + Sigmoid + Multiply", "Convolution"],
    ),
    "one filter": (
        Tridents,
        (1, 128, 9, 11),
        ["Convolution", "Convolution + Add", "Convolution + Add"],
    ),
    "dilation": (lambda: nn.Conv2d(24, 40, (2, 3), 1, 2, 2), (1, 24, 9, 8), ["Convolution"]),
    "groups": (lambda: nn.Conv2d(24, 48, 3, groups=3), (2, 24, 9, 8), ["Convolution"]),
    "patches": (
        lambda: nn.Sequential(nn.Conv2d(3, 40, 4, 4), nn.ReLU6()),
        (2, 3, 16, 20),
        ["Convolution"],
    ),
    "one dimension": (
        lambda: nn.Sequential(nn.Conv1d(3, 40, 7, 2, 3), nn.ELU()),
        (1, 3, 300),
        ["Convolution + StaticReshape + ELU"],
    ),
    "by channel": (
        lambda: nn.Sequential(nn.Conv2d(24, 24, 3, 2, 1, groups=24), nn.Hardswish()),
        (2, 24, 15, 20),
        ["Depthwise convolution + Hardswish"],
    ),
    "bottleneck": (
        lambda: nn.Sequential(
            nn.Conv2d(16, 96, 1), nn.ReLU6(), depthwise(), nn.ReLU6(), nn.Conv2d(96, 24, 1)
        ),
        (1, 16, 40, 41),
        ["Matmul", "Depthwise convolution", "Matmul"],
    ),
    "by channel of one dimension": (
        lambda: nn.Conv1d(24, 24, 31, 1, 15, groups=24),
        (1, 24, 77),
        ["Depthwise convolution + StaticReshape"],
    ),
    "pool": (
        lambda: nn.Sequential(nn.Conv2d(24, 40, 1), nn.MaxPool2d(3, 2, 1), nn.Hardswish()),
        (2, 24, 15, 20),
        ["Matmul", "Max pool + Hardswish"],
    ),
    "between": (
        lambda: Named(lambda x: torch.minimum(torch.maximum(x, -x), x * x)),
        (7, 24),
        ["Matmul + Negate + Maximum + Multiply + Minimum"],
    ),
}


def lowered(module: nn.Module, x: torch.Tensor, **options: object) -> bytes:
    exported = torch.export.export(module.eval(), (x,), **options)
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    return manager.to_executorch().buffer


def own_steps(data: bytes, x: torch.Tensor, folder: Path) -> list[str]:
    """Nodes of the steps that kernels of ours compute, by the events of a run."""
    program = Runtime.get().load_program(data, enable_etdump=True)
    program.load_method("forward").execute([x])
    program.write_etdump_result_to_file(folder / "run.etdp", folder / "debug.bin")
    blocks = Inspector(etdump_path=str(folder / "run.etdp")).event_blocks
    names = [event.name for block in blocks for event in block.events]
    own = [name.split(" #")[0] for name in names if " (F32)" in name]
    return [name.replace(" (F32)", "").replace("XNN", "") for name in own]


def loaded(data: bytes, **options: bool | int) -> Method:
    program = Runtime.get().load_program(data, backend_options={"XnnpackBackend": options})
    return program.load_method("forward")


def check(method: Method, module: nn.Module, x: torch.Tensor) -> None:
    with torch.no_grad():
        expected = module(x)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for found, wanted in zip(method.execute([x]), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_are_eagers(name: str) -> None:
    """In three runs, with the whole process' packed weights and without, cut elsewhere, too; and as sums."""
    torch.manual_seed(0)
    module = NETWORKS[name][0]()
    channels = 19 if name == "uneven" else 32
    x = torch.randn(1, channels, 16, 14)
    data = lowered(module, x)
    for options in OPTIONS:
        method = loaded(data, **options)
        for _ in range(3):
            check(method, module, torch.randn_like(x))


@pytest.mark.parametrize("make", [Residual, lambda: depthwise(32, 5)])
def test_sizes_change_with_each_run(make: Callable[[], nn.Module]) -> None:
    torch.manual_seed(0)
    module = make()
    sizes = {
        2: torch.export.Dim("height", min=4, max=40),
        3: torch.export.Dim("width", min=4, max=40),
    }
    method = loaded(lowered(module, torch.randn(1, 32, 16, 14), dynamic_shapes=(sizes,)))
    for height, width in ((16, 14), (5, 4), (40, 33), (16, 14)):
        check(method, module, torch.randn(1, 32, height, width))


def test_halves_are_rounded_at_arguments_alone() -> None:
    """Where the processor computes in float32 what the model has in half precision."""
    torch.manual_seed(0)
    module, x = (
        nn.Sequential(conv(), nn.ReLU(), conv(), nn.ReLU(), conv()),
        torch.randn(1, 32, 12, 12),
    )
    found = loaded(lowered(module.half(), x.half())).execute([x.half()])[0]
    with torch.no_grad():
        expected = module.float()(x.half().float())
    torch.testing.assert_close(found.float(), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_kernel_of_ours_computes_it(name: str) -> None:
    """An infinite pixel makes NaN of the tiles that it is in; as sums, it stays what it is."""
    torch.manual_seed(0)
    module = NETWORKS[name][0]()
    for each in module.modules():
        if isinstance(each, nn.Conv2d):
            each.weight.data.abs_()  # no window has infinities of both signs
    x = torch.randn(1, 19 if name == "uneven" else 32, 16, 14)
    data = lowered(module, x)
    x[0, 3, 6, 7] = float("inf")
    assert loaded(data).execute([x])[0].isnan().any()
    assert (
        not loaded(data, winograd_enabled=False).execute([x])[0].isnan().any() or name == "branches"
    )


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_and_what_follows_it_are_one_step(name: str, tmp_path: Path) -> None:
    """The first run, before weights are packed, has the bits of later ones."""
    torch.manual_seed(0)
    make, sizes, steps = LAYERS[name]
    module, x = make(), torch.randn(*sizes)
    data = lowered(module, x)
    assert own_steps(data, x, tmp_path) == steps
    for options in OPTIONS:
        method = loaded(data, **options)
        check(method, module, x)
        first = [result.clone() for result in method.execute([x])]
        check(method, module, torch.randn_like(x))
        for result, wanted in zip(method.execute([x]), first, strict=True):
            assert torch.equal(result, wanted)


def test_rows_of_a_matmul_change_with_each_run() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(300, 400), nn.SiLU(), nn.Linear(400, 30))
    sizes = {0: torch.export.Dim("rows", min=2, max=500)}
    method = loaded(lowered(module, torch.randn(16, 300), dynamic_shapes=(sizes,)))
    for rows in (16, 3, 500, 2, 33):
        check(method, module, torch.randn(rows, 300))
