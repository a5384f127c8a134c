# SPDX-License-Identifier: BSD-3-Clause
"""Programs for SM8650 run in the Python runtime on the stand-in libraries, with the numbers of eager, and of the
quantized model in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.test import stand_in
from executorch.backends.qualcomm.test.graph_cases import FAMILIES, Case, Function
from executorch.backends.qualcomm.test.recorder import left, quantized
from executorch.backends.qualcomm.test.stand_in import (
    lowered,
    run,
    specs,
    specs_with_library,
    stand_in_sdk,
)
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

__all__ = ["stand_in_sdk"]
pytestmark = [
    pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing()),
    pytest.mark.usefixtures("stand_in_sdk"),
]


class Residual(nn.Module):
    """As MobileNet's blocks: a depthwise convolution, a gate, a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Conv2d(4, 8, 1)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.narrow = nn.Conv2d(8, 4, 1)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x: Tensor) -> Tensor:
        y = F.hardswish(self.norm(self.depthwise(F.relu6(self.wide(x)))))
        return x + self.narrow(y * F.hardsigmoid(y.mean((2, 3), keepdim=True)))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (
            each.unflatten(-1, (2, 8)).transpose(1, 2)
            for each in self.qkv(self.norm(x)).split(16, -1)
        )
        scores = torch.softmax(query @ key.transpose(2, 3) * 8**-0.5, -1)
        return x + self.out((scores @ value).transpose(1, 2).flatten(2))


def convolutional() -> nn.Module:
    pool = [nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), *pool, nn.Linear(8, 5))


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 4), nn.Sigmoid())


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "convolutional": (convolutional, (1, 3, 16, 16)),
    "residual": (Residual, (2, 4, 6, 6)),
    "attention": (Attention, (1, 5, 16)),
    "perceptron": (perceptron, (3, 6)),
    "pooled": (lambda: nn.Sequential(nn.AvgPool2d(2), nn.Softmax(1)), (1, 3, 4, 4)),
}


