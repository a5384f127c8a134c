# SPDX-License-Identifier: BSD-3-Clause
"""What a module of example models offers: a class per model that gives the module and inputs."""

from abc import ABC, abstractmethod
from typing import Any

import torch


class EagerModelBase(ABC):
    """May also have `get_example_kwarg_inputs` and `get_dynamic_shapes`."""

    @abstractmethod
    def __init__(self) -> None:
        """Takes what configures the model."""

    @abstractmethod
    def get_eager_model(self) -> torch.nn.Module:
        """The module, ready for `torch.export`."""

    @abstractmethod
    def get_example_inputs(self) -> tuple[Any, ...]:
        """Inputs to export with."""
