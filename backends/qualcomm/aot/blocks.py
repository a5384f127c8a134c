# SPDX-License-Identifier: BSD-3-Clause
"""Weights of 4 bits by blocks (LPBQ): a float scale for each output channel, and for each block of input channels a
multiple of it from 1 to 16."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.qualcomm.aot.graph import Encoding, EncodingType
from executorch.exir.backend.lowering.quantized import (
    form_of,
    is_dequantize,
    quantization_of,
)
from executorch.exir.graph_facts import argument, op_name, static_sizes

BITS = 4
MAX_MULTIPLE = 1 << BITS  # that a block's scale can be of its channel's
_NEAR = 1e-3


def is_blocked_filter(node: Node, call: Node, constants: Mapping[Node, Tensor]) -> bool:
    """Whether `call` is a linear layer, or a convolution that reads single pixels, and `node` dequantizes its weight
    with scales that an encoding by blocks can say."""
    qparams = quantization_of(node) if is_dequantize(node) else None
    if qparams is None or not _is_filter(node, call) or _block_of(node) == 0:
        return False
    if qparams.dtype != torch.int8 or qparams.bits > BITS:
        return False
    if any(each not in constants for each in node.all_input_nodes):
        return False
    point = qparams.zero_point
    has_points = bool(constants[point].any()) if isinstance(point, Node) else bool(point)
    return not has_points and channels_and_multiples(constants[qparams.scale]) is not None


def _is_filter(node: Node, call: Node) -> bool:
    name = op_name(call)
    if len(call.args) < 2 or call.args[1] is not node:
        return False
    if name == "aten.convolution.default":
        is_plain = not argument(call, "transposed") and argument(call, "groups") == 1
        return is_plain and all(size == 1 for size in static_sizes(node)[2:])
    return name == "aten.linear.default"


def _block_of(node: Node) -> int:
    """Input channels of a block, of one output channel; 0 where blocks are others."""
    match form_of(node):
        case "affine.default":
            rows, columns, *kernel = node.args[1]
            return columns if rows == 1 and all(each == 1 for each in kernel) else 0
        case "per_channel_group.default":
            return node.args[6]
    return 0


def channels_and_multiples(scales: Tensor) -> tuple[Tensor, Tensor] | None:
    """Of scales [channels, blocks, ..]: those of channels, and the multiples of these that blocks have, the largest of
    several ways; None if there is no way."""
    scales = scales.detach().double().flatten(1)
    if not bool((scales > 0).all()):
        return None
    largest = scales.amax(1, keepdim=True)
    channels, multiples = torch.zeros_like(largest), torch.zeros_like(scales)
    for most in range(MAX_MULTIPLE, 0, -1):
        found = scales / largest * most
        fits = ((found - found.round()).abs() < _NEAR).all(1) & (found.round() > 0).all(1)
        is_new = fits & (channels[:, 0] == 0)
        channels[is_new], multiples[is_new] = largest[is_new] / most, found[is_new].round()
    return None if bool((channels == 0).any()) else (channels[:, 0], multiples.to(torch.uint8))


def encoding_of_blocks(scales: Tensor, axis: int) -> Encoding:
    """`axis`: where output channels are."""
    channels, multiples = channels_and_multiples(scales)
    offsets = (0,) * len(channels)
    return Encoding(
        EncodingType.BLOCKWISE_EXPANSION,
        tuple(channels.tolist()),
        offsets,
        axis,
        BITS,
        multiples.numpy().tobytes(),
    )
