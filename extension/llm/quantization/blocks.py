# SPDX-License-Identifier: BSD-3-Clause
"""Layers that keep a GGUF file's own blocks (`quantization.qmode=gguf`, the default): nothing is quantized again.

The blocks' codes, scales and minima stay bit for bit, in an order that kernels read fast (checkpoint/panels.py);
inputs of linear layers become integers while they run, 32 numbers at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  (registers the operators)
from executorch.extension.llm.checkpoint.gguf import GGUFFile, GGUFTensor
from executorch.extension.llm.checkpoint.keys import Pair, to_model_names
from executorch.extension.llm.checkpoint.load import assign, owner_of
from executorch.extension.llm.formats.blocks import BlockFormat
from executorch.extension.llm.formats.panels import NUMBERS, pack_panels
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.families import Family
from executorch.extension.llm.model.lora import LoRALinear
from executorch.extension.llm.quantization.weights import replace_layers


class BlockLinear(nn.Module):
    """llama::linear_of_blocks of one weight; the operator takes several that read one input."""

    def __init__(
        self, number: int, rows: int, panels: torch.Tensor, bias: torch.Tensor | None, bits: int
    ) -> None:
        super().__init__()
        self.number, self.rows, self.bits = number, rows, bits
        self.register_buffer("panels", panels)
        self.register_buffer("bias", bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = [self.panels], [self.number], [self.rows], [self.bias]
        if (
            x.dtype == torch.float32
        ):  # no conversions: layers of one x are joined (JoinLinearsOfBlocks)
            return torch.ops.llama.linear_of_blocks(x, *weight, self.bits)[0]
        return torch.ops.llama.linear_of_blocks(x.float(), *weight, self.bits)[0].to(x.dtype)


class BlockEmbedding(nn.Module):
    """Rows of the table of a linear layer, which a tied one shares."""

    def __init__(self, linear: BlockLinear, dtype: torch.dtype) -> None:
        super().__init__()
        self.number, self.rows, self.dtype = linear.number, linear.rows, dtype
        self.register_buffer("panels", linear.panels)

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        found = torch.ops.llama.embedding_of_blocks(self.panels, self.number, self.rows, indices)
        return found.to(self.dtype)


def in_blocks(tensor: GGUFTensor) -> bool:
    """Whether it is a matrix whose bits are kept."""
    return tensor.format.fields is not None and len(tensor.shape) == 2


def pairs_without_blocks(file: GGUFFile) -> Iterator[Pair]:
    """The tensors of a file; of matrices in blocks the shapes alone, on the meta device, for keep_gguf_bits()."""
    for name, tensor in file.tensors.items():
        yield (
            name,
            (torch.empty(tensor.shape, device="meta") if in_blocks(tensor) else file.read(name)),
        )


def _block_pairs(file: GGUFFile, form: BlockFormat) -> Iterator[Pair]:
    """The matrices of a format as bytes [rows, bytes of a row], so that names are mapped and fused rows are shared out
    as those of any other tensor."""
    for name, tensor in file.tensors.items():
        if in_blocks(tensor) and tensor.format is form:
            yield name, torch.from_numpy(file.raw(name).reshape(tensor.shape[0], -1).copy())


def _fine_layers(model: nn.Module) -> set[nn.Module]:
    """Those behind the last attention, which one token of a prompt passes: 16 bits of activations cost them next to no
    time, and theirs is half of what 8 bits change in a model's probabilities."""
    last = model.layers[-1]
    behind = (last.feed_forward, last.block_sparse_moe, model.output)
    return {layer for part in behind if part is not None for layer in part.modules()}


def keep_gguf_bits(
    model: nn.Module, file: GGUFFile, family: Family, args: ModelArgs, activation_bits: int = 8
) -> nn.Module:
    """Linear layers and the table of embeddings whose tensors the file holds in blocks take those over, one after the
    other; a tied table is held once. Other matrices that were left on the meta device become floats. Inputs have
    `activation_bits`, and 16 in the layers behind the last attention."""
    tied = model.output is not None and model.output.weight is model.tok_embeddings.weight
    fine = _fine_layers(model)
    names = tuple(file.tensors)
    formats = {t.format for t in file.tensors.values() if in_blocks(t)}
    for form in sorted(formats, key=lambda each: each.name):
        for name, rows in to_model_names(_block_pairs(file, form), names, family, args):
            layer = _layer_of(model, name)
            if layer is None:
                numbers = form.dequantize(rows.numpy().reshape(-1, form.bytes))
                value = torch.from_numpy(np.ascontiguousarray(numbers, np.float32))
                dtype = model.tok_embeddings.weight.dtype
                assign(model, name, value.view(*rows.shape[:-1], -1).to(dtype), str(file.path))
                continue
            bias = getattr(layer, "bias", None)
            panels = torch.from_numpy(pack_panels(form, rows.contiguous().numpy()))
            is_fine = layer in fine or (tied and isinstance(layer, nn.Embedding))
            linear = BlockLinear(
                NUMBERS[form.name], len(rows), panels, None if bias is None else bias.detach().float(),
                16 if is_fine else activation_bits,
            )  # fmt: skip
            made = {layer: linear}
            if isinstance(layer, nn.Embedding):
                made = {layer: BlockEmbedding(linear, layer.weight.dtype)}
                made |= {model.output: linear} if tied else {}
            replace_layers(model, made.__contains__, lambda old, _, made=made: made[old])
    return model


def _layer_of(model: nn.Module, name: str) -> nn.Linear | nn.Embedding | None:
    try:
        layer, last = owner_of(model, name)
    except AttributeError:
        return None
    layer = layer.linear if isinstance(layer, LoRALinear) else layer
    return layer if last == "weight" and isinstance(layer, nn.Linear | nn.Embedding) else None
