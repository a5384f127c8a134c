# SPDX-License-Identifier: BSD-3-Clause
"""Training on the device: programs that compute gradients, optimizers, checkpoints."""

from executorch.extension.training.pybindings._training_lib import (
    get_adamw_optimizer,
    get_sgd_optimizer,
    load_checkpoint,
    save_checkpoint,
)
from executorch.extension.training.pybindings._training_module import (
    TrainingModule,
    _load_for_executorch_for_training,
    _load_for_executorch_for_training_from_buffer,
)

__all__ = [
    "TrainingModule",
    "_load_for_executorch_for_training",
    "_load_for_executorch_for_training_from_buffer",
    "get_adamw_optimizer",
    "get_sgd_optimizer",
    "load_checkpoint",
    "save_checkpoint",
]
