# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints whose weights are in few bits already (SpinQuant, QAT): integers with scales beside them.

`X.weight` int8 and `X.scales` become one tensor of torchao's, which lowers as `quantization.qmode=8da4w` does. Nothing
is quantized again: the integers of the file are those of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import nn

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.keys import Pair
from executorch.extension.llm.formats.weight_bits import (
    WeightBits,
    embedding_bits,
    limits,
    weight_of_codes,
)

_ADAPTERS = {"adaptor.A.weight": "lora_a.weight", "adaptor.B.weight": "lora_b.weight"}
ADAPTOR_SCALE = 2.0


@dataclass(frozen=True)
class Prequantized:
    """How the integers are meant: linear layers in groups of 4 bits, the output layer perhaps in rows of 8."""

    group: int
    output_8_bits: bool
    embedding: WeightBits
    dtype: torch.dtype

    def kind(self, name: str) -> WeightBits:
        """Of the layer of a weight."""
        if "embeddings" in name:
            return self.embedding
        if self.output_8_bits and "output" in name:
            return WeightBits(8, 0, True)
        return WeightBits(4, self.group, True)


def embedding_kind(text: str) -> WeightBits:
    """Of `base.preq_embedding_quantize`."""
    found = embedding_bits(text)
    if found.bits not in (2, 4, 8) or found.group not in (0, 32, 64, 128, 256):
        raise ValueError(
            "base.preq_embedding_quantize: expected 'bits,group' with 2, 4 or 8 bits and a group of 0, 32, 64, 128 "
            f"or 256, found {text!r}"
        )
    return found


def adapted_layers(names: Iterable[str]) -> set[str]:
    """The projections (`wq`, `w1`, ...) that have adapters in a checkpoint."""
    ends = tuple(f".{end}" for end in _ADAPTERS)
    return {name.rsplit(".", 4)[-4] for name in names if name.endswith(ends)}


def quantized_pairs(pairs: Iterable[Pair], how: Prequantized, where: str) -> Iterator[Pair]:
    """Weights with their scales as one tensor each, everything else as it is.

    Raises CheckpointError, which names the tensor: a type or shape that such files do not have.
    """
    waiting: dict[str, torch.Tensor] = {}
    for name, value in pairs:
        value = value.contiguous()
        layer, _, last = name.rpartition(".")
        if last == "zeros":
            if value.count_nonzero():
                raise CheckpointError(
                    f"{where}: tensor {name!r}: expected zeros, found other numbers"
                )
            continue
        other = {"weight": f"{layer}.scales", "scales": f"{layer}.weight"}.get(last)
        if other is None or (last == "weight" and value.dtype != torch.int8):
            yield _adapter_name(name), value
        elif other in waiting:
            found = {last: value, other.rpartition(".")[2]: waiting.pop(other)}
            yield f"{layer}.weight", _joined(layer, found["weight"], found["scales"], how, where)
        else:
            waiting[name] = value
    if waiting:
        name = next(iter(waiting))
        missing = "scales" if name.endswith("weight") else "weight"
        raise CheckpointError(f"{where}: tensor {name!r} has no {missing!r} beside it")


def _adapter_name(name: str) -> str:
    for theirs, ours in _ADAPTERS.items():
        if name.endswith(theirs):
            return name.removesuffix(theirs) + ours
    return name


def _joined(
    layer: str, weight: torch.Tensor, scales: torch.Tensor, how: Prequantized, where: str
) -> torch.Tensor:
    wanted = how.kind(layer)
    label = f"{where}: tensor {layer + '.weight'!r}"
    if weight.dim() != 2 or weight.dtype != torch.int8:
        raise CheckpointError(
            f"{label}: expected int8 of 2 dimensions, found {weight.dtype} of {weight.dim()}"
        )
    rows, columns = weight.shape
    group = wanted.group or columns
    if columns % group:
        raise CheckpointError(
            f"{label}: expected a multiple of base.preq_group_size ({group}) columns, found {columns}"
        )
    if scales.numel() != rows * (columns // group) or not scales.is_floating_point():
        raise CheckpointError(
            f"{where}: tensor {layer + '.scales'!r}: expected {rows * (columns // group)} floats (groups of {group}), "
            f"found {scales.dtype} {list(scales.shape)}; is base.preq_group_size that of the checkpoint?"
        )
    low, high = limits(wanted.bits)
    if rows and columns and not (low <= int(weight.min()) and int(weight.max()) <= high):
        raise CheckpointError(
            f"{label}: expected numbers of {wanted.bits} bits, from {low} to {high}"
        )
    scales = scales.reshape(rows, columns // group).to(how.dtype)
    made = weight_of_codes(weight, scales, wanted, how.dtype)
    return nn.Parameter(made, requires_grad=False)
