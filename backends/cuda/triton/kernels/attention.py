# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels of attention share: shapes that are checked, and masks."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

# The kernels' MASK.
NO_MASK, KEPT, ADDED = 0, 1, 2


@triton.jit
def masked(
    scores, inside, mask, places, MASK: tl.constexpr
):  # fmt: skip
    """Scores with the mask at `places` added, -inf where it is false, or outside."""
    if MASK == 1:
        kept = tl.load(mask + places, mask=inside, other=0)
        inside = inside & (kept != 0)
    if MASK == 2:
        scores += tl.load(mask + places, mask=inside, other=0.0).to(tl.float32)
    return tl.where(inside, scores, float("-inf"))


def check_call(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float, enable_gqa: bool
) -> int:
    """Query heads that share one of key and value. ValueError for tensors that do not go together, and dropout."""
    if dropout_p != 0.0:
        raise ValueError(f"attention: expected dropout_p 0.0, found {dropout_p}")
    batch, heads, _, size = query.shape
    groups = heads // max(key.shape[1], 1) if enable_gqa else 1
    wanted = (batch, heads // groups, key.shape[2], size)
    fits = tuple(key.shape) == wanted and tuple(value.shape[:3]) == wanted[:3]
    if not fits or heads % groups != 0 or value.shape[3] != size:
        raise ValueError(
            f"attention: expected key and value of {list(wanted)} for a query of {list(query.shape)}, "
            f"found {list(key.shape)} and {list(value.shape)}"
        )
    return groups


def mask_of(attn_mask: Tensor | None, shape: tuple[int, ...]) -> tuple[int, Tensor | None]:
    """Its kind, and a view of `shape` (batch, heads, queries, keys)."""
    if attn_mask is None:
        return NO_MASK, None
    kind = ADDED if attn_mask.dtype.is_floating_point else KEPT
    return kind, attn_mask.expand(shape)


def strides_of(tensor: Tensor | None) -> tuple[int, ...]:
    return (0, 0, 0, 0) if tensor is None else tensor.stride()
