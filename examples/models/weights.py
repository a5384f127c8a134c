# SPDX-License-Identifier: BSD-3-Clause
"""Random weights under which signals neither die nor blow up, so that comparisons mean something."""

from __future__ import annotations

import torch
from torch import nn


def scale_weights(model: nn.Module) -> None:
    """Kaiming weights and small biases for every linear and convolution, unit rows for embeddings."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d)):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            if module.bias is not None:
                nn.init.normal_(module.bias, std=0.1)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight)


def calibrate_batch_norms(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    """Sets running statistics to those of `inputs`, layer after layer, as training would have."""
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = None  # cumulative average: one pass gives exactly this batch's statistics
    drops = [m for m in model.modules() if isinstance(m, nn.Dropout)]
    rates = [drop.p for drop in drops]
    for drop in drops:
        drop.p = 0.0
    model.train()
    with torch.no_grad():
        model(*inputs)
    model.eval()
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    for drop, rate in zip(drops, rates):
        drop.p = rate


def prepare(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> nn.Module:
    """`model` in evaluation mode with usable random weights."""
    scale_weights(model)
    calibrate_batch_norms(model, inputs)
    return model.eval()
