# SPDX-License-Identifier: BSD-3-Clause
"""Rounding by what it does to a layer's outputs (GPTQ, arXiv 2210.17323): the error of a column of weights is taken out
of the columns behind it, as far as the inputs of a text tie them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from executorch.extension.llm.formats.weight_bits import WeightBits, limits, weight_of_codes
from executorch.extension.llm.quantization.weights import TOGETHER, codes_of, fitting_layers

Codes = tuple[Tensor, Tensor]  # int8 [rows, columns], and scales [rows, groups]
Run = Callable[[Any], Any]  # calls the model with a text

_MEMORY = 1 << 30  # bytes of sums of products at a time: of more layers, the text is run again
_DAMPING = 0.01  # of the mean square of inputs, added to each: columns that no input tells apart
# parts of the scale that clamps nothing which are tried: smaller ones clamp the largest numbers and round others finer
_PARTS = tuple(0.6 + 0.025 * i for i in range(19))


@dataclass(frozen=True)
class ScaleRule:
    """What scales a form can hold: floats of `dtype`, and less than 0 where `signed`, so that the largest number of a
    group may have the code that has no opposite."""

    dtype: torch.dtype = torch.float32
    signed: bool = False


@dataclass(frozen=True)
class Ties:
    """Of a layer's columns: `factor`, upper triangular, the Cholesky factor of the inverse of the inputs' products,
    whose row i says what an error of column i is worth in those behind it; `worth` of an error's square alone."""

    factor: Tensor
    worth: Tensor

    @classmethod
    def of(cls, products: Tensor) -> Ties:
        """Of the sums of x' x over all inputs x."""
        square = products.double()
        square.diagonal().add_(_DAMPING * square.diagonal().mean().clamp_min(1e-12))
        inverse = torch.cholesky_inverse(torch.linalg.cholesky(square))
        factor = torch.linalg.cholesky(inverse, upper=True).float()
        return cls(factor, square.diagonal().float())


@torch.no_grad()
def quantize_linears_by_text(
    model: nn.Module, wanted: WeightBits, texts: Sequence[Any], run: Run
) -> nn.Module:
    """Every linear layer whose inputs a group divides; `run` calls the model with each of `texts`."""
    layers = fitting_layers(model, nn.Linear, wanted)
    for layer, ties in ties_of(layers, texts, run):
        weight = layer.weight.detach()
        codes, scales = round_by_ties(weight, ties, wanted)
        made = weight_of_codes(codes, scales.to(weight.dtype), wanted, weight.dtype)
        layer.weight = nn.Parameter(made, requires_grad=False)
    return model


def ties_of(layers: Sequence[Any], texts: Sequence[Any], run: Run) -> Iterator[tuple[Any, Ties]]:
    """Each layer with what ties its inputs together, by as many runs as memory asks for; a run sees what has become of
    the layers before."""
    layers = list(layers)
    while layers:
        part, size = [], 0
        while layers and (not part or size + 4 * layers[0].in_features ** 2 <= _MEMORY):
            size += 4 * layers[0].in_features ** 2
            part.append(layers.pop(0))
        sums: Any = None
        for layer, products in _products(part, texts, run).items():
            if products is not sums:  # layers that read the same follow each other
                sums, ties = products, Ties.of(products)
            yield layer, ties


def _products(layers: list[Any], texts: Sequence[Any], run: Run) -> dict[Any, Tensor]:
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
        for text in texts:
            run(text)
    finally:
        for hook in hooks:
            hook.remove()
    return {each: sums[first[each]] if each in first else _nothing(each) for each in layers}


def _nothing(layer: Any) -> Tensor:
    return torch.zeros(layer.in_features, layer.in_features)


def round_by_ties(
    weight: Tensor, ties: Ties, wanted: WeightBits, rule: ScaleRule = ScaleRule()
) -> Codes:
    """Codes, and for each group the scale that is best for what its columns are when their turn comes."""
    group = wanted.group or weight.shape[1]
    parts = weight.split(max(1, TOGETHER // group))  # rows do not know of each other
    found = [_round_rows(part, ties, group, wanted.bits, rule) for part in parts]
    return torch.cat([codes for codes, _ in found]), torch.cat([scales for _, scales in found])


def _round_rows(weight: Tensor, ties: Ties, group: int, bits: int, rule: ScaleRule) -> Codes:
    left, tie, (low, high) = weight.float().clone(), ties.factor, limits(bits)
    codes = torch.empty(weight.shape, dtype=torch.int8)
    scales = torch.empty(weight.shape[0], weight.shape[1] // group)
    for begin in range(0, weight.shape[1], group):
        end = begin + group
        part = left[:, begin:end].contiguous()
        scale = best_scales(part, ties.worth[begin:end], bits, rule)
        errors = torch.empty_like(part)
        for i in range(group):
            code = (part[:, i] / scale).round_().clamp_(low, high)
            codes[:, begin + i] = code
            row = tie[begin + i, begin + i : end]
            errors[:, i] = (part[:, i] - code * scale) / row[0]
            part[:, i + 1 :].addr_(errors[:, i], row[1:], alpha=-1)
        left[:, end:].addmm_(errors, tie[begin:end, end:], alpha=-1)
        scales[:, begin // group] = scale
    return codes, scales


def best_scales(groups: Tensor, worth: Tensor, bits: int, rule: ScaleRule = ScaleRule()) -> Tensor:
    """For each of `groups` [n, columns] one of a few scales, as `rule` holds them: that whose codes leave the least
    error, squares weighted by what a column is `worth`."""
    low, high = limits(bits)
    largest, at = groups.abs().max(1)
    whole = (largest / -low).clamp_min_(torch.finfo(torch.float16).tiny)
    signs = [1.0]
    if (
        rule.signed
    ):  # the largest is worth the code `low`, and what is less than 0 beside it takes the others
        whole = torch.where(groups.gather(1, at.unsqueeze(1))[:, 0] > 0, -whole, whole)
        signs = [1.0, -1.0]
    best, least = whole, torch.full_like(whole, torch.inf)
    for part in _PARTS:
        for sign in signs:
            scale = (whole * (part * sign)).to(rule.dtype).float()
            codes = codes_of(groups, scale, low, high)
            error = (groups - codes.mul_(scale.unsqueeze(1))).square_() @ worth
            better = error < least
            best, least = torch.where(better, scale, best), torch.where(better, error, least)
    return best
