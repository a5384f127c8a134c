# SPDX-License-Identifier: BSD-3-Clause
"""Types of a payload's values, with the parameters of quantized ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE, parameters_of
from executorch.backends.xnnpack.serialization.graph import make
from executorch.exir.graph_facts import op_name


@dataclass(frozen=True)
class Type:
    """`parameters`: the table of the payload that says how values are quantized."""

    name: str = "xnn_datatype_fp32"
    parameters: Any = None

    def __hash__(self) -> int:
        return hash((self.name, repr(self.parameters)))


FLOATS = {torch.float32: Type(), torch.float16: Type("xnn_datatype_fp16")}


def value_of(node: Node) -> torch.Tensor:
    """What a node computes; of several results the first."""
    value = node.meta["val"]
    return value[0] if isinstance(value, tuple | list) else value


def type_of(node: Node) -> Type:
    """Of a node's value: 8-bit for what quantize makes and for what a dequantize reads, otherwise float."""
    value = value_of(node)
    if value.dtype != torch.int8:
        return FLOATS[value.dtype]
    readers = [user for user in node.users if op_name(user) == DEQUANTIZE]
    return quantized_type(node if parameters_of(node) else readers[0])


def quantized_type(node: Node) -> Type:
    """Of a call of quantize or dequantize."""
    found = parameters_of(node)
    table = make("PerTensorQuant", scale=found.scale, zero_point=found.zero_point)
    return Type("xnn_datatype_qint8", table)


def by_channel(name: str, axis: int, scales: int, count: int) -> Type:
    """`scales`: the place of their data."""
    table = make(
        "PerChannelQuant", scale=[], channel_dim=axis, scale_buffer_idx=scales, num_scales=count
    )
    return Type(name, table)


def by_group(size: int, scales: int, count: int) -> Type:
    """4-bit values, groups of columns."""
    table = make(
        "PerChannelGroupQuant",
        scale=[],
        channel_dim=0,
        group_size=size,
        scale_buffer_idx=scales,
        num_scales=count,
    )
    return Type("xnn_datatype_qbint4", table)
