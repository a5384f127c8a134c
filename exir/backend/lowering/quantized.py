# SPDX-License-Identifier: BSD-3-Clause
"""What a call that quantizes or dequantizes says: the one reader of quantized_decomposed's and torchao's forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.fx import Node

from executorch.exir.graph_facts import op_name

_LIBRARIES = ("quantized_decomposed.", "torchao.")
_VERBS = ("quantize_", "dequantize_")


@dataclass(frozen=True)
class Quantization:
    """value = (stored - zero_point) * scale, with `quant_min` <= stored <= `quant_max` of `dtype`.

    `source`: what is quantized, or dequantized. `scale`, `zero_point`: numbers, or the nodes that give them; a zero
    point of None is 0. One for each index of `axis`, or for each `group_size` columns of a row; with neither, one for
    all. `group_size` None: blocks of another form, of torchao. `out_dtype`: what dequantizing gives, None for float32
    or the dtype of the scales."""

    source: Node
    scale: float | Node
    zero_point: int | Node | None
    quant_min: int
    quant_max: int
    dtype: torch.dtype
    axis: int | None = None
    group_size: int | None = 0
    out_dtype: torch.dtype | None = None

    @property
    def bits(self) -> int:
        """The least of 2, 4 and 8 that hold its signed values."""
        for bits in (2, 4):
            if self.quant_min >= -(1 << bits - 1) and self.quant_max < 1 << bits - 1:
                return bits
        return 8


def quantization_of(node: Node) -> Quantization | None:
    """None for a call that neither quantizes nor dequantizes, or says it in a form that is not known."""
    args, kwargs = node.args, node.kwargs
    match _form(node):
        case (
            "per_tensor.default" | "per_tensor.tensor" | "per_tensor.tensor2" | "per_token.default"
        ):
            found = Quantization(*args[:6])
        case "per_channel.default":
            source, scale, point, axis, *limits = args[:7]
            found = Quantization(source, scale, point, *limits, axis=axis)
        case "per_channel_group.default":
            found = Quantization(*args[:6], axis=0, group_size=args[6])
        case "affine.default":
            source, block, scale, point, dtype = args[:5]
            limits = _limits(dtype, *args[5:7])
            found = Quantization(
                source, scale, point, *limits, dtype, 0, _columns_per_block(block), kwargs.get("output_dtype")
            )  # fmt: skip
        case _:
            return None
    if kwargs.get("out_dtype") is not None:
        return Quantization(**{**vars(found), "out_dtype": kwargs["out_dtype"]})
    return found


def _form(node: Node) -> str:
    """`per_tensor.default` of both calls."""
    library, _, rest = op_name(node).partition(".")
    verb = next((each for each in _VERBS if rest.startswith(each)), "")
    return rest.removeprefix(verb) if verb and f"{library}." in _LIBRARIES else ""


def _limits(
    dtype: torch.dtype, least: int | None = None, largest: int | None = None
) -> tuple[int, int]:
    info = torch.iinfo(dtype)
    return info.min if least is None else least, info.max if largest is None else largest


def _columns_per_block(block: list[int]) -> int | None:
    """Of torchao's calls on matrices; None when a block has several rows."""
    return block[1] if len(block) == 2 and block[0] == 1 else None


# ---- Weights ----


@dataclass(frozen=True)
class Weight:
    """Symmetric, of int8. `scales`: one; one per index of `axis`; or with `group_size` [rows, columns / group_size].
    `bits`: 4 when data may only lie between -8 and 7."""

    data: Tensor
    scales: Tensor
    axis: int | None
    group_size: int = 0
    bits: int = 8


def weight_of(node: Node, constants: Mapping[Node, Tensor]) -> Weight | None:
    """Of the call that dequantizes a weight, which is data; None unless it is symmetric, with scales above 0."""
    said = quantization_of(node)
    if said is None or "dequantize" not in op_name(node) or said.group_size is None:
        return None
    scales = constants[said.scale] if isinstance(said.scale, Node) else torch.tensor([said.scale])
    point = said.zero_point
    points = constants[point] if isinstance(point, Node) else torch.tensor(point or 0)
    data = constants[said.source].detach()
    if data.dtype != torch.int8 or bool(points.any() or (scales <= 0).any()):
        return None
    group_size = 0 if said.group_size == data.shape[-1] else said.group_size
    shape = (data.shape[0], -1) if group_size else (-1,)
    return Weight(data, scales.float().reshape(shape), said.axis, group_size, max(4, said.bits))
