# SPDX-License-Identifier: BSD-3-Clause
"""Reads what surrounds operators in a quantized program: parameters of activations and of weights."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.fx import Node

from executorch.backends.transforms.duplicate_dynamic_quant_chain import chain_of
from executorch.backends.xnnpack.aot.constants import Constants
from executorch.exir.backend.lowering import quantized
from executorch.exir.backend.lowering.quantized import Weight, quantization_of
from executorch.exir.graph_facts import op_name

_QD = "quantized_decomposed"
QUANTIZE = f"{_QD}.quantize_per_tensor.default"
DEQUANTIZE = f"{_QD}.dequantize_per_tensor.default"


@dataclass(frozen=True)
class Parameters:
    """value = (stored - zero_point) * scale, stored as int8 or uint8."""

    scale: float
    zero_point: int


def parameters_of(node: Node) -> Parameters | None:
    """Of a static quantize or dequantize to the whole range of int8. XNNPACK refuses scales that are not above 0."""
    said = quantization_of(node) if op_name(node) in (QUANTIZE, DEQUANTIZE) else None
    if said is None or said.out_dtype is not None:
        return None
    if (said.dtype, said.quant_min, said.quant_max) != (torch.int8, -128, 127) or said.scale <= 0:
        return None
    return Parameters(float(said.scale), int(said.zero_point))


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
    """Of the call that dequantizes a weight ahead of time."""
    return quantized.weight_of(node, constants) if constants.is_computed(node) else None
