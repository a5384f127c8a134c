# SPDX-License-Identifier: BSD-3-Clause
"""NaN, infinities, -0 and denormals through every row of the table of ops and every fused activation: what is NaN in
eager is never a number here, and numbers are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from executorch.backends.test.corpus.row import Function
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.backends.xnnpack.test.ops_test import HALF_NAMES, NAMES, case
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

NAN, INF = float("nan"), float("inf")
SPECIAL = {"nan": NAN, "inf": INF, "-inf": -INF, "denormal": 1e-40, "-0": -0.0}
# Infinities make NaN of more than in eager: a bilinear sum is a + t * (b - a); kernels for 9 taps add 0 times a pixel
# for taps that there are not; Winograd's transform subtracts pixels. docs/compatibility.md lists them.
MORE_NAN = (
    *("resize", "resize_corners", "winograd", "conv3d_in_parts"),
    *("conv1d_depthwise", "conv_depthwise_two_taps", "conv_depthwise_five_taps"),
)
# Denormals count as zero.
STEPS = ("ceil",)

X = (1, 8, 10, 12)
ACTIVATIONS: dict[str, nn.Module] = {
    "relu": nn.ReLU(),
    "relu6": nn.ReLU6(),
    "hardtanh": nn.Hardtanh(),
    "at_least": Function(lambda a: a.clamp(min=0.1)),
    "at_most": Function(lambda a: a.clamp(max=0.1)),
    "hardswish": nn.Hardswish(),
    "gelu": nn.GELU(),
    "sigmoid": nn.Sigmoid(),
    "tanh": nn.Tanh(),
}
PRODUCERS: dict[str, tuple[nn.Module | Callable[..., torch.Tensor], list[tuple[int, ...]]]] = {
    "linear": (nn.Linear(12, 10), [(3, 12)]),
    "linear_odd_depth": (nn.Linear(13, 10), [(3, 13)]),
    "linear_panels": (nn.Linear(12, 40), [(9, 12)]),
    "conv": (nn.Conv2d(8, 6, 3), [X]),
    "depthwise": (nn.Conv2d(8, 8, 3, groups=8), [X]),
    "winograd": (nn.Conv2d(32, 32, 3, padding=1), [(1, 32, 12, 12)]),
    "first_layer": (nn.Conv2d(3, 32, 3, 2, padding=1), [(1, 3, 24, 24)]),
    "pointwise": (nn.Conv2d(8, 40, 1), [X]),
    "transposed": (nn.ConvTranspose2d(8, 6, 3, 2), [X]),
    "sum": (torch.add, [X, X]),
    "avg_pool": (nn.AvgPool2d(2), [X]),
    "avg_pool_passes": (nn.AvgPool2d(5), [X]),
    "max_pool": (nn.MaxPool2d(2), [X]),
    "max_pool_passes": (nn.MaxPool2d(5), [X]),
    "max_pool_channels": (nn.MaxPool2d(3, 1, 1), [(1, 67, 7, 5)]),
    "batch_norm": (nn.BatchNorm2d(8), [X]),
    "global_average": (nn.AdaptiveAvgPool2d(1), [X]),
    "bmm": (torch.bmm, [(3, 4, 5), (3, 5, 6)]),
}
BOTTLENECK = nn.Sequential(  # of a MobileNet
    nn.Conv2d(16, 96, 1),
    nn.ReLU6(),
    nn.Conv2d(96, 96, 3, padding=1, groups=96),
    nn.ReLU6(),
    nn.Conv2d(96, 24, 1),
)

Run = Callable[..., torch.Tensor]


def lowered(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> Run:
    partitioner = XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)
    exported = torch.export.export(module.eval(), inputs)
    manager = to_edge_transform_and_lower(exported, partitioner=[partitioner])
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    return lambda *values: program.forward(values)[0]


def spoiled(inputs: tuple[torch.Tensor, ...], value: float) -> Iterator[tuple[torch.Tensor, ...]]:
    """The inputs with `value` in the first, the last and every third place of each."""
    for index in range(len(inputs)):
        for places in (0, -1, slice(None, None, 3)):
            copies = [each.clone() for each in inputs]
            copies[index].view(-1)[places] = value
            yield tuple(copies)


def check(name: str, module: nn.Module, run: Run, inputs: tuple[torch.Tensor, ...]) -> None:
    for what, value in SPECIAL.items():
        if what == "denormal" and name in STEPS:
            continue
        for values in spoiled(inputs, value):
            with torch.no_grad():
                expected = module(*values)
            found = run(*values)
            if "gelu" in name and what in ("inf", "-inf"):
                # Eager's gelu of infinity is NaN on some processors; its limit is infinity.
                continue
            lost = expected.isnan() & ~found.isnan()
            assert not lost.any(), f"{what}: NaN became {found[lost][:4].tolist()}"
            numbers = ~found.isnan() if name.startswith(MORE_NAN) else ~expected.isnan()
            torch.testing.assert_close(
                found[numbers],
                expected[numbers],
                rtol=1e-4,
                atol=1e-5,
                msg=lambda text, what=what: f"{what}: {text}",
            )


@needs_runtime
@pytest.mark.parametrize("name", NAMES)
def test_a_row_keeps_what_is_no_number(name: str) -> None:
    module, inputs, manager = case(name)
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    check(name, module, lambda *values: program.forward(values)[0], inputs)


@needs_runtime
@pytest.mark.parametrize("bounds", [(NAN, None), (None, NAN), (NAN, 1.0), (0.0, NAN)], ids=str)
@pytest.mark.parametrize("producer", ["linear", "sum"])
def test_a_bound_that_is_nan_makes_nan(
    producer: str, bounds: tuple[float | None, float | None]
) -> None:
    """Such a clamp is not delegated, neither a node nor fused."""
    before, shapes = PRODUCERS[producer]
    run = lowered(
        Function(lambda *values: before(*values).clamp(*bounds)),
        inputs := tuple(torch.randn(shape) for shape in shapes),
    )
    assert run(*inputs).isnan().all()


def pairs() -> Iterator[object]:
    """Clamps on all that takes their bounds; other activations on some of it, unless everything is asked for."""
    for producer in PRODUCERS:
        for activation in ACTIVATIONS:
            sampled = activation in ("relu6", "at_least") or producer in ("linear", "max_pool")
            yield pytest.param(producer, activation, marks=[] if sampled else pytest.mark.full)


@needs_runtime
@pytest.mark.parametrize(("producer", "activation"), pairs())
def test_an_activation_keeps_what_is_no_number(producer: str, activation: str) -> None:
    first, shapes = PRODUCERS[producer]
    generator = torch.Generator().manual_seed(0)
    inputs = tuple(torch.randn(shape, generator=generator) for shape in shapes)
    before, after = first, ACTIVATIONS[activation]
    module = Function(lambda *values: after(before(*values)))
    if isinstance(first, nn.Module):
        module = nn.Sequential(first, after)
    module.eval()
    check(f"{producer}_{activation}", module, lowered(module, inputs), inputs)


@needs_runtime
@pytest.mark.parametrize("rows", [1, 2, 9])
@pytest.mark.parametrize("depth", [8, 7])
def test_linear_layers_of_every_width(depth: int, rows: int) -> None:
    for width in [*range(1, 34), 63, 65]:
        module = nn.Linear(depth, width)
        x = torch.randn(rows, depth)
        check(f"linear {width}", module, lowered(module, (x,)), (x,))


@needs_runtime
def test_nan_times_a_weight_of_zero_is_nan() -> None:
    for depth in (3, 5, 8):
        module = nn.Linear(depth, 10)
        nn.init.zeros_(module.weight)
        x = torch.full((2, depth), NAN)
        assert lowered(module, (x,))(x).isnan().all()


@needs_runtime
def test_a_bottleneck_keeps_nan() -> None:
    x = torch.randn(1, 16, 56, 56)
    run = lowered(BOTTLENECK, (x,))
    x[0, 3, 20, 30] = NAN
    with torch.no_grad():
        expected = BOTTLENECK(x)
    assert torch.equal(run(x).isnan(), expected.isnan()) and expected.isnan().any()


@needs_runtime
@pytest.mark.parametrize("function", [torch.sqrt, torch.rsqrt, torch.sigmoid, F.silu, torch.exp])
def test_functions_at_the_ends_of_their_range(function: Callable[..., torch.Tensor]) -> None:
    # Denormals, also such as are made on the way, count as zero.
    ends = [0.0, 1e-37, 88.0, 100.0, 1e10, 1e30, 1e37, 1e38, 1.7e38, 2e38, 3.4e38, INF, NAN]
    x = torch.tensor([*ends, *(-end for end in ends), *torch.linspace(0.1, 9, 40)])
    run = lowered(Function(function), (x,))
    torch.testing.assert_close(run(x), function(x), rtol=1e-5, atol=2e-36, equal_nan=True)


@needs_runtime
@pytest.mark.parametrize("name", HALF_NAMES)
def test_half_precision_keeps_nan(name: str) -> None:
    module, inputs, manager = case(name, torch.float16)
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for values in spoiled(inputs, NAN):
        expected = module.float()(*(value.float() for value in values))
        module.half()
        assert not (expected.isnan() & ~program.forward(values)[0].isnan()).any()