def network(name: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(0)
    make, shape = NETWORKS[name]
    return make().eval(), (torch.randn(shape),)


def is_delegated(manager: Any) -> bool:
    return [each for each in left(manager) if "quantize" not in each] == []


@pytest.mark.req("NPU-008")
@pytest.mark.parametrize("name", NETWORKS)
def test_floats_are_those_of_eager(name: str) -> None:
    model, inputs = network(name)
    manager = lowered(model, inputs)
    assert is_delegated(manager)
    (found,) = run(manager, inputs)
    torch.testing.assert_close(found, model(*inputs), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_integers_are_those_of_the_quantized_model(name: str) -> None:
    """Within one step of the result, where PyTorch rounded in float32."""
    model, inputs = network(name)
    converted = quantized(model, inputs)
    manager = lowered(converted, inputs, specs(use_fp16=False))
    assert is_delegated(manager)
    (found,) = run(manager, inputs)
    (result,) = next(iter(reversed(converted.graph.nodes))).args[0]
    steps = (found - converted(*inputs)) / result.args[1]
    assert steps.abs().max() < 1.01
    assert steps.abs().mean() < 0.1


def test_weights_of_four_bits_and_activations_of_sixteen() -> None:
    model, inputs = network("perceptron")
    converted = quantized(model, inputs, QuantDtype.use_16a4w)
    (found,) = run(lowered(converted, inputs, specs(use_fp16=False)), inputs)
    torch.testing.assert_close(found, converted(*inputs), atol=1e-4, rtol=1e-4)


# ---- Arguments ----


def results(function: Callable[..., Any], *inputs: Tensor) -> list[Tensor]:
    return run(lowered(Function(function).eval(), inputs), inputs)


def test_arguments_keep_their_order() -> None:
    x, y, z = torch.randn(2, 3), torch.randn(3, 4), torch.randn(4)
    found = results(lambda x, y, z: (x @ y + z, z * 2, x @ y, x - 1), x, y, z)
    for each, wanted in zip(found, (x @ y + z, z * 2, x @ y, x - 1), strict=True):
        torch.testing.assert_close(each, wanted)


def test_arguments_of_other_dtypes() -> None:
    table, index = torch.randn(7, 3), torch.tensor([[4, 0, 6]])
    found = results(
        lambda i, x: (F.embedding(i, table), i + 1, x > 0.5, (x * 2).half()), index, table
    )
    wanted = (F.embedding(index, table), index + 1, table > 0.5, (table * 2).half())
    for each, want in zip(found, wanted, strict=True):
        torch.testing.assert_close(each, want)


def test_a_number_without_dimensions() -> None:
    (found,) = results(lambda x, y: x.sum() * y, torch.arange(6.0), torch.tensor(2.0))
    assert found.shape == () and float(found) == 30


def test_images_that_lie_channels_last() -> None:
    image = torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
    (found,) = results(lambda x: F.avg_pool2d(x, 2), image)
    torch.testing.assert_close(found, F.avg_pool2d(image, 2))


# ---- What the library does not take ----


def test_what_the_library_refuses_runs_on_the_cpu() -> None:
    """asin is in the table, not in the stand-in."""
    x = torch.rand(2, 3)
    manager = lowered(Function(lambda x: torch.asin(x * 0.5) + 1).eval(), (x,))
    assert left(manager) == ["aten.asin.default"]
    (found,) = run(manager, (x,))
    torch.testing.assert_close(found, torch.asin(x * 0.5) + 1)


# ---- Methods ----


class Added(nn.Module):
    def __init__(self, weight: Tensor, times: int) -> None:
        super().__init__()
        self.weight, self.times = nn.Parameter(weight), times

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.times):
            x = (x + self.weight) * x
        return x


def test_methods_are_graphs_of_one_context_that_share_weights() -> None:
    weight, x = torch.randn(1 << 12), torch.randn(1 << 12)
    models = {"once": Added(weight, 1), "twice": Added(weight, 2)}
    sizes = {}
    for shared in (False, True):
        manager = lowered(models, (x,), specs(weight_sharing=shared))
        delegates = [
            each
            for method in models
            for each in get_lowered_backend_modules(manager.exported_program(method).graph_module)
        ]
        binaries = {bytes(each.processed_bytes) for each in delegates}
        assert len(delegates) == 2 and len(binaries) == 1
        (binary,) = binaries
        sizes[shared] = len(binary)
        assert len(manager.to_executorch().buffer) < 1.2 * len(binary)  # it stands once
        for name, model in models.items():
            torch.testing.assert_close(run(manager, (x,), name)[0], model(x))
    assert sizes[False] - sizes[True] > 4 * len(weight) - 256


# ---- Without libraries ----


def test_a_library_that_is_missing_is_named() -> None:
    manager = lowered(nn.ReLU(), (torch.randn(3),))
    (delegate,) = get_lowered_backend_modules(manager.exported_program().graph_module)
    delegate._compile_specs = specs_with_library("/there/is/libQnnHtp.so")
    with pytest.raises(RuntimeError, match=r"not loaded \(/there/is/libQnnHtp.so: "):
        run(manager, (torch.randn(3),))


# ---- All rows ----


def differences(cases: Sequence[Case], dtype: QuantDtype | None) -> dict[str, float]:
    """Of all that the stand-in computes, in part or whole; in integers beyond one step of the result."""
    found = {}
    for case in cases:
        model, inputs = case.model(), case.inputs()
        if dtype is not None:
            model = quantized(model, inputs, dtype)
        wanted = model(*inputs)
        wanted = [wanted] if isinstance(wanted, Tensor) else list(wanted)
        manager = lowered(model, inputs, specs(use_fp16=dtype is None))
        for want, got in zip(wanted, run(manager, inputs), strict=True):
            bound = 1e-5 + 1.01 * (0 if dtype is None else step_of(model))
            if not torch.allclose(want.double(), got.double(), 1e-5, bound, True):
                found[case.name] = (want.double() - got.double()).abs().max().item()
    return found


def step_of(model: Any) -> float:
    """The largest of those that the program's results have."""
    (results,) = next(iter(reversed(model.graph.nodes))).args
    scales = [each.args[1] for each in results if "dequantize_per_tensor" in str(each.target)]
    return max(scales, default=0.0)


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "dtype", [None, QuantDtype.use_8a8w, QuantDtype.use_16a4w], ids=["float", "8a8w", "16a4w"]
)
def test_every_case_of_the_table(family: str, dtype: QuantDtype | None) -> None:
    assert differences(FAMILIES[family], dtype) == {}
