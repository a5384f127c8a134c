# SPDX-License-Identifier: BSD-3-Clause
"""What a call that quantizes or dequantizes says: the one reader of quantized_decomposed's and torchao's forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch.fx import Node

from executorch.exir.graph_facts import op_name

_LIBRARIES = ("quantized_decomposed.", "torchao.")
_VERBS = ("quantize_", "dequantize_")
_BY_TENSOR = ("per_tensor.default", "per_tensor.tensor", "per_tensor.tensor2")
_FORMS = frozenset(
    {*_BY_TENSOR, "per_token.default", "per_channel.default", "per_channel_group.default"}
    | {"affine.default"}
)
# What makes weights of data, and is computed ahead where all that it reads is data: `computed` of Constants.
OF_WEIGHTS = frozenset(
    {"torchao.quantize_affine.default", "torchao.dequantize_affine.default"}
    | {
        f"quantized_decomposed.{verb}{form}.default"
        for verb in _VERBS
        for form in ("per_tensor", "per_channel", "per_channel_group")
    }
)
_TABLES = {
    "torchao.dequantize_affine.default": (torch.int8,),
    "quantized_decomposed.dequantize_per_channel.default": (torch.int8, torch.uint8),
}


@dataclass(frozen=True)
class Quantization:
    """value = (stored - zero_point) * scale, with `quant_min` <= stored <= `quant_max` of `dtype`. Two are equal that
    say the same, whatever they say it of.

    `source`: what is quantized, or dequantized. `scale`, `zero_point`: numbers, or the nodes that give them; a zero
    point of None is 0. Of a weight_of(): data. One for each index of `axis`, or for each `group_size` columns of a row;
    with neither, one for all. `group_size` None: by other blocks, which are not told apart. `out_dtype`: what
    dequantizing gives, None for float32 or the dtype of the scales."""

    source: Node | Tensor = field(compare=False)
    scale: float | Node | Tensor
    zero_point: int | Node | None
    quant_min: int
    quant_max: int
    dtype: torch.dtype
    axis: int | None = None
    group_size: int | None = 0
    out_dtype: torch.dtype | None = None

    @property
    def is_static(self) -> bool:
        """One scale and one zero point for all, which are numbers."""
        return isinstance(self.scale, float | int) and isinstance(self.zero_point, int)

    @property
    def numbers(self) -> tuple[float | Node | Tensor, int | Node | None, int, int]:
        """Scale, zero point, limits: as calls of quantized_decomposed take them."""
        return self.scale, self.zero_point, self.quant_min, self.quant_max

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
    match form_of(node):
        case form if form in _BY_TENSOR:
            found = Quantization(*args[:6])
        case "per_token.default":
            found = Quantization(*args[:6], group_size=None)
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
        return replace(found, out_dtype=kwargs["out_dtype"])
    return found


def form_of(node: Node) -> str:
    """`per_tensor.default` of both calls; empty for any other."""
    return form_of_operator(op_name(node))


def form_of_operator(name: str) -> str:
    """The same, of the operator's name."""
    library, _, rest = name.partition(".")
    verb = next((each for each in _VERBS if rest.startswith(each)), "")
    form = rest.removeprefix(verb) if verb and f"{library}." in _LIBRARIES else ""
    return form if form in _FORMS else ""


def _limits(
    dtype: torch.dtype, least: int | None = None, largest: int | None = None
) -> tuple[int, int]:
    info = torch.iinfo(dtype)
    return info.min if least is None else least, info.max if largest is None else largest


def _columns_per_block(block: list[int]) -> int | None:
    """Of torchao's calls; None when a block has several rows."""
    return block[-1] if all(size == 1 for size in block[:-1]) else None


def is_quantize(node: Node) -> bool:
    return bool(form_of(node)) and "dequantize" not in op_name(node)


def is_dequantize(node: Node) -> bool:
    return bool(form_of(node)) and "dequantize" in op_name(node)


def quantizes_back(node: Node) -> bool:
    """Whether it quantizes what was dequantized by the same parameters, with nothing lost between."""
    before = node.args[0] if is_quantize(node) else None
    if not isinstance(before, Node) or not is_dequantize(before):
        return False
    rounds = before.kwargs.get("out_dtype", before.kwargs.get("output_dtype")) is not None
    return not rounds and form_of(before) == form_of(node) and before.args[1:] == node.args[1:]


# ---- Weights ----


def weight_of(node: Node, constants: Mapping[Node, Tensor]) -> Quantization | None:
    """Of the call that dequantizes a weight, with its data: int8, and float32 scales, one; one per index of `axis`; or
    with `group_size` [rows, columns / group_size]. None unless all that it reads is data, symmetric, and scales are
    above 0."""
    qparams = quantization_of(node)
    if qparams is None or not is_dequantize(node) or qparams.group_size is None:
        return None
    if any(each not in constants for each in node.all_input_nodes):
        return None
    scales = (
        constants[qparams.scale]
        if isinstance(qparams.scale, Node)
        else torch.tensor([qparams.scale])
    )
    point = qparams.zero_point
    points = constants[point] if isinstance(point, Node) else torch.tensor(point or 0)
    data = constants[qparams.source].detach()
    if data.dtype != torch.int8 or bool(points.any() or (scales <= 0).any()):
        return None
    if qparams.group_size and data.dim() != 2:
        return None
    group_size = 0 if qparams.group_size == data.shape[-1] else qparams.group_size
    shape = (data.shape[0], -1) if group_size else (-1,)
    scales = scales.float().reshape(shape)
    return replace(qparams, source=data, scale=scales, zero_point=None, group_size=group_size)


def table_of(node: Node) -> Quantization | None:
    """Of the call that dequantizes a table of bytes, with scales for each row or each group of its columns: what
    `quantized_decomposed.embedding_*` wants to know."""
    dtypes = _TABLES.get(op_name(node))
    qparams = quantization_of(node) if dtypes else None
    if qparams is None or qparams.axis != 0 or qparams.group_size is None:
        return None
    return qparams if qparams.dtype in dtypes else None
