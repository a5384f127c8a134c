# SPDX-License-Identifier: BSD-3-Clause
"""Random weights under which signals live, for any module and without knowledge of it: layer-sequential unit variance
(Mishkin and Matas, "All you need is a good init", 2016) in one forward pass. Imports torch alone: engine.py reads it in
environments that have nothing of this repository.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.modules.batchnorm import _NormBase

Tensor = torch.Tensor
FAINT = 0.1  # a raw parameter whose spread is smaller was meant to start at zero
NOISE = 0.1


@torch.no_grad()
def draw(model: torch.nn.Module, call: tuple[Tensor, ...]) -> None:
    """Draws `model`'s weights anew, then scales each layer's so that its output has variance one on `call`.

    A layer is a module without children that has a matrix called `weight`: linears, convolutions, embeddings, and what
    libraries spell their own way. Statistics of normalisations become those of what reaches them. Vectors (biases,
    scales) are moved by a tenth; other parameters that are all but constant (tokens, position tables) are drawn.
    A weight that several layers share is scaled by the first.
    """
    layers = {name: module for name, module in model.named_modules() if _is_layer(module)}
    matrices = {id(layer.weight) for layer in layers.values()}
    for parameter in model.parameters():
        if not parameter.is_floating_point():
            continue
        if id(parameter) in matrices:
            parameter.normal_()
        elif parameter.dim() < 2:
            parameter.add_(NOISE * torch.randn_like(parameter))
        elif _spread(parameter) < FAINT:
            parameter.normal_(std=0.5)
    scaled: set[int] = set()
    handles = [layer.register_forward_hook(_scaler(scaled)) for layer in layers.values()]
    norms = [m for m in model.modules() if isinstance(m, _NormBase) and m.running_var is not None]
    handles += [norm.register_forward_pre_hook(_take_statistics) for norm in norms]
    try:
        model(*call)
    finally:
        for handle in handles:
            handle.remove()


def _is_layer(module: torch.nn.Module) -> bool:
    weight = module._parameters.get("weight")
    matrix = weight is not None and weight.dim() >= 2 and weight.is_floating_point()
    return matrix and not any(module.children())


def _spread(values: Tensor) -> float:
    return float(values.std()) if values.numel() > 1 else 0.0


def _scaler(scaled: set[int]) -> Any:
    """A hook that divides a layer's weight by the spread of its output, once, and gives the output anew."""

    def hook(layer: torch.nn.Module, inputs: tuple[Any, ...], output: Any) -> Any:
        weight = layer.weight
        if id(weight) in scaled or not isinstance(output, torch.Tensor):
            return output
        scaled.add(id(weight))
        spread = _spread(output)
        weight.div_(spread if spread > 0 else 1.0)
        return layer.forward(*inputs)

    return hook


def _take_statistics(norm: _NormBase, inputs: tuple[Tensor, ...]) -> None:
    """One mean and variance for all channels: a channel of a small picture may be a single number."""
    found = inputs[0]
    scale = max(_spread(found), 1e-3)
    norm.running_mean.copy_(found.mean() + NOISE * scale * torch.randn_like(norm.running_mean))
    norm.running_var.copy_(scale**2 * torch.exp(NOISE * torch.randn_like(norm.running_var)))
