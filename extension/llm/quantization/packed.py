# SPDX-License-Identifier: BSD-3-Clause
"""Quantized layers by torchao's operators, which read weights packed to their bits (1 to 8).

A linear layer and a table of embeddings that are tied hold one packed weight (`_shared_embedding_Nbit` reads the
linear layer's bytes).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

import executorch.kernels.torchao  # noqa: F401  (registers the operators)
from executorch.extension.llm.formats.weight_bits import WeightBits
from executorch.extension.llm.model.transformer import check_tied, is_tied
from executorch.extension.llm.quantization.weights import quantize_linears, replace_layers


class PackedLinear(nn.Module):
    """torchao::_linear_8bit_act_Nbit_weight: inputs of each token become 8 bits while it runs."""

    def __init__(self, plain: nn.Linear, name: str) -> None:
        super().__init__()
        weight, self.bits, self.group = _parts(plain.weight, name)
        self.out_features, self.in_features = weight.shape
        if self.group % 16:
            raise ValueError(
                f"quantization.group_size: expected a multiple of 16 for torchao's kernels, found {self.group} ({name})"
            )
        zeros = plain.weight.zero_point
        pack = getattr(torch.ops.torchao, f"_pack_8bit_act_{self.bits}bit_weight")
        bias = None if plain.bias is None else plain.bias.float()
        packed = pack(
            weight,
            plain.weight.scale.float().flatten(),
            zeros.flatten() if bool(zeros.any()) else None,
            self.group,
            bias,
            None,
        )
        self.register_buffer("packed_weights", packed)
        self.op = getattr(torch.ops.torchao, f"_linear_8bit_act_{self.bits}bit_weight")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, self.in_features).float()
        sizes = (self.group, self.out_features, self.in_features)
        out = self.op(rows, self.packed_weights, *sizes)
        return out.reshape(*x.shape[:-1], self.out_features).to(x.dtype)


class PackedEmbedding(nn.Module):
    """torchao::_embedding_Nbit."""

    def __init__(self, plain: nn.Embedding, name: str) -> None:
        super().__init__()
        values, self.bits, group = _parts(plain.weight, name)
        self.num_embeddings, self.embedding_dim = values.shape
        self.dtype = plain.weight.dtype
        if group % 32:
            raise ValueError(
                f"quantization.embedding_quantize: expected a group that is a multiple of 32 for torchao's kernels, "
                f"found {group} ({name})"
            )
        pack = getattr(torch.ops.torchao, f"_pack_embedding_{self.bits}bit")
        self.register_buffer("packed_weight_qvals", pack(values))
        self.register_buffer("weight_scales", plain.weight.scale.float())
        self.register_buffer("weight_zeros", plain.weight.zero_point.to(torch.int8))
        self.op = getattr(torch.ops.torchao, f"_embedding_{self.bits}bit")

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        sizes = (self.num_embeddings, self.embedding_dim)
        stored = (self.packed_weight_qvals, *sizes, self.weight_scales, self.weight_zeros)
        out = self.op(*stored, indices.reshape(-1))
        return out.reshape(*indices.shape, self.embedding_dim).to(self.dtype)


class SharedEmbedding(nn.Module):
    """torchao::_shared_embedding_Nbit: rows of the output layer's packed weight."""

    def __init__(self, output: PackedLinear, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("packed_weights", output.packed_weights)
        self.sizes = (output.group, output.out_features, output.in_features)
        self.dtype = dtype
        self.op = getattr(torch.ops.torchao, f"_shared_embedding_{output.bits}bit")

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        out = self.op(self.packed_weights, *self.sizes, indices.reshape(-1))
        return out.reshape(*indices.shape, self.sizes[2]).to(self.dtype)


def _parts(weight: Any, name: str) -> tuple[torch.Tensor, int, int]:
    """Integers, bits and group of a quantized weight."""
    if not hasattr(weight, "qdata"):
        raise ValueError(
            f"backend.torchao: expected quantized weights in {name}; give quantization.qmode=torchao:8da<bits>w and a "
            f"group that divides {weight.shape[1]}"
        )
    return (
        weight.qdata,
        int(str(weight.target_dtype).removeprefix("torch.int")),
        weight.block_size[1],
    )


def _is_dynamic(module: nn.Module) -> bool:
    weight = getattr(module, "weight", None)
    return isinstance(module, nn.Linear) and bool(getattr(weight, "activation_quantization", None))


def pack_low_bits(model: nn.Module, linears: bool) -> nn.Module:
    """Quantized linear layers and embeddings, where `linears` asks for it; other tables only of bits that no operator
    of ExecuTorch's own has (1, 3, 5, 6 and 7)."""
    if linears:
        replace_layers(model, _is_dynamic, PackedLinear)
    return replace_layers(model, _is_quantized_table if linears else _is_odd_table, PackedEmbedding)


def _is_quantized_table(module: nn.Module) -> bool:
    return isinstance(module, nn.Embedding) and hasattr(module.weight, "qdata")


def _is_odd_table(module: nn.Module) -> bool:
    return _is_quantized_table(module) and _parts(module.weight, "")[1] not in (2, 4, 8)


def share_embedding(
    model: nn.Module, wanted: WeightBits, use_hqq: bool, required: bool
) -> nn.Module:
    """The output layer is quantized and packed, and the table of embeddings read out of it. Where the two are not
    tied, nothing happens, or ValueError (`required`)."""
    if required:
        check_tied(model)
    elif not is_tied(model):
        return model
    output, table = model.output, model.tok_embeddings
    dtype = table.weight.dtype
    holder = nn.ModuleDict({"output": output})
    quantize_linears(holder, wanted, use_hqq)
    model.output = PackedLinear(output, "output")
    model.tok_embeddings = SharedEmbedding(model.output, dtype)
    return model
