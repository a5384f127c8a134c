# SPDX-License-Identifier: BSD-3-Clause
"""Whole networks, their TOSA graphs evaluated: FP beside eager PyTorch to 1e-3, INT beside the quantized module within
a quantum of the result, and each step beside float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.arm.quantizer import get_symmetric_a16w8_quantization_config
from executorch.backends.arm.test.arm_operators_test import is_fully_delegated
from executorch.backends.arm.test.arm_reference import (
    lowered,
    quantized,
    through_reference,
)
from executorch.backends.arm.test.arm_steps import steps_of
from executorch.examples.models.mlperf_tiny import DSCNNKWS
from executorch.exir.backend.lowering.quantized import quantization_of

pytestmark = [pytest.mark.full, pytest.mark.req("ARM-008", "ARM-009")]
Made = tuple[nn.Module, tuple[Tensor, ...]]


class _First(nn.Module):
    """The first result of a model of transformers."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._module = module

    def forward(self, x: Tensor) -> Tensor:
        return self._module(x, return_dict=False)[0]


def _image(size: int) -> tuple[Tensor, ...]:
    return (torch.randn(1, 3, size, size),)


def mobilenet_v2() -> Made:
    transformers = pytest.importorskip("transformers")
    return _First(transformers.MobileNetV2Model(transformers.MobileNetV2Config())), _image(64)


def resnet18() -> Made:
    transformers = pytest.importorskip("transformers")
    sizes = {"depths": [2, 2, 2, 2], "hidden_sizes": [64, 128, 256, 512]}
    return _First(
        transformers.ResNetModel(transformers.ResNetConfig(layer_type="basic", **sizes))
    ), _image(64)


def deit(layers: int = 3) -> Made:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 64, "num_hidden_layers": layers, "num_attention_heads": 4}
    config = transformers.DeiTConfig(intermediate_size=128, image_size=32, patch_size=8, **sizes)
    return _First(transformers.DeiTModel(config, add_pooling_layer=False)), _image(32)


def deit_block() -> Made:
    return deit(1)


class _Excited(nn.Module):
    """Channels weighed by their means."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weigh = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width // 4, 1), nn.ReLU(),
            nn.Conv2d(width // 4, width, 1), nn.Hardsigmoid(),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weigh(x)


class _Bottleneck(nn.Module):
    """Of MobileNetV3: wide inside, depthwise, narrow behind."""

    def __init__(self, width: int, inner: int, kernel: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, inner, 1), nn.BatchNorm2d(inner), nn.Hardswish(),
            nn.Conv2d(inner, inner, kernel, padding=kernel // 2, groups=inner), nn.BatchNorm2d(inner),
            nn.Hardswish(), _Excited(inner), nn.Conv2d(inner, width, 1), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


def mobilenet_v3() -> Made:
    body = [_Bottleneck(16, 64, kernel) for kernel in (3, 5, 5)]
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.Hardswish(), *body, nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(16, 32), nn.Hardswish(), nn.Linear(32, 10),
    )  # fmt: skip
    return model, _image(32)


def wav2letter() -> Made:
    layers: list[nn.Module] = [nn.Conv1d(13, 32, 15, 2, 7), nn.ReLU()]
    for kernel in (7, 7, 9):
        layers += [nn.Conv1d(32, 32, kernel, padding=kernel // 2), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv1d(32, 29, 1), nn.LogSoftmax(1)), (torch.randn(1, 13, 96),)


def keywords() -> Made:
    return DSCNNKWS(), (torch.randn(1, 1, 49, 10),)


def of_16_bits() -> Made:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, groups=8),
        nn.Sigmoid(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(392, 10), nn.Tanh(),
    )  # fmt: skip
    return model, _image(16)


MODELS: dict[str, Callable[[], Made]] = {
    each.__name__: each
    for each in (mobilenet_v2, mobilenet_v3, resnet18, deit, deit_block, wav2letter, keywords)
}


def made(model: Callable[[], Made]) -> Made:
    torch.manual_seed(0)
    module, inputs = model()
    for each in module.modules():
        if isinstance(each, nn.BatchNorm2d):
            nn.init.uniform_(each.running_var, 0.5, 2)
            nn.init.normal_(each.running_mean)
    return module.eval(), inputs


@pytest.mark.parametrize("name", MODELS)
def test_floats(name: str) -> None:
    module, inputs = made(MODELS[name])
    edge = lowered(module, inputs, "TOSA-1.0+FP")
    assert is_fully_delegated(edge)
    (found,) = through_reference(edge, inputs)[:1]
    expected = module(*inputs)
    most = 1e-3 * max(1, expected.abs().max().item())
    torch.testing.assert_close(found, expected, rtol=0, atol=most)


def check(model: Callable[[], Made], spec: str, config: object = None, one: bool = True) -> None:
    """`one`: within a quantum of the quantized module; always each step, and as close to the floats as that."""
    module, inputs = made(model)
    converted = quantized(module, inputs, spec, config)
    edge = lowered(converted, inputs, spec)
    assert is_fully_delegated(edge)
    (found,) = through_reference(edge, inputs)[:1]
    (output, *_) = edge.exported_program().graph.output_node().all_input_nodes
    scale, expected = quantization_of(output).scale, converted(*inputs)
    apart = (found - expected).abs() / scale
    errors = [
        (each - module(*inputs)).square().mean().sqrt().item() / scale for each in (found, expected)
    ]
    steps = steps_of(edge, inputs)
    print(f"{model.__name__}: {apart.max():.2f} quanta, {(apart > 0.5).float().mean():.2%} of the values; "
          f"of {len(steps)} steps {max(each.off for each in steps):.4f}; from the floats {errors[0]:.2f}, "
          f"quantized module {errors[1]:.2f}")  # fmt: skip
    assert [each.why_wrong for each in steps if each.why_wrong] == []
    assert not one or apart.max() <= 1.01
    assert errors[0] <= 1.05 * errors[1]


@pytest.mark.parametrize("name", [each for each in MODELS if each != "deit"])
def test_quantized(name: str) -> None:
    check(MODELS[name], "TOSA-1.0+INT")


def test_many_layers_quantized() -> None:
    """A quantum in one norm is two behind a gelu of half its scale: far below what quantizing costs."""
    check(deit, "TOSA-1.0+INT", one=False)


@pytest.mark.req("ARM-C08")
def test_16_bits() -> None:
    check(of_16_bits, "TOSA-1.0+INT+int16", get_symmetric_a16w8_quantization_config())
