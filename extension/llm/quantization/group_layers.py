# SPDX-License-Identifier: BSD-3-Clause
"""Layers whose codes and scales are buffers, as checkpoints in few bits and older exports hold them.

Their numbers are those of weights.py: a table of codes gives what torchao's tensor of the same codes gives.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from executorch.exir.passes._quant_patterns_and_replacements import pack_embedding_weight
from executorch.extension.llm.formats.weight_bits import WeightBits, limits, weight_of_codes
from executorch.extension.llm.quantization.weights import quantized, replace_layers

logger = logging.getLogger(__name__)


def dynamically_quantize_per_channel(
    x: torch.Tensor,
    quant_min: int,
    quant_max: int,
    target_dtype: torch.dtype,
    group_size: int | None = None,
    *,
    scales_dtype: torch.dtype = torch.float16,
    enable_non_multiple_groups: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Codes of a matrix (rows, columns), scales and zero points (rows, groups), which are 0.

    A scale spans the largest value of a group: max |x| / ((quant_max - quant_min) / 2). The last group may be shorter
    than the others, unless `enable_non_multiple_groups` says otherwise.
    """
    rows, columns = x.shape
    group = group_size or columns
    if columns % group:
        if not enable_non_multiple_groups:
            raise ValueError(
                f"dynamically_quantize_per_channel: expected a group that divides {columns} columns, found {group}"
            )
        logger.warning("the last group of %d columns has %d of %d", columns, columns % group, group)
    groups = functional.pad(x, (0, -columns % group)).reshape(rows, -1, group)
    scales = groups.abs().amax(-1) / ((quant_max - quant_min) / 2)
    scales = scales.clamp(min=torch.finfo(torch.float32).eps)
    codes = torch.round(groups / scales.unsqueeze(-1)).clamp(quant_min, quant_max)
    codes = codes.reshape(rows, -1)[:, :columns].to(target_dtype)
    scales = scales.to(scales_dtype)
    return codes, scales, torch.zeros(scales.shape, dtype=torch.int64)


