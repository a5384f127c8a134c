# SPDX-License-Identifier: BSD-3-Clause
"""Which weights are held in how many bits, by name: the first rule that takes a name decides. Tensors of a checkpoint
or a model become those that torch.export takes, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torchao.quantization import Int4Tensor, IntxUnpackedToInt8Tensor

from executorch.extension.llm.formats.weight_bits import WeightBits
from executorch.extension.llm.quantization.exportable import (
    MIDDLE,
    Convert,
    ExportableInt4Tensor,
    maybe_cast,
    to_default,
    to_exportable,
)
from executorch.extension.llm.quantization.weights import quantized

_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)(?=\.|$)")
_BITS = (4, 5, 6, 8)
_METHODS = ("min_max", "hqq")


@dataclass(frozen=True)
class QuantConfig:
    """`group_size` columns of a row share a scale; `method` is "min_max" or "hqq" (least squares)."""

    bits: int
    group_size: int
    symmetric: bool
    method: str


@dataclass
class QuantRule:
    """Takes names that `pattern`, a regular expression, matches whole, of these `layers` only (None: all). `config`
    None leaves the weight as it is."""

    pattern: str
    config: QuantConfig | None
    layers: set[int] | None = field(default=None, repr=False)

    def takes(self, fqn: str) -> bool:
        if re.fullmatch(self.pattern, fqn) is None:
            return False
        layer = _LAYER.search(fqn)
        return self.layers is None or layer is None or int(layer[1]) in self.layers


@dataclass
class QuantRecipe:
    rules: list[QuantRule]

    def get_config(self, fqn: str) -> QuantConfig | None:
        """None for a weight that no rule takes, or that stays as it is."""
        return next((rule.config for rule in self.rules if rule.takes(fqn)), None)


def quantize_weight(weight: Tensor, config: QuantConfig) -> Tensor:
    """A matrix [outputs, inputs] in bfloat16: torchao's Int4Tensor of 4 bits, else its IntxUnpackedToInt8Tensor.

    Raises ValueError: bits, a method or a group that do not exist here.
    """
    _check(weight, config)
    weight, wanted = weight.detach().to(torch.bfloat16), WeightBits(config.bits, config.group_size)
    unpacked = quantized(weight, wanted, config.method == "hqq", config.symmetric)
    return _int4(unpacked) if config.bits == 4 else unpacked


def _check(weight: Tensor, config: QuantConfig) -> None:
    if config.bits not in _BITS:
        raise ValueError(f"Unsupported bits={config.bits}; expected one of {_BITS}")
    if config.method not in _METHODS:
        raise ValueError(
            f"Unknown quantization method: {config.method!r}. Supported: {', '.join(map(repr, _METHODS))}."
        )
    if config.method == "hqq" and not config.symmetric:
        raise ValueError(
            "hqq only supports symmetric quantization; use method='min_max' for asymmetric"
        )
    if config.group_size < 1 or weight.dim() != 2 or weight.shape[1] % config.group_size:
        raise ValueError(
            f"expected a matrix whose columns group_size divides, found shape {list(weight.shape)} and "
            f"group_size={config.group_size}"
        )


def _int4(unpacked: IntxUnpackedToInt8Tensor) -> Int4Tensor:
    """torchao's form: (code - 8) * scale + zero, a row of scales for each group of columns."""
    packed = ExportableInt4Tensor.from_intx_unpacked_to_int8_tensor(unpacked)
    zeros = (MIDDLE - packed.zero_point.float()) * packed.scale.float()
    block, zeros = list(unpacked.block_size), zeros.to(packed.scale.dtype)
    return Int4Tensor(packed.qdata, packed.scale, zeros, block, unpacked.shape)


def dequantize_weight(weight: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The matrix that a quantized weight stands for. Raises TypeError for a plain one."""
    weight = to_exportable("", weight)
    if isinstance(weight, ExportableInt4Tensor):
        return weight.dequantize(dtype)
    if isinstance(weight, IntxUnpackedToInt8Tensor):
        groups = weight.qdata.reshape(*weight.scale.shape, -1).float()
        zeros = weight.zero_point.float().unsqueeze(-1)
        return ((groups - zeros) * weight.scale.float().unsqueeze(-1)).view(weight.shape).to(dtype)
    raise TypeError(f"Cannot dequantize {type(weight).__name__}")


def quantize_stream(
    pairs: Iterable[tuple[str, Tensor]], recipe: QuantRecipe, dtype: torch.dtype = torch.bfloat16
) -> Iterator[tuple[str, Tensor]]:
    """One tensor after the other; what the recipe leaves as it is becomes `dtype`."""
    for fqn, weight in pairs:
        config = recipe.get_config(fqn)
        yield fqn, maybe_cast(weight, dtype) if config is None else quantize_weight(weight, config)


def quantize_model(
    model: nn.Module,
    recipe: QuantRecipe,
    *,
    convert: Convert = to_default,
    dtype: torch.dtype = torch.bfloat16,
    verbose: bool = False,
) -> dict[str, Tensor]:
    """A state dict of the model's parameters and persistent buffers; the model is not changed."""
    state: dict[str, Tensor] = {}
    pairs = ((fqn, tensor.detach()) for fqn, tensor in model.state_dict().items())
    for fqn, weight in quantize_stream(pairs, recipe, dtype):
        state[fqn] = convert(fqn, weight)
        if verbose:
            print(f"{fqn}: {recipe.get_config(fqn) or state[fqn].dtype}")
    return state
