# SPDX-License-Identifier: BSD-3-Clause
"""What a matrix of weights may become where `quantization.budget` chooses: integers of torchao, which backends lower,
or blocks as GGUF files have them, which our own kernels read. A row of FAMILIES is a set to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from executorch.devtools.progress import counted
from executorch.extension.llm.custom_ops.blocks import rounded
from executorch.extension.llm.formats.blocks import BLOCK_FORMATS
from executorch.extension.llm.formats.panels import NUMBERS, pack_codes
from executorch.extension.llm.formats.weight_bits import WeightBits, limits, weight_of_codes
from executorch.extension.llm.quantization.blocks import BlockEmbedding, BlockLinear
from executorch.extension.llm.quantization.rounding import (
    Codes,
    Run,
    ScaleRule,
    Ties,
    best_scales,
    round_by_ties,
    ties_of,
)
from executorch.extension.llm.quantization.weights import TOGETHER, codes_of


@dataclass(frozen=True)
class Form:
    """Symmetric codes in groups, whose scales a program holds as `rule` has them."""

    name: str
    bits: WeightBits
    rule: ScaleRule

    def bytes(self, shape: Sequence[int]) -> int:
        rows, columns = shape
        groups = columns // (self.bits.group or columns)
        return rows * (columns * self.bits.bits // 8 + groups * self.rule.dtype.itemsize)

    def codes(self, weight: Tensor, ties: Ties | None) -> Codes:
        """Rounded by what inputs make of it, where their ties are known and 8 bits would not do, else to the
        nearest."""
        if ties is not None and self.bits.bits < 8:
            return round_by_ties(weight, ties, self.bits, self.rule)
        return _nearest(weight, self.bits, self.rule)

    def inputs(self, x: Tensor) -> Tensor:
        """A linear layer's inputs as they are multiplied, where weight() does not see to it."""
        return x

    def weight(self, codes: Codes, dtype: torch.dtype) -> Tensor:
        """That of a layer which computes what the program will."""
        raise NotImplementedError

    def held(self, layers: Sequence[Any], codes: Codes) -> dict[Any, nn.Module]:
        """What takes the place of layers in the program: of a linear one, a table, or both of one matrix."""
        raise NotImplementedError


