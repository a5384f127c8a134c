# SPDX-License-Identifier: BSD-3-Clause
"""MobileNetV2 (Sandler et al., 2018), with torchvision's parameter names so that its weights load."""

from __future__ import annotations

import logging

import torch
from torch import nn

from executorch.examples.models.model_base import EagerModelBase
from executorch.examples.models.weights import prepare

logger = logging.getLogger(__name__)

# expansion, output channels, repeats, stride of the first repeat: table 2 of the paper
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def conv_norm_relu6(
    channels: int, out: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(out),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
    """Widen with 1x1, filter depthwise with 3x3, narrow linearly; add the input where shapes allow."""

    def __init__(self, channels: int, out: int, stride: int, expansion: int) -> None:
        super().__init__()
        self.adds_input = stride == 1 and channels == out
        wide = channels * expansion
        widen = [conv_norm_relu6(channels, wide, 1)] if expansion != 1 else []
        self.conv = nn.Sequential(
            *widen,
            conv_norm_relu6(wide, wide, 3, stride, groups=wide),
            nn.Conv2d(wide, out, 1, bias=False),
            nn.BatchNorm2d(out),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv(x) if self.adds_input else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = [conv_norm_relu6(3, 32, 3, stride=2)]
        channels = 32
        for expansion, out, repeats, stride in STAGES:
            for index in range(repeats):
                layers.append(
                    InvertedResidual(channels, out, stride if index == 0 else 1, expansion)
                )
                channels = out
        layers.append(conv_norm_relu6(channels, 1280, 1))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x).mean([2, 3]))


def trained_weights() -> dict[str, torch.Tensor] | None:
    """torchvision's weights, when it is installed and can reach them."""
    try:
        from torchvision.models.mobilenetv2 import MobileNet_V2_Weights
    except ImportError:
        logger.warning(
            "MobileNetV2 gets random weights: its trained ones come with torchvision, which is not installed "
            "(pip install torchvision)"
        )
        return None
    try:
        return MobileNet_V2_Weights.DEFAULT.get_state_dict(progress=False)
    except OSError as error:
        logger.warning(
            "torchvision's MobileNetV2 weights cannot be had (%s): using random ones", error
        )
        return None


def mobilenet_v2(inputs: tuple[torch.Tensor, ...]) -> nn.Module:
    """Trained when torchvision's weights are at hand, else with the caller's random seed."""
    model = MobileNetV2()
    weights = trained_weights()
    if weights is None:
        return prepare(model, inputs)
    model.load_state_dict(weights)
    return model.eval()


class MV2Model(EagerModelBase):
    def __init__(self, use_pretrained: bool = True) -> None:
        self.use_pretrained = use_pretrained

    def get_eager_model(self) -> nn.Module:
        inputs = self.get_example_inputs()
        return mobilenet_v2(inputs) if self.use_pretrained else prepare(MobileNetV2(), inputs)

    def get_example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.randn(1, 3, 224, 224),)


class MV2UntrainedModel(MV2Model):
    def __init__(self) -> None:
        super().__init__(use_pretrained=False)
