# SPDX-License-Identifier: BSD-3-Clause
"""Writes to places, bags of embeddings, sums of products."""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.decompositions.sizes import along

aten = torch.ops.aten
Tensor = torch.Tensor
_MAX = 2


def _put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    flat = self.reshape(-1)
    result = aten.index_put(flat, [index.reshape(-1)], source.reshape(-1), accumulate)
    return result.view(self.shape)


def _index_reduce(
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    places = along(index, dim, source.dim()).expand(source.shape)
    names = {"prod": "prod", "mean": "mean", "amax": "amax", "amin": "amin"}
    return aten.scatter_reduce.two(
        self, dim, places, source, names[reduce], include_self=include_self
    )


def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums and means add the rows to their bags; a maximum has no such form but the kernel `_embedding_bag`, which
    also says what else the operator yields (nobody asks)."""
    whole = aten._embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    if mode == _MAX:
        return whole
    starts = aten.slice(offsets, 0, 0, -1) if include_last_offset else offsets
    # How many bags have started before each index, this one included: bags may be empty, and end behind the last.
    marks = indices.new_zeros([indices.shape[0] + 1])
    marks = marks.scatter_add(0, starts.to(torch.int64), torch.ones_like(starts).to(marks.dtype))
    bag = aten.slice(marks, 0, 0, -1).cumsum(0).to(torch.int64) - 1
    rows = aten.embedding(weight, indices)
    counted = torch.ones_like(bag).to(weight.dtype)
    if padding_idx >= 0:
        counted = (indices != padding_idx).to(weight.dtype)
        rows = rows * counted.unsqueeze(1)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    sums = weight.new_zeros([starts.shape[0], weight.shape[1]])
    sums = aten.index_put(sums, [bag], rows, True)
    if mode == 0:
        return sums, *whole[1:]
    counts = weight.new_zeros([starts.shape[0]]).scatter_add(0, bag, counted)
    return sums / counts.clamp(min=1).unsqueeze(1), *whole[1:]


def _addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    product = torch.bmm(batch1, batch2).sum(0)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return product + (self if beta == 1 else self * beta)


INDEXING = {
    aten.put.default: _put,
    aten.index_reduce.default: _index_reduce,
    aten._embedding_bag_forward_only.default: _embedding_bag,
    aten.addbmm.default: _addbmm,
}
