# SPDX-License-Identifier: BSD-3-Clause
"""Types of a payload's values, with the parameters of quantized ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE, parameters_of
from executorch.backends.xnnpack.serialization.graph import INVALID_VALUE_ID, SCHEMA, make
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
    return by_tensor("xnn_datatype_qint8", found.scale, found.zero_point)


def x_value(
    place: int,
    shape: Sequence[int],
    stored: Type,
    constant: int = 0,
    external: int = INVALID_VALUE_ID,
    flags: int = 0,
) -> Any:
    """The entry `place` of a payload's values. `constant`: the place of its data, 0 for what is computed."""
    dims = [int(size) for size in shape] or [1]
    value = make(
        "XNNTensorValue",
        datatype=SCHEMA.classes["XNNDatatype"][stored.name],
        num_dims=len(dims),
        dims=dims,
        constant_buffer_idx=constant,
        external_id=external,
        flags=flags,
        id_out=place,
    )
    if stored.parameters is not None:
        value = make("XNNQuantizedTensorValue", tensor_value=value, quant_params=stored.parameters)
    return make("XValue", xvalue_union=value)


def by_tensor(name: str, scale: float, zero_point: int) -> Type:
    return Type(name, make("PerTensorQuant", scale=scale, zero_point=zero_point))


def by_row(dims: int) -> Type:
    """Quantized while running: the last `dims` dimensions share their parameters."""
    return Type("xnn_datatype_qdint8", make("PerTokenDynamicQuant", num_nonbatch_dims=dims))


def by_channel(name: str, axis: int, scales: int, count: int) -> Type:
    """`scales`: the place of their data."""
    table = make(
        "PerChannelQuant", scale=[], channel_dim=axis, scale_buffer_idx=scales, num_scales=count
    )
    return Type(name, table)


def by_group(size: int, scales: int, count: int, axis: int = 0) -> Type:
    """4-bit values, groups of columns."""
    table = make(
        "PerChannelGroupQuant",
        scale=[],
        channel_dim=axis,
        group_size=size,
        scale_buffer_idx=scales,
        num_scales=count,
    )
    return Type("xnn_datatype_qbint4", table)
