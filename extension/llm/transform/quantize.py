# SPDX-License-Identifier: BSD-3-Clause
"""Weights in few bits: what `quantization.qmode` and `embedding_quantize` do to a model, and the report of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
from torch import nn

from executorch.extension.llm.export.config.llm_config import DEFAULT_GROUP
from executorch.extension.llm.transform.half_quadratic import quantize_by_least_squares


@dataclass(frozen=True)
class WeightBits:
    """How linear weights are held; `group` 0: one scale a row. `dynamic`: inputs become 8 bits while running."""

    bits: int
    group: int
    dynamic: bool


def linear_bits(qmode: str, group_size: int | None) -> WeightBits:
    """What a qmode means. Raises ValueError for one that does not exist."""
    group = group_size or DEFAULT_GROUP
    if qmode == "8da4w":
        return WeightBits(4, group, True)
    if qmode == "int8":
        return WeightBits(8, group_size or 0, False)
    if qmode == "4w":
        return WeightBits(4, group, False)
    found = re.fullmatch(r"torchao:(8da|fpa)([1-8])w", qmode)
    if found is None:
        raise ValueError(f"quantization.qmode: no such mode: {qmode!r}")
    return WeightBits(int(found[2]), group, found[1] == "8da")


def embedding_bits(text: str) -> WeightBits:
    """What `bits,group` means; a group of 0 or none is a scale for each row."""
    bits, group = text.removeprefix("torchao:").split(",")[:2]
    return WeightBits(int(bits), 0 if group.lower() == "none" else int(group), False)


def _fits(module: nn.Module, wanted: WeightBits) -> bool:
    return not wanted.group or module.weight.shape[1] % wanted.group == 0


def _quantized(weight: torch.Tensor, wanted: WeightBits, use_hqq: bool) -> torch.Tensor:
    """torchao's tensor of codes, scales by least error (half-quadratic) or by the largest value of a group."""
    from torchao.quantization import IntxUnpackedToInt8Tensor

    block = (1, wanted.group or weight.shape[1])
    dtype = getattr(torch, f"int{wanted.bits}")
    activations = "int8_asym_per_token" if wanted.dynamic else None
    if not use_hqq:
        return IntxUnpackedToInt8Tensor.from_hp(
            weight, block, dtype, activation_quantization=activations
        )
    limit = 1 << wanted.bits - 1
    codes, scales = quantize_by_least_squares(weight, block[1], -limit, limit - 1)
    zeros = torch.zeros(scales.shape, dtype=torch.int8)
    return IntxUnpackedToInt8Tensor(codes, scales, zeros, dtype, block, weight.dtype, activations)


def _quantize(module: nn.Module, wanted: WeightBits, use_hqq: bool) -> None:
    """A tied weight is held twice from here on, each time in its own bits."""
    weight = _quantized(module.weight.detach(), wanted, use_hqq)
    module.weight = nn.Parameter(weight, requires_grad=False)


def quantize_linears(model: nn.Module, wanted: WeightBits, use_hqq: bool = True) -> nn.Module:
    """Every linear layer whose inputs a group divides; others stay as they are, which the report says."""
    for module in model.modules():
        if isinstance(module, nn.Linear) and _fits(module, wanted):
            _quantize(module, wanted, use_hqq)
    return model


def quantize_embeddings(model: nn.Module, wanted: WeightBits, use_hqq: bool = True) -> nn.Module:
    """Raises ValueError where a group does not divide the width."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding):
            if not _fits(module, wanted):
                raise ValueError(
                    f"quantization.embedding_quantize: expected a group that divides {module.weight.shape[1]} "
                    f"({name}), found {wanted.group}"
                )
            _quantize(module, wanted, use_hqq)
    return model


def report(model: nn.Module) -> str:
    """Lines of how many weights are held in how many bits (scales not counted), and the bits of all together."""
    counts: dict[str, int] = {}
    total_bits = total = 0
    for _, parameter in model.named_parameters():
        target = getattr(parameter, "target_dtype", None)
        bits = parameter.dtype.itemsize * 8
        if target is not None:
            bits = int(re.sub(r"\D", "", str(target).removeprefix("torch.")))
        counts[f"{bits}-bit"] = counts.get(f"{bits}-bit", 0) + parameter.numel()
        total, total_bits = total + parameter.numel(), total_bits + bits * parameter.numel()
    lines = [f"{kind}: {count / 1e6:.1f} million weights" for kind, count in sorted(counts.items())]
    return "; ".join(lines) + f"; {total_bits / max(total, 1):.2f} bits a weight"
