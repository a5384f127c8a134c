# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Kinds of quantize and dequantize nodes, and checks of their parameters."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.quantized import form_of, quantization_of
from executorch.exir.backend.lowering.quantized import is_dequantize as is_dequant
from executorch.exir.backend.lowering.quantized import is_quantize as is_quant
from executorch.exir.graph_facts import op_name

IS_IMPLICIT_Q_DQ_TAG = "IS_IMPLICIT_Q_DQ_TAG"
_PARAMETERS = {
    "choose_qparams.tensor",
    "choose_qparams_per_token_asymmetric.default",
    "choose_qparams_affine.default",
}


def is_qparam(node: Node) -> bool:
    """Whether it chooses parameters while running."""
    return op_name(node).partition(".")[2] in _PARAMETERS


def is_affine_qdq(node: Node) -> bool:
    return form_of(node) == "affine.default"


def is_per_channel(node: Node) -> bool:
    """Of torchao's calls also those by rows or groups, which are by channel first."""
    if is_affine_qdq(node):
        block, shape = _block_and_shape(node)
        return block[0] == 1 and block != shape
    return form_of(node) == "per_channel.default"


def is_per_tensor(node: Node) -> bool:
    return form_of(node) in ("per_tensor.default", "per_tensor.tensor")


def is_per_token(node: Node) -> bool:
    """Every row of the last dimension has parameters of its own."""
    if is_affine_qdq(node):
        block, shape = _block_and_shape(node)
        return is_per_channel_group(node) and block[-1] == shape[-1]
    return form_of(node) == "per_token.default"


def is_per_channel_group(node: Node) -> bool:
    """Rows of the last dimension, or groups of their elements, have parameters of their own."""
    if is_affine_qdq(node):
        block, _ = _block_and_shape(node)
        return all(size == 1 for size in block[:-1])
    return form_of(node) == "per_channel_group.default"


def is_dynamic_qdq(node: Node) -> bool:
    """Whether its parameters are made while running."""
    if not (is_quant(node) or is_dequant(node)):
        return False
    if is_affine_qdq(node):
        return _is_chosen(node)
    return form_of(node) in ("per_tensor.tensor", "per_token.default")


def _is_chosen(node: Node) -> bool:
    scale = node.args[2]
    return isinstance(scale, Node) and bool(scale.args) and is_qparam(scale.args[0])


def _block_and_shape(node: Node) -> tuple[list[int], list[int]]:
    """Of torchao's calls: the sizes of what shares parameters, and those of the tensor."""
    return list(node.args[1]), list(node.args[0].meta["val"].shape)


def extract_qdq_affine_op_args_for_decomposed_ops(node: Node) -> list:
    """The arguments of torchao's call in the order of the decomposed operators: input, scale, zero point, smallest,
    largest, dtype, and where rows or parts of rows share parameters the size of such a group."""
    if not is_affine_qdq(node):
        raise ValueError(
            f"{node.name} is no call of torchao's quantize_affine or dequantize_affine"
        )
    qparams = quantization_of(node)
    group = [qparams.group_size] if is_per_channel_group(node) else []
    return [qparams.source, *qparams.numbers, qparams.dtype, *group]


def tag_as_implicit_q_dq(node: Node) -> None:
    """Marks a node that a neighbour takes along: its value exists in int8 only."""
    node.meta[IS_IMPLICIT_Q_DQ_TAG] = True


def is_tagged_as_implicit_q_dq(node: Node) -> bool:
    return bool(node.meta.get(IS_IMPLICIT_Q_DQ_TAG, False))


def _place(wrong: torch.Tensor) -> tuple[int, ...]:
    return tuple(wrong.nonzero()[0].tolist())


def validate_quant_scales(scales: float | torch.Tensor) -> None:
    """ValueError for a scale that is zero, infinite, NaN or denormal."""
    tensor = torch.atleast_1d(torch.as_tensor(scales, dtype=torch.float32))
    wrong = ~tensor.isfinite() | (tensor.abs() < torch.finfo(torch.float32).tiny)
    if wrong.any():
        at = _place(wrong)
        raise ValueError(
            f"Scales must be finite and normal, however found scale value: {tensor[at].item()} in scale tensor at "
            f"index: {at}"
        )


def validate_quant_zeropoints(
    zp: float | int | torch.Tensor, dtype: torch.dtype, is_4bit: bool
) -> None:
    """ValueError for a zero point outside of `dtype`; of int32 it must be 0, of 4 bits between 0 and 15."""
    tensor = torch.atleast_1d(torch.as_tensor(zp))
    low, high = (0, 15) if is_4bit else _range(dtype)
    wrong = (tensor < low) | (tensor > high)
    if wrong.any():
        at = _place(wrong)
        raise ValueError(
            f"Found invalid zeropoint {tensor[at].item()} in zero point tensor at index: {at}; expected {low} to {high}"
        )


def _range(dtype: torch.dtype) -> tuple[int, int]:
    if dtype == torch.int32:
        return 0, 0
    info = torch.iinfo(dtype)
    return info.min, info.max
