# SPDX-License-Identifier: BSD-3-Clause
"""Tables of bytes that a call dequantizes, for embeddings: what `quantized_decomposed.embedding_*` wants to know."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.quantized import Quantization, quantization_of
from executorch.exir.graph_facts import op_name

_DTYPES = {
    "torchao.dequantize_affine.default": (torch.int8,),
    "quantized_decomposed.dequantize_per_channel.default": (torch.int8, torch.uint8),
}


def table_of(node: Node) -> Quantization | None:
    """Of a dequantize with one scale, or one for each group of columns, for each row."""
    said = quantization_of(node) if op_name(node) in _DTYPES else None
    if said is None or said.axis != 0 or said.group_size is None:
        return None
    return said if said.dtype in _DTYPES[op_name(node)] else None
