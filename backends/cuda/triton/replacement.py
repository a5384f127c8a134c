# SPDX-License-Identifier: BSD-3-Clause
"""Which calls have a Triton kernel here, by their shapes; without Triton."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.exir.graph_facts import called_op

_ATEN = torch.ops.aten
# Keys from which many programs share the attention of one query.
FEWEST_SPLIT_KEYS = 256
# Elements of a row that one program sorts.
LONGEST_TOPK_ROW = 4096
_TOPK_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def replacement_of(node: Node) -> str:
    """The name in torch.ops.triton; empty where the call stays as it is."""
    op = called_op(node)
    if op == _ATEN.scaled_dot_product_attention.default:
        return _attention(node)
    return "topk" if op == _ATEN.topk.default and _fits_topk(node) else ""


def _argument(node: Node, name: str) -> object:
    """As given, else the schema's default."""
    schema = called_op(node)._schema.arguments
    place, argument = next((i, a) for i, a in enumerate(schema) if a.name == name)
    if place < len(node.args):
        return node.args[place]
    return node.kwargs.get(name, argument.default_value)


def _attention(node: Node) -> str:
    query, key = (each.meta["val"] for each in node.args[:2])
    if query.dim() != 4 or key.dim() != 4 or _argument(node, "dropout_p") != 0.0:
        return ""
    (queries, size), keys = query.shape[2:], key.shape[2]
    is_one_query = isinstance(queries, int) and queries == 1 and not _argument(node, "is_causal")
    has_many_keys = isinstance(keys, int) and keys >= FEWEST_SPLIT_KEYS
    is_power_of_two = isinstance(size, int) and size & (size - 1) == 0
    return "sdpa_decode_splitk" if is_one_query and has_many_keys and is_power_of_two else "sdpa"


def _fits_topk(node: Node) -> bool:
    x, dim = node.args[0].meta["val"], _argument(node, "dim")
    length = x.shape[dim] if x.dim() > 0 else 0
    fits = isinstance(length, int) and 0 < length <= LONGEST_TOPK_ROW
    return fits and isinstance(_argument(node, "k"), int) and x.dtype in _TOPK_DTYPES
