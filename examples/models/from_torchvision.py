# SPDX-License-Identifier: BSD-3-Clause
"""Models that torchvision has, with its trained weights when they can be had."""

from __future__ import annotations

import logging
from operator import attrgetter
from typing import Any

import torch
from torch import nn

from executorch.examples.models.model_base import EagerModelBase

logger = logging.getLogger(__name__)


class _Item(nn.Module):
    """One of the results of a model that gives a dict."""

    def __init__(self, model: nn.Module, name: str) -> None:
        super().__init__()
        self.model, self.name = model, name

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)[self.name]


class TorchVisionModel(EagerModelBase):
    """`function` of torchvision.models; `result`: the item to give where the model gives several."""

    function: str = ""
    result: str = ""

    def __init__(self) -> None:
        pass

    def get_eager_model(self) -> nn.Module:
        try:
            from torchvision import models
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__} is torchvision's {self.function}; pip install torchvision"
            ) from error
        make = attrgetter(self.function)(models)
        try:
            model = make(weights="DEFAULT")
        except OSError as error:
            logger.warning("weights of %s cannot be had (%s): random ones", self.function, error)
            model = make(weights=None)
        return _Item(model, self.result).eval() if self.result else model.eval()

    def get_example_inputs(self) -> tuple[Any, ...]:
        return (torch.randn(1, 3, 224, 224),)
