# SPDX-License-Identifier: BSD-3-Clause
"""Tables of bytes that a call dequantizes, for embeddings: what `quantized_decomposed.embedding_*` wants to know."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.fx import Node

from executorch.exir.graph_facts import op_name


@dataclass(frozen=True)
class Table:
    """What an embedding dequantizes: nodes of the data, and what goes with them."""

    weight: Node
    scales: Node
    zero_points: Node | None
    quant_min: int
    quant_max: int
    dtype: torch.dtype  # of the weight

    @property
    def bits(self) -> int:
        """The least of 2, 4 and 8 that hold its values."""
        for bits in (2, 4):
            if self.quant_min >= -(1 << bits - 1) and self.quant_max < 1 << bits - 1:
                return bits
        return 8


def table_of(node: Node) -> Table | None:
    """Of a dequantize with one scale, or one for each group of columns, for each row."""
    args = node.args
    match op_name(node):
        case "torchao.dequantize_affine.default":
            block = list(args[1])
            if len(block) != 2 or block[0] != 1 or args[4] != torch.int8:
                return None
            return Table(args[0], args[2], args[3], args[5], args[6], torch.int8)
        case "quantized_decomposed.dequantize_per_channel.default":
            if args[3] != 0 or args[6] not in (torch.int8, torch.uint8):
                return None
            return Table(args[0], args[1], args[2], args[4], args[5], args[6])
    return None
