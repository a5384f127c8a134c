# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of weights, element by element."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from executorch.backends.test.corpus.row import integers
from executorch.backends.vulkan.aot import packing


def bytes_of(*sizes: int) -> Tensor:
    return (integers(256, *sizes) - 128).to(torch.int8)


def padded(rows: list[list[int]], multiple: int) -> list[list[int]]:
    return [[*row, *[0] * (-len(row) % multiple)] for row in rows]


def test_two_weights_in_a_byte() -> None:
    """-8, 7, 1 are 0, 15, 9 with 8 added, and zeros behind are 8: 15 * 16 + 0, 8 * 16 + 9, 8 * 16 + 8 twice."""
    weights = torch.tensor([[-8, 7, 1]], dtype=torch.int8)
    assert packing.nibbles(weights, True, 8).tolist() == [[240, 137, 136, 136]]
    assert packing.nibbles(weights, False, 8).tolist() == [[15, 152, 136, 136]]
    assert packing.nibbles(weights[:, :2], True, 2).tolist() == [[240]]
    drawn = (integers(16, 3, 12) - 8).to(torch.int8)
    for low_first in (False, True):
        packed = packing.nibbles(drawn, low_first, 4)
        assert packed.shape == (3, 6) and packed.dtype == torch.uint8
        assert torch.equal(packing.from_nibbles(packed, low_first), drawn)


@pytest.mark.parametrize("sizes", [(2, 3, 2, 1), (3, 1, 1, 3), (4, 4, 1, 1), (1, 5, 1, 1)])
def test_rows_of_filters(sizes: tuple[int, ...]) -> None:
    """In the order height, width, channel, each row with zeros up to 4; of a transposed convolution the same."""
    filters, channels, height, width = sizes
    weight = bytes_of(*sizes)
    places = [(y, x, c) for y in range(height) for x in range(width) for c in range(channels)]
    rows = [[int(weight[f, c, y, x]) for y, x, c in places] for f in range(filters)]
    assert packing.rows_of_filters(weight).tolist() == padded(rows, 4)
    assert packing.rows_of_transposed(weight.transpose(0, 1), 1).tolist() == padded(rows, 4)
    two = torch.cat([weight.transpose(0, 1)] * 2)
    assert packing.rows_of_transposed(two, 2).tolist() == padded(rows, 4) * 2


def test_taps_and_sums() -> None:
    weight = bytes_of(5, 1, 2, 3)
    taps = [[[int(weight[c, 0, y, x]) for c in range(5)] for x in range(3)] for y in range(2)]
    assert packing.depthwise_taps(weight).tolist() == taps
    sums = [sum(map(int, weight[c].flatten())) for c in range(5)]
    assert packing.sums_of_rows(weight).tolist() == [*sums, 0, 0, 0]
    assert packing.sums_of_rows(weight[:4]).tolist() == sums[:4]
    wide = bytes_of(9, 6)
    groups = [[sum(map(int, wide[n, k : k + 2])) for n in range(9)] for k in (0, 2, 4)]
    found = packing.sums_of_groups(wide, 2)
    assert found.tolist() == padded(groups, 8) and found.dtype == torch.int32