class QuantizedGroupEmbedding(nn.Module):
    """A table of `bitwidth` bits: `weight` int8 (rows, columns), or `packed` uint8, and `scales` (rows,) or (rows,
    groups)."""

    def __init__(
        self,
        device: Any,
        vocab_size: int,
        embedding_dim: int,
        group_size: int | None = None,
        dtype: torch.dtype = torch.half,
        packed: bool = False,
        bitwidth: int = 8,
    ) -> None:
        super().__init__()
        if bitwidth not in ((2, 4) if packed else (2, 4, 8)):
            raise ValueError(
                f"QuantizedGroupEmbedding: expected {'2 or 4' if packed else '2, 4 or 8'} bits, found {bitwidth}"
            )
        self.group_size = group_size or embedding_dim
        self.dtype, self.packed, self.bitwidth = dtype, packed, bitwidth
        columns = embedding_dim * bitwidth // 8 if packed else embedding_dim
        kind = torch.uint8 if packed else torch.int8
        codes = torch.zeros(vocab_size, columns, dtype=kind, device=device)
        groups = -(-embedding_dim // self.group_size)
        sizes = (vocab_size, groups) if groups > 1 else (vocab_size,)
        self.register_buffer("weight", codes)
        self.register_buffer("scales", torch.ones(sizes, dtype=torch.float16, device=device))

    @torch.no_grad()
    def _apply(
        self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True
    ) -> QuantizedGroupEmbedding:
        """What `to(dtype)` makes of floats is the type of the rows, too."""
        super()._apply(fn, recurse)
        self.dtype = fn(torch.empty(0, dtype=self.dtype)).dtype
        return self

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        name = f"embedding_{self.bitwidth}bit" if self.packed else "embedding_byte"
        look_up = getattr(torch.ops.quantized_decomposed, name).dtype
        ends = limits(self.bitwidth)
        return look_up(self.weight, self.scales, None, *ends, indices, dtype=self.dtype)


class QuantHandler:
    """Quantizes the layers of a model."""

    def __init__(self, mod: nn.Module) -> None:
        self.mod = mod

    def create_quantized_state_dict(self) -> dict[str, torch.Tensor]:
        raise NotImplementedError

    def convert_for_runtime(self) -> nn.Module:
        raise NotImplementedError

    def quantized_model(self) -> nn.Module:
        """The model, whose layers hold codes from here on."""
        state = self.create_quantized_state_dict()
        self.convert_for_runtime()
        self.mod.load_state_dict(state, assign=True)
        return self.mod


class EmbeddingQuantHandler(QuantHandler):
    """Tables by QuantizedGroupEmbedding. `quantize_with_hqq`: scales of the least squared error."""

    def __init__(
        self,
        mod: nn.Module,
        device: str = "cpu",
        *,
        bitwidth: int = 8,
        group_size: int | None = None,
        packed: bool = False,
        precision: torch.dtype | None = None,
        quantize_with_hqq: bool = True,
    ) -> None:
        super().__init__(mod)
        self.device, self.precision = device, precision
        self.bitwidth, self.group_size, self.packed = bitwidth, group_size or 0, packed
        self.quantize_with_hqq = quantize_with_hqq

    @torch.no_grad()
    def create_quantized_state_dict(self, packed: bool = False) -> dict[str, torch.Tensor]:  # type: ignore[override]
        """All of the model's, tables in codes."""
        state = self.mod.state_dict()
        wanted = WeightBits(self.bitwidth, self.group_size)
        for name, layer in self.mod.named_modules():
            if not isinstance(layer, nn.Embedding):
                continue
            made = quantized(layer.weight.detach().float(), wanted, self.quantize_with_hqq)
            pack = packed or self.packed
            codes = pack_embedding_weight(made.qdata, self.bitwidth) if pack else made.qdata
            prefix = f"{name}." if name else ""
            state[f"{prefix}weight"] = codes.to(self.device)
            scales = made.scale if made.scale.shape[1] > 1 else made.scale[:, 0]
            state[f"{prefix}scales"] = scales.to(self.device, self.precision or layer.weight.dtype)
        return state

    def convert_for_runtime(self) -> nn.Module:
        def make(layer: nn.Embedding, name: str) -> QuantizedGroupEmbedding:
            sizes = (layer.num_embeddings, layer.embedding_dim)
            dtype = self.precision or layer.weight.dtype
            options = (self.group_size or None, dtype, self.packed, self.bitwidth)
            return QuantizedGroupEmbedding(self.device, *sizes, *options)

        return replace_layers(self.mod, lambda layer: isinstance(layer, nn.Embedding), make)


class GroupLinear(nn.Module):
    """`weight` int8 (out, in), `scales` (out, groups) or (out,) for one of each row, and `zeros`, which are 0."""

    def __init__(self, layer: nn.Linear, wanted: WeightBits, dtype: torch.dtype) -> None:
        super().__init__()
        if layer.bias is not None:
            raise ValueError("pre-quantized layers: expected none with a bias, found one")
        self.wanted, self.dtype = wanted, dtype
        columns, rows = layer.in_features, layer.out_features
        sizes = (rows, columns // wanted.group) if wanted.group else (rows,)
        self.register_buffer("weight", torch.zeros(rows, columns, dtype=torch.int8))
        self.register_buffer("scales", torch.zeros(sizes, dtype=dtype))
        self.register_buffer("zeros", torch.zeros(sizes, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scales = self.scales.to(self.dtype).reshape(self.weight.shape[0], -1)
        weight = weight_of_codes(self.weight, scales, self.wanted, self.dtype)
        return functional.linear(x.to(self.dtype), weight)


def _replace_named(
    module: nn.Module, kind: type[nn.Module], checkpoint: Any, make: Callable[[Any], nn.Module]
) -> nn.Module:
    """Layers of a kind whose scales the checkpoint has."""

    def made(layer: nn.Module, name: str) -> nn.Module:
        return make(layer) if f"{name}.scales" in checkpoint else layer

    return replace_layers(module, lambda layer: isinstance(layer, kind), made)


def transform_linear_for_pre_quantization(
    module: nn.Module,
    checkpoint: Any,
    group_size: int,
    dtype: torch.dtype,
    weight_only: bool = False,
) -> nn.Module:
    """Linear layers of 4 bits in groups, ready to load the checkpoint; inputs become int8 unless `weight_only`."""
    wanted = WeightBits(4, group_size, not weight_only)

    def make(layer: nn.Linear) -> GroupLinear:
        if layer.in_features % group_size:
            raise ValueError(
                f"base.preq_group_size: expected a group that divides {layer.in_features}, found {group_size}"
            )
        return GroupLinear(layer, wanted, dtype)

    return _replace_named(module, nn.Linear, checkpoint, make)


def transform_output_linear_for_pre_quantization(
    module: nn.Module, checkpoint: Any, dtype: torch.dtype
) -> nn.Module:
    """The layer `output` of 8 bits with a scale for each row, if the checkpoint has it so."""
    wanted = WeightBits(8, 0, True)
    if "output.scales" in checkpoint:
        module.output = GroupLinear(module.output, wanted, dtype)
    return module


def transform_embedding_for_pre_quantization(
    module: nn.Module,
    checkpoint: Any,
    dtype: torch.dtype,
    bit_width: int,
    group_size: int | None = None,
) -> nn.Module:
    """Tables of embeddings in few bits, ready to load the checkpoint."""

    def make(layer: nn.Embedding) -> QuantizedGroupEmbedding:
        sizes = (layer.num_embeddings, layer.embedding_dim)
        return QuantizedGroupEmbedding("cpu", *sizes, group_size, dtype, bitwidth=bit_width)

    return _replace_named(module, nn.Embedding, checkpoint, make)


def sanitize_checkpoint_from_pre_quantization(checkpoint: Any) -> None:
    """In place: tensors are contiguous, scales of one column have none."""
    for name, value in checkpoint.items():
        checkpoint[name] = value.contiguous().squeeze()
