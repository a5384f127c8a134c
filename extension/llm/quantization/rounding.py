# SPDX-License-Identifier: BSD-3-Clause
"""Rounding by what it does to a layer's outputs (GPTQ, arXiv 2210.17323): the error of a column of weights is taken out
of the columns behind it, as far as the inputs of a text tie them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from executorch.extension.llm.model.caches import state_as_before
from executorch.extension.llm.quantization.schemes import WeightBits
from executorch.extension.llm.quantization.weights import (
    fitting_layers,
    limits,
    quantize_by_least_squares,
    weight_of_codes,
)

_MEMORY = 1 << 30  # bytes of sums of products at a time: of more layers, the text is run again
_DAMPING = 0.01  # of the mean square of inputs, added to each: columns that no input tells apart


@torch.no_grad()
def quantize_linears_by_text(
    model: nn.Module, wanted: WeightBits, texts: Sequence[Any], run: Callable[[Any], Any]
) -> nn.Module:
    """Every linear layer whose inputs a group divides; `run` calls the model with each of `texts`."""
    layers = fitting_layers(model, nn.Linear, wanted)
    while layers:
        part, size = [], 0
        while layers and (not part or size + 4 * layers[0].in_features ** 2 <= _MEMORY):
            size += 4 * layers[0].in_features ** 2
            part.append(layers.pop(0))
        for layer, products in _products(model, part, texts, run).items():
            weight = layer.weight.detach()
            codes, scales = round_by_products(weight, products, wanted)
            made = weight_of_codes(codes, scales, wanted, weight.dtype)
            layer.weight = nn.Parameter(made, requires_grad=False)
    return model


def _products(
    model: nn.Module, layers: list[Any], texts: Sequence[Any], run: Callable[[Any], Any]
) -> dict[Any, Tensor]:
    """The sums of x' x over all inputs x of each layer, once of those that read the same; a layer that no text reaches
    has zeros."""
    sums: dict[Any, Tensor] = {}
    first: dict[Any, Any] = {}  # of the layers that read what a layer reads
    latest: list[Any] = [None, None]  # an input, and the first layer that reads it

    def note(layer: Any, args: tuple[Tensor, ...]) -> None:
        if args[0] is not latest[0]:
            latest[:] = args[0], layer
        if first.setdefault(layer, latest[1]) is layer:
            rows = args[0].reshape(-1, layer.in_features).float()
            sums[layer] = sums[layer].addmm_(rows.t(), rows) if layer in sums else rows.t() @ rows

    hooks = [each.register_forward_pre_hook(note) for each in layers]
    try:
        with state_as_before(model):
            for text in texts:
                run(text)
    finally:
        for hook in hooks:
            hook.remove()
    return {each: sums[first[each]] if each in first else _nothing(each) for each in layers}


def _nothing(layer: Any) -> Tensor:
    return torch.zeros(layer.in_features, layer.in_features)


def round_by_products(
    weight: Tensor, products: Tensor, wanted: WeightBits
) -> tuple[Tensor, Tensor]:
    """Codes and scales as quantize_by_least_squares() has them, whose scales those of a group are when its turn comes;
    the same numbers where products of different columns are zero."""
    group, (low, high) = wanted.group or weight.shape[1], limits(wanted.bits)
    left, tie = weight.float().clone(), _ties(products)
    codes = torch.empty(weight.shape, dtype=torch.int8)
    scales = torch.empty(weight.shape[0], weight.shape[1] // group)
    for begin in range(0, weight.shape[1], group):
        end = begin + group
        part = left[:, begin:end].contiguous()
        scale = quantize_by_least_squares(part, group, low, high)[1][:, 0]
        errors = torch.empty_like(part)
        for i in range(group):
            code = (part[:, i] / scale).round_().clamp_(low, high)
            codes[:, begin + i] = code
            row = tie[begin + i, begin + i : end]
            errors[:, i] = (part[:, i] - code * scale) / row[0]
            part[:, i + 1 :].addr_(errors[:, i], row[1:], alpha=-1)
        left[:, end:].addmm_(errors, tie[begin:end, end:], alpha=-1)
        scales[:, begin // group] = scale
    return codes, scales.to(weight.dtype)


def _ties(products: Tensor) -> Tensor:
    """The upper Cholesky factor of the inverse: row i says what an error of column i is worth in those behind it."""
    square = products.double()
    square.diagonal().add_(_DAMPING * square.diagonal().mean().clamp_min(1e-12))
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(square))
    return torch.linalg.cholesky(inverse, upper=True).float()
