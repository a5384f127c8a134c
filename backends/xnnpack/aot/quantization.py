# SPDX-License-Identifier: BSD-3-Clause
"""Reads what surrounds operators in a quantized program: parameters of activations and of weights."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.transforms.duplicate_dynamic_quant_chain import chain_of
from executorch.backends.xnnpack.aot.constants import Constants
from executorch.exir.graph_facts import op_name

_QD = "quantized_decomposed"
QUANTIZE = f"{_QD}.quantize_per_tensor.default"
DEQUANTIZE = f"{_QD}.dequantize_per_tensor.default"


@dataclass(frozen=True)
class Parameters:
    """value = (stored - zero_point) * scale, stored as int8 or uint8."""

    scale: float
    zero_point: int


@dataclass(frozen=True)
class Weight:
    """`data`: int8. `scales`: one; one per index of `axis`; or with `group_size` [rows, columns / group_size].
    `bits`: 4 when data may only lie between -8 and 7."""

    data: Tensor
    scales: Tensor
    axis: int | None
    group_size: int = 0
    bits: int = 8


def parameters_of(node: Node) -> Parameters | None:
    """Of a static quantize or dequantize to the whole range of int8. XNNPACK refuses scales that are not above 0."""
    if op_name(node) not in (QUANTIZE, DEQUANTIZE):
        return None
    scale, zero_point, minimum, maximum, dtype = node.args[1:6]
    if dtype != torch.int8 or (minimum, maximum) != (-128, 127) or node.kwargs.get("out_dtype"):
        return None
    return Parameters(float(scale), int(zero_point)) if scale > 0 else None


def quantizes_back(node: Node) -> bool:
    """Whether it quantizes what was dequantized by the same parameters."""
    if op_name(node) != QUANTIZE or op_name(node.args[0]) != DEQUANTIZE:
        return False
    return parameters_of(node) == parameters_of(node.args[0])


def dynamic_source(node: Node) -> Node | None:
    """The float tensor that the chain ending in `node` quantizes, if rows of it may be quantized each by itself."""
    chain = chain_of(node)
    return None if chain is None or not _is_per_row(chain.nodes[3], chain.source) else chain.source


def _is_per_row(stored: Node, source: Node) -> bool:
    """Blocks of torchao's calls must be rows."""
    if op_name(stored) != "torchao.quantize_affine.default":
        return True
    block, shape = list(stored.args[1]), list(source.meta["val"].shape)
    return all(size == 1 for size in block[:-1]) and block[-1] == shape[-1]


def weight_of(node: Node, constants: Constants) -> Weight | None:
    """Of the call that dequantizes a weight; None unless it is symmetric, with scales above 0."""
    if not constants.is_computed(node):
        return None
    args = node.args
    match op_name(node):
        case "quantized_decomposed.dequantize_per_tensor.default":
            axis, limits, group_size = None, args[3:5], 0
            scales, points = torch.tensor([args[1]]), torch.tensor(args[2])
        case "quantized_decomposed.dequantize_per_channel.default":
            axis, limits, group_size = args[3], args[4:6], 0
            scales, points = constants[args[1]], _or_zero(args[2], constants)
        case "quantized_decomposed.dequantize_per_channel_group.default":
            axis, limits, group_size = 0, args[3:5], args[6]
            scales, points = constants[args[1]], _or_zero(args[2], constants)
        case "torchao.dequantize_affine.default":
            axis, limits, group_size = 0, args[5:7], _columns_per_block(node)
            scales, points = constants[args[2]], _or_zero(args[3], constants)
        case _:
            return None
    data = constants[args[0]].detach()
    if data.dtype != torch.int8 or group_size is None or bool(points.any() or (scales <= 0).any()):
        return None
    if group_size == data.shape[-1]:
        group_size = 0
    shape = (data.shape[0], -1) if group_size else (-1,)
    bits = 4 if limits[0] >= -8 and limits[1] <= 7 else 8
    return Weight(data, scales.float().reshape(shape), axis, group_size, bits)


def _columns_per_block(node: Node) -> int | None:
    """Of torchao's dequantize_affine; None when a block has several rows."""
    block = list(node.args[1])
    return block[1] if len(block) == 2 and block[0] == 1 else None


def _or_zero(node: Node | None, constants: Constants) -> Tensor:
    return torch.zeros(1) if node is None else constants[node]