def _nearest(weight: Tensor, bits: WeightBits, rule: ScaleRule) -> Codes:
    group, (low, high) = bits.group or weight.shape[1], limits(bits.bits)
    groups = weight.float().reshape(-1, group)
    count, alike = max(1, TOGETHER // group), torch.ones(group)
    codes = torch.empty(groups.shape, dtype=torch.int8)
    scales = torch.empty(len(groups))
    for some, out, by in zip(groups.split(count), codes.split(count), scales.split(count)):
        by.copy_(best_scales(some, alike, bits.bits, rule))
        out.copy_(codes_of(some, by, low, high))
    return codes.view(weight.shape), scales.view(weight.shape[0], -1)


def matrix(codes: Codes) -> Tensor:
    """The numbers, float32."""
    whole, scales = codes
    groups = whole.view(*scales.shape, -1).float()
    return groups.mul_(scales.unsqueeze(-1)).view(whole.shape)


class Integers(Form):
    def weight(self, codes: Codes, dtype: torch.dtype) -> Tensor:
        return weight_of_codes(codes[0], codes[1].to(dtype), self.bits, dtype)

    def held(self, layers: Sequence[Any], codes: Codes) -> dict[Any, nn.Module]:
        for layer in layers:
            weight = self.weight(codes, layer.weight.dtype)
            layer.weight = nn.Parameter(weight, requires_grad=False)
        return {layer: layer for layer in layers}


class Blocks(Form):
    def inputs(self, x: Tensor) -> Tensor:
        return rounded(x.float()).to(x.dtype)

    def weight(self, codes: Codes, dtype: torch.dtype) -> Tensor:
        return matrix(codes).to(dtype)

    def held(self, layers: Sequence[Any], codes: Codes) -> dict[Any, nn.Module]:
        number = NUMBERS[self.name]
        whole, scales = (each.numpy() for each in codes)
        panels = torch.from_numpy(pack_codes(BLOCK_FORMATS[number], whole, scales))
        made: dict[Any, nn.Module] = {}
        for layer in layers:
            bias = getattr(layer, "bias", None)
            bias = None if bias is None else bias.detach().float()
            made[layer] = linear = BlockLinear(number, len(whole), panels, bias, 8)
            if isinstance(layer, nn.Embedding):
                made[layer] = BlockEmbedding(linear, layer.weight.dtype)
        return made


def _blocks(number: int) -> Form:
    form = BLOCK_FORMATS[number]
    rule = ScaleRule(torch.float16, signed=True)
    return Blocks(form.name, WeightBits(form.code_bits, form.numbers), rule)


@dataclass(frozen=True)
class Family:
    """Fewest bits first. `tied`: of a matrix that is a table of embeddings and the output layer, which is held once;
    without such forms it is two matrices."""

    linear: tuple[Form, ...]
    table: tuple[Form, ...]
    tied: tuple[Form, ...] = ()

    def with_shared_table(self) -> Family:
        return replace(self, tied=self.tied or _BLOCKS)

    def forms(self, layers: Sequence[Any]) -> tuple[Form, ...]:
        if len(layers) > 1:
            return self.tied
        return self.table if isinstance(layers[0], nn.Embedding) else self.linear


_BLOCKS = tuple(map(_blocks, (2, 6, 8)))
_LINEAR = (
    Integers("8da4w, group 32", WeightBits(4, 32, dynamic=True), ScaleRule(torch.bfloat16)),
    Integers("8da8w", WeightBits(8, 0, dynamic=True), ScaleRule()),
)
_TABLE = (
    Integers("4 bits, group 32", WeightBits(4, 32), ScaleRule()),
    Integers("8 bits", WeightBits(8, 0), ScaleRule()),
)
FAMILIES: dict[str, Family] = {
    "blocks": Family(_BLOCKS, _BLOCKS, _BLOCKS),
    "8da4w": Family(_LINEAR, _TABLE),
}


@dataclass
class Option:
    """A form with a matrix's codes; `error`: how many nats of a token it is thought to cost."""

    form: Form
    codes: Codes
    bytes: int
    error: float = 0.0

    @property
    def cost(self) -> int:
        return self.bytes


@dataclass
class Site:
    """A matrix, the layers that read it, and what it may become, fewest bytes first."""

    name: str
    layers: tuple[Any, ...]
    options: list[Option]

    @property
    def weight(self) -> Tensor:
        return self.layers[0].weight


@torch.no_grad()
def sites_of(model: nn.Module, family: Family, texts: Sequence[Any], run: Run) -> list[Site]:
    """All matrices that a form of the family fits, with their codes in each; `run` calls the model with a text."""
    found: dict[Any, Site] = {}
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear | nn.Embedding):
            key = id(layer.weight) if family.tied else layer
            site = found.setdefault(key, Site(name, (), []))
            site.layers += (layer,)
    sites = [site for site in found.values() if _fitting(site, family)]
    linears: dict[Any, Site] = {}
    for site in sites:
        linear = next((each for each in site.layers if isinstance(each, nn.Linear)), None)
        if linear is None:
            _encode(site, family, None)
        else:
            linears[linear] = site
    tied = ties_of(list(linears), texts, run)
    for linear, ties in counted(tied, "budget: matrices in each form", len(linears)):
        _encode(linears[linear], family, ties)
    return sites


def _fitting(site: Site, family: Family) -> list[Form]:
    return [form for form in family.forms(site.layers) if form.bits.fits(site.weight.shape[1])]


def _encode(site: Site, family: Family, ties: Ties | None) -> None:
    weight = site.weight.detach()
    for form in _fitting(site, family):
        codes = form.codes(weight, ties)
        site.options.append(Option(form, codes, form.bytes(weight.shape)))
