# SPDX-License-Identifier: BSD-3-Clause
"""What a node of an edge program has to do: its kind, how much of it, and the bytes that it moves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch._ops import OpOverload
from torch.fx import Node
from torch.utils import _pytree as pytree

from executorch.exir.operator.facts import (
    ARRANGE,
    FREE,
    FUNCTION,
    NORM,
    RESAMPLE,
    Facts,
    facts_by_name,
)
from executorch.exir.operator.facts import ELEMENTWISE as ELEMENTWISE
from executorch.exir.operator.facts import REDUCTION as REDUCTION

MATMUL, BATCHED, WINOGRAD = "matmul", "batched matmul", "3x3 convolution"
CONVOLUTION, DEPTHWISE = "convolution", "depthwise convolution"
# Kinds that count multiply-adds; the others count elements.
CONTRACTIONS = (MATMUL, BATCHED, WINOGRAD, CONVOLUTION, DEPTHWISE)
_MATMULS = {"mm": 0, "linear": 0, "matmul": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}
_ATTENTION = ("scaled_dot_product_attention", "custom_sdpa", "sdpa_with_kv_cache")
# Of operators that no kernel serves, which delegates take.
_WITHOUT_KERNEL = {
    **dict.fromkeys(("silu", "hardswish", "softplus", "mish"), FUNCTION),
    "rms_norm": NORM,
    "im2col": ARRANGE,
    **dict.fromkeys(("getitem", "detach"), FREE),
}


class Work(NamedTuple):
    """`amount`: multiply-adds for CONTRACTIONS, elements of the largest tensor for all others."""

    kind: str
    amount: int


def work_of(node: Node) -> Work | None:
    """None for a node that computes no tensor, or whose sizes are not known before it runs."""
    name, outputs = name_of(node), _tensors(node)
    kind = _kind_of(name)
    if not outputs or kind == FREE:
        return None
    adds = multiply_adds_of(node)
    if adds:
        return Work(_contraction(node, name), adds)
    given = [tensor for each in node.all_input_nodes for tensor in _tensors(each)]
    written = sum(tensor.numel() for tensor in outputs)
    read = max((tensor.numel() for tensor in given), default=0)
    return Work(kind, written if kind in (ARRANGE, RESAMPLE) else max(written, read))


def _kind_of(name: str) -> str:
    return _WITHOUT_KERNEL.get(name) or facts_by_name().get(name, Facts()).work


def works_of(nodes: Iterable[Node]) -> list[Work]:
    return [work for node in nodes if (work := work_of(node)) is not None]


def multiply_adds_of(node: Node) -> int:
    """Of a matmul, a convolution or attention; 0 for all others, and for dynamic sizes."""
    given = [tensors[0] for each in node.all_input_nodes if (tensors := _tensors(each))]
    outputs, name = _tensors(node), name_of(node)
    if not outputs or len(given) < 2:
        return 0
    if name in _MATMULS:
        return outputs[0].numel() * given[_MATMULS[name]].shape[-1]
    if name in ("convolution", "conv1d", "conv2d", "conv3d"):
        size = given[0] if _is_transposed(node, name) else outputs[0]
        return size.numel() * given[1][0].numel()
    if name in _ATTENTION:
        return 2 * outputs[0].numel() * given[1].shape[-3 if "sdpa" in name else -2]
    return 0


def bytes_of(nodes: Iterable[Node]) -> int:
    """What the nodes together read from elsewhere, once, and write for others."""
    mine = set(nodes)
    read = {given for node in mine for given in node.all_input_nodes if given not in mine}
    written = {
        node for node in mine if not node.users or any(user not in mine for user in node.users)
    }
    return sum(
        tensor.numel() * tensor.element_size()
        for node in read | written
        for tensor in _tensors(node)
    )


def name_of(node: Node) -> str:
    """Of its operator, without namespace and overload."""
    target: Any = node.target
    if not isinstance(target, OpOverload):  # of the edge dialect, which has one
        target = getattr(target, "_op", target)
    return str(getattr(target, "__name__", target)).partition(".")[0]


def _contraction(node: Node, name: str) -> str:
    if name in ("bmm", "baddbmm", "matmul", *_ATTENTION):
        return BATCHED
    if name in _MATMULS:
        return MATMUL
    x, weight = (_tensors(each)[0] for each in node.all_input_nodes[:2])
    if weight.shape[1] == 1 and weight.shape[0] >= x.shape[1] > 1:
        return DEPTHWISE
    window = tuple(weight.shape[2:])
    if all(size == 1 for size in window):
        return MATMUL
    strides = node.args[3] if len(node.args) > 3 else [1]
    is_plain = weight.shape[1] == x.shape[1] and not _is_transposed(node, name)
    is_dense = isinstance(strides, (list, tuple)) and all(stride == 1 for stride in strides)
    return WINOGRAD if is_plain and is_dense and window == (3, 3) else CONVOLUTION


def _is_transposed(node: Node, name: str) -> bool:
    return name == "convolution" and bool(node.args[6])


def _tensors(node: Node) -> list[torch.Tensor]:
    leaves = pytree.tree_leaves(node.meta.get("val"))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and _is_static(leaf)]


def _is_static(tensor: torch.Tensor) -> bool:
    return all(isinstance(size, int) for size in tensor.shape)
