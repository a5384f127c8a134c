# SPDX-License-Identifier: BSD-3-Clause
"""Layers that keep a GGUF file's own codes, scales and minima (`quantization.qmode=gguf`): nothing is quantized again.

A weight is scale * code - minimum, by groups of a row. Codes and scales go into torchao's packed bytes, whose linear
layer reads them; minima are a small matrix of floats beside, multiplied with the sums of the inputs' groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

import executorch.kernels.torchao  # noqa: F401  (registers the operators)
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.keys import Pair, to_model_names
from executorch.extension.llm.checkpoint.load import owner_of
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.families import Family


@dataclass(frozen=True)
class Coded:
    """A matrix: signed codes of `bits` [rows, columns], scales and what is added [rows, groups]."""

    bits: int
    codes: torch.Tensor
    scales: torch.Tensor
    added: torch.Tensor | None

    @property
    def group(self) -> int:
        return self.codes.shape[1] // self.scales.shape[1]


class CodedLinear(nn.Module):
    """torchao::_linear_8bit_act_Nbit_weight (inputs of each token become 8 bits while it runs), and minima."""

    def __init__(self, weight: Coded, bias: torch.Tensor | None) -> None:
        super().__init__()
        self.bits, self.group = weight.bits, weight.group
        self.out_features, self.in_features = weight.codes.shape
        pack = getattr(torch.ops.torchao, f"_pack_8bit_act_{weight.bits}bit_weight")
        scales = weight.scales.flatten()
        packed = pack(weight.codes, scales, None, weight.group, bias, None)
        self.register_buffer("packed_weights", packed)
        self.register_buffer("added", weight.added)
        self.op = getattr(torch.ops.torchao, f"_linear_8bit_act_{weight.bits}bit_weight")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, self.in_features).float()
        sizes = (self.group, self.out_features, self.in_features)
        out = self.op(rows, self.packed_weights, *sizes)
        if self.added is not None:
            sums = rows.reshape(-1, self.in_features // self.group, self.group).sum(-1)
            out = out + nn.functional.linear(sums, self.added)
        return out.reshape(*x.shape[:-1], self.out_features).to(x.dtype)


class CodedEmbedding(nn.Module):
    """torchao::_shared_embedding_Nbit: rows of a linear layer's packed weight, and their minima."""

    def __init__(self, linear: CodedLinear, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("packed_weights", linear.packed_weights)
        self.register_buffer("added", linear.added)
        self.sizes = (linear.group, linear.out_features, linear.in_features)
        self.dtype = dtype
        self.op = getattr(torch.ops.torchao, f"_shared_embedding_{linear.bits}bit")

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        group, _, width = self.sizes
        out = self.op(self.packed_weights, *self.sizes, indices.reshape(-1))
        if self.added is not None:
            added = nn.functional.embedding(indices.reshape(-1), self.added).unsqueeze(-1)
            out = (out.reshape(-1, width // group, group) + added).reshape(-1, width)
        return out.reshape(*indices.shape, width).to(self.dtype)


def _coded_pairs(file: GGUFFile, bits: int) -> Iterator[Pair]:
    """The matrices whose codes have so many bits: codes, scales and minima side by side, so that names are mapped and
    fused rows are shared out as those of any other tensor."""
    for name, tensor in file.tensors.items():
        form = tensor.format
        if form.parts is None or form.code_bits != bits or len(tensor.shape) != 2:
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            scales, codes, minima = form.parts(file.raw(name))
        rows = tensor.shape[0]
        parts = [codes.astype(np.float32).reshape(rows, -1), scales.reshape(rows, -1)]
        parts.append(np.full_like(parts[1], np.nan) if minima is None else minima.reshape(rows, -1))
        yield name, torch.from_numpy(np.concatenate(parts, -1).astype(np.float32))


def _coded(joined: torch.Tensor, columns: int, bits: int) -> Coded:
    groups = (joined.shape[1] - columns) // 2
    codes, scales, minima = joined.split((columns, groups, groups), 1)
    if bool(minima.isnan().all()):
        return Coded(bits, codes.to(torch.int8), scales.contiguous(), None)
    middle = 1 << bits - 1  # codes from 0 become signed ones
    added = scales * middle - minima
    return Coded(bits, (codes - middle).to(torch.int8), scales.contiguous(), added)


def keep_gguf_bits(model: nn.Module, file: GGUFFile, family: Family, args: ModelArgs) -> nn.Module:
    """Linear layers and the table of embeddings whose tensors the file holds in blocks take those over; others stay
    as they are. A tied table is held once."""
    tied = model.output is not None and model.output.weight is model.tok_embeddings.weight
    names = tuple(file.tensors)
    for bits in sorted({tensor.format.code_bits for tensor in file.tensors.values()} - {0}):
        for name, joined in to_model_names(_coded_pairs(file, bits), names, family, args):
            _take_over(model, name, joined, bits, tied)
    return model


def _take_over(model: nn.Module, name: str, joined: torch.Tensor, bits: int, tied: bool) -> None:
    try:
        layer, last = owner_of(model, name)
    except AttributeError:
        return
    if last != "weight" or not isinstance(layer, nn.Linear | nn.Embedding):
        return
    coded = _coded(joined, layer.weight.shape[1], bits)
    bias = getattr(layer, "bias", None)
    linear = CodedLinear(coded, None if bias is None else bias.detach().float())
    if isinstance(layer, nn.Linear):
        _replace(model, layer, linear)
        return
    _replace(model, layer, CodedEmbedding(linear, layer.weight.dtype))
    if tied:
        _replace(model, model.output, linear)


def _replace(model: nn.Module, layer: nn.Module, by: nn.Module) -> None:
    for module in model.modules():
        for child, found in module.named_children():
            if found is layer:
                setattr(module, child, by)
                return
