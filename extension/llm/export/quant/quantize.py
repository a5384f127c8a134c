# SPDX-License-Identifier: BSD-3-Clause
"""Weights quantized as a recipe says: 4 bits as torchao's Int4Tensor, 5, 6 and 8 as IntxUnpackedToInt8Tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn
from torchao.quantization import Int4Tensor, IntxUnpackedToInt8Tensor
from torchao.quantization.quant_primitives import MappingType

from executorch.extension.llm.export.int4 import ExportableInt4Tensor
from executorch.extension.llm.export.quant.convert import Convert, maybe_cast, to_default
from executorch.extension.llm.export.quant.recipe import QuantConfig, QuantRecipe
from executorch.extension.llm.transform.half_quadratic import quantize_by_least_squares

_BITS = (4, 5, 6, 8)
_METHODS = ("min_max", "hqq")


def quantize_weight(weight: Tensor, config: QuantConfig) -> Tensor:
    """A matrix [outputs, inputs] in bfloat16 and `config.bits`.

    Raises ValueError: bits, a method or a group that do not exist here.
    """
    _check(weight, config)
    weight = weight.detach().to(torch.bfloat16)
    unpacked = (
        _least_squares(weight, config) if config.method == "hqq" else _min_max(weight, config)
    )
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


def _min_max(weight: Tensor, config: QuantConfig) -> IntxUnpackedToInt8Tensor:
    mapping = MappingType.SYMMETRIC if config.symmetric else MappingType.ASYMMETRIC
    dtype = getattr(torch, f"int{config.bits}")
    return IntxUnpackedToInt8Tensor.from_hp(
        weight, (1, config.group_size), dtype, mapping_type=mapping
    )


def _least_squares(weight: Tensor, config: QuantConfig) -> IntxUnpackedToInt8Tensor:
    limit = 1 << config.bits - 1
    codes, scales = quantize_by_least_squares(weight, config.group_size, -limit, limit - 1)
    zeros = torch.zeros(scales.shape, dtype=torch.int8)
    dtype = getattr(torch, f"int{config.bits}")
    return IntxUnpackedToInt8Tensor(
        codes, scales, zeros, dtype, (1, config.group_size), weight.dtype, None
    )


def _int4(unpacked: IntxUnpackedToInt8Tensor) -> Int4Tensor:
    """torchao's form: (code - 8) * scale + zero, a row of scales for each group of columns."""
    packed = ExportableInt4Tensor.from_intx_unpacked_to_int8_tensor(unpacked)
    zeros = (8 - packed.zero_point.float()) * packed.scale.float()
    block = list(unpacked.block_size)
    return Int4Tensor(
        packed.qdata, packed.scale, zeros.to(packed.scale.dtype), block, unpacked.shape
    )


def dequantize_weight(weight: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The matrix that a quantized weight stands for. Raises TypeError for a plain one."""
    if isinstance(weight, Int4Tensor):
        weight = ExportableInt4Tensor.from_int4_tensor(weight)
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
