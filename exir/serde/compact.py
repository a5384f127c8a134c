# SPDX-License-Identifier: BSD-3-Clause
"""Tensors without the memory around them: torch.save writes the whole storage of a view.

before: [big[:3], big[1:4], other[::1000]]      after: two views of 4 elements, and 1/1000 of `other`
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

_PADDING = 64  # bytes between tensors that are worth no copy
_WORTH = 8  # of a storage, the part that is worth a copy of the rest
_ALIGNMENT = 16  # of a copied stretch, so that every dtype's elements stay aligned


def compact(tree: Any) -> Any:
    """The same values. What shares elements still does; strides change only where a tensor has gaps and nobody else
    shows what is in them. Tensors that need nothing are given as they are, also subclasses, which keep their own
    memory."""
    leaves, spec = pytree.tree_flatten(tree)
    return pytree.tree_unflatten(_compact(leaves), spec)


def compact_program(program: ExportedProgram) -> ExportedProgram:
    """For writing: the same graph, with compact parameters, constants and example inputs."""
    result = copy.copy(program)
    result._state_dict = compact(program.state_dict)  # each is written by itself
    result._constants = compact(program.constants)
    result._example_inputs = compact(program.example_inputs)
    return result


def _compact(leaves: list[Any]) -> list[Any]:
    by_storage: dict[int, list[int]] = {}
    for index, leaf in enumerate(leaves):
        if _is_plain(leaf):
            by_storage.setdefault(leaf.untyped_storage()._cdata, []).append(index)
    result = list(leaves)
    for indices in by_storage.values():
        for cluster in _clusters(leaves, indices):
            for index, tensor in zip(cluster, _moved([leaves[index] for index in cluster])):
                result[index] = tensor
    return result


def _is_plain(leaf: Any) -> bool:
    return (
        type(leaf) in (torch.Tensor, torch.nn.Parameter)
        and leaf.layout == torch.strided
        and leaf.device.type == "cpu"
        and not (leaf.is_quantized or leaf.is_conj() or leaf.is_neg())
        and leaf.numel() > 0
    )


def _range(tensor: torch.Tensor) -> tuple[int, int]:
    """The first byte of the storage that belongs to an element, and the one behind the last."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    begin = tensor.storage_offset() * tensor.itemsize
    return begin, begin + (reach + 1) * tensor.itemsize


def _clusters(leaves: list[Any], indices: Iterable[int]) -> list[list[int]]:
    """Tensors whose ranges touch, or nearly."""
    clusters: list[list[int]] = []
    end = -1
    for index in sorted(indices, key=lambda each: _range(leaves[each])):
        begin, behind = _range(leaves[index])
        if clusters and begin < end + _PADDING:
            clusters[-1].append(index)
        else:
            clusters.append([index])
        end = max(end, behind)
    return clusters


def _moved(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    storage = tensors[0].untyped_storage()
    same = {(each.dtype, each.shape, each.stride(), each.storage_offset()) for each in tensors}
    shown = tensors[0].numel() * tensors[0].itemsize
    begins, ends = zip(*map(_range, tensors))
    begin, end = min(begins) // _ALIGNMENT * _ALIGNMENT, max(ends)
    if len(same) == 1 and shown < end - min(begins):
        dense = _dense(tensors[0])
        return [_like(each, dense) for each in tensors]
    if end - begin >= storage.nbytes() - storage.nbytes() // _WORTH:
        return tensors
    whole = torch.empty(0, dtype=torch.uint8).set_(storage)
    part = whole[begin:end].clone().untyped_storage()
    moved = []
    for each in tensors:
        offset = each.storage_offset() - begin // each.itemsize
        view = torch.empty(0, dtype=each.dtype).set_(part, offset, each.shape, each.stride())
        moved.append(_like(each, view))
    return moved


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """A copy without gaps, its dimensions in the order that they have in memory."""
    order = sorted(range(tensor.dim()), key=lambda dim: (-tensor.stride(dim), dim))
    inverse = [order.index(dim) for dim in range(tensor.dim())]
    return tensor.detach().permute(order).contiguous().permute(inverse)


def _like(tensor: torch.Tensor, data: torch.Tensor) -> torch.Tensor:
    """`data` as what `tensor` is: a parameter, with a gradient or without."""
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(data, requires_grad=tensor.requires_grad)
    return data.requires_grad_(tensor.requires_grad)
