# SPDX-License-Identifier: BSD-3-Clause
"""The k greatest or smallest of rows that one program sorts: value and place are one 64-bit number, so that the sort of
Triton's library, which knows no places, gives both."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.library import triton_op, wrap_triton

from executorch.backends.cuda.triton.replacement import LONGEST_TOPK_ROW


@triton.jit
def _sorted_row(
    x, values, places, length, k, ROW: tl.constexpr, LARGEST: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, ROW)
    inside = offsets < length
    value = tl.load(x + row * length + offsets, mask=inside, other=0.0).to(tl.float32)
    # Integers in the order of the numbers; NaN behind all, as PyTorch has it, and one zero.
    bits = tl.where(value == 0, 0.0, value).to(tl.int32, bitcast=True)
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    order = tl.where(value != value, 0x7FC00000, order).to(tl.int64)
    # Of equal ones the first comes first.
    place = tl.where(LARGEST, ROW - 1 - offsets, offsets).to(tl.int64)
    outside = tl.where(LARGEST, -0x8000000000000000, 0x7FFFFFFFFFFFFFFF).to(tl.int64)
    number = tl.where(inside, order * 0x100000000 + place, outside)
    number = tl.sort(number, descending=LARGEST)
    low = (number & 0xFFFFFFFF).to(tl.int32)
    found = tl.where(LARGEST, ROW - 1 - low, low)
    is_kept = offsets < k
    taken = tl.load(x + row * length + found, mask=is_kept, other=0.0)
    tl.store(values + row * k + offsets, taken, mask=is_kept)
    tl.store(places + row * k + offsets, found.to(tl.int64), mask=is_kept)


@triton_op("triton::topk", mutates_args={})
def topk(
    x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """As aten.topk, always sorted; values of float32, float16 or bfloat16, rows of at most LONGEST_TOPK_ROW."""
    length = x.shape[dim]
    if not 0 < length <= LONGEST_TOPK_ROW or not 0 <= k <= length:
        raise ValueError(
            f"topk: expected rows of 1 to {LONGEST_TOPK_ROW} elements and k within, found {length} and {k}"
        )
    rows = x.movedim(dim, -1).contiguous()
    shape = (*rows.shape[:-1], k)
    values = torch.empty(shape, dtype=x.dtype, device=x.device)
    places = torch.empty(shape, dtype=torch.int64, device=x.device)
    if values.numel() > 0:
        wrap_triton(_sorted_row)[(rows.numel() // length,)](
            rows, values, places, length, k, ROW=triton.next_power_of_2(length), LARGEST=largest
        )
    return values.movedim(-1, dim), places.movedim(-1, dim)
