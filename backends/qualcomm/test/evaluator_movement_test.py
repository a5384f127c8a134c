# SPDX-License-Identifier: BSD-3-Clause
"""The evaluator in floats: operators that move, pick, resize and convert elements, beside eager PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from executorch.backends.qualcomm.aot.graph import flag, float32, int32, ints, uint32, uints
from executorch.backends.qualcomm.test.one_operator import check, checked, last, outputs_of
from executorch.backends.qualcomm.test.reference import conversions, data_movement, images, indexing

torch.manual_seed(0)
X, Y = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
IMAGE, VOLUME = torch.randn(1, 4, 6, 8), torch.randn(1, 2, 4, 5, 6)
INDICES = torch.tensor([[2, 0], [1, 1]], dtype=torch.int32)


def test_data_movement() -> None:
    check("Concat", [X, Y], torch.cat([X, Y], 1), axis=uint32(1))
    check("Pack", [X, Y], torch.stack([X, Y], 1), axis=uint32(1))
    check("UnPack", X, torch.unbind(X, 1), axis=uint32(1))
    check("Split", X, torch.split(X, [1, 2, 1], 2), axis=uint32(2), split_index=uints([1, 3]))
    check("Reshape", X, X.reshape(6, 4))
    check("Tile", X, X.repeat(1, 2, 3), multiples=uints([1, 2, 3]))
    check("Transpose", X, X.permute(2, 0, 1), perm=uints([2, 0, 1]))
    ranges = ints([0, 2, 1, 1, 3, 1, 0, 4, 2], 3, 3)
    check("StridedSlice", X, X[:, 1:3, ::2], ranges=ranges)
    check("StridedSlice", X, X[:, 1, ::2], ranges=ranges, shrink_axes=uint32(2))
    ranges = ints([0, 2, 1, 2, -1, -1, 1, 2, 1], 3, 3)
    check("StridedSlice", X, X.flip(1)[:, :, 1:2], ranges=ranges)
    check("StridedSlice", X, X.flip(1), ranges=ranges, begin_mask=uint32(4), end_mask=uint32(4))


def test_pads() -> None:
    amount = {"pad_amount": uints([0, 0, 1, 1, 2, 1], 3, 2)}
    check(
        "Pad",
        X,
        F.pad(X, (2, 1, 1, 1), value=0.5),
        scheme=uint32(0),
        **amount,
        pad_constant_value=float32(0.5),
    )
    for scheme, mode in ((2, "reflect"), (3, "replicate")):
        wanted = F.pad(X[None], (2, 1, 1, 1), mode)[0]
        check("Pad", X, wanted, scheme=uint32(scheme), **amount)
    row = torch.tensor([1.0, 2.0, 3.0])
    wanted = torch.tensor([2.0, 1.0, 1.0, 2.0, 3.0, 3.0])
    check("Pad", row, wanted, scheme=uint32(1), pad_amount=uints([2, 1], 1, 2))


def test_indexing() -> None:
    check("Gather", [X, INDICES], X[:, INDICES.long()], axis=int32(1))
    places = torch.tensor([2, 0, 1, 0], dtype=torch.int32).reshape(1, 1, 4)
    check("GatherElements", [X, places], X.gather(1, places.long()), axis=uint32(1))
    updates = torch.tensor([5.0, 6.0, 7.0, 8.0]).reshape(1, 1, 4)
    reads = [X, places, updates]
    check("ScatterElements", reads, X.scatter(1, places.long(), updates), axis=uint32(1))
    wanted = X.scatter_add(1, places.long(), updates)
    check("ScatterElements", reads, wanted, axis=uint32(1), reduction=uint32(1))
    pairs = torch.tensor([[0, 1], [1, 2], [0, 1]], dtype=torch.int32)
    rows, where = torch.randn(3, 4), (pairs[:, 0].long(), pairs[:, 1].long())
    wanted = X.index_put(where, rows, accumulate=True)
    check("ScatterNd", [X, pairs, rows], wanted, reduction=uint32(1))
    wanted = X.index_put((where[0][:2], where[1][:2]), rows[:2])
    check("ScatterNd", [X, pairs[:2], rows[:2]], wanted)
    product = X.clone()
    product[0, 1] *= rows[0] * rows[2]
    product[1, 2] *= rows[1]
    check("ScatterNd", [X, pairs, rows], product, reduction=uint32(2))


def test_resizes() -> None:
    x, size = last(IMAGE), (9, 5)
    for corners in (False, True):
        wanted = F.interpolate(IMAGE, size, mode="bilinear", align_corners=corners)
        flags = {"align_corners": flag(corners), "half_pixel_centers": flag(not corners)}
        check("ResizeBilinear", x, last(wanted), **flags)
        wanted = F.interpolate(IMAGE, size, mode="bicubic", align_corners=corners)
        modes = {
            "transformation_mode": uint32(2 if corners else 1),
            "interpolation_mode": uint32(2),
        }
        check("Resize", x, last(wanted), **modes, cubic_coeff=float32(-0.75))
    check("ResizeNearestNeighbor", x, last(F.interpolate(IMAGE, size)))
    exact = F.interpolate(IMAGE, size, mode="nearest-exact")
    check("ResizeNearestNeighbor", x, last(exact), half_pixel_centers=flag(True))
    modes = {"transformation_mode": uint32(3), "nearest_mode": uint32(2)}
    check("Resize", x, last(F.interpolate(IMAGE, size)), **modes)
    # Of places 0, 0.5, 1, 1.5 the last is beyond the edge.
    pair = torch.tensor([0.0, 4.0]).reshape(1, 1, 2, 1)
    wanted = torch.tensor([0.0, 2.0, 4.0, 4.0]).reshape(1, 1, 4, 1)
    check("ResizeBilinear", pair, wanted)


def test_grids_and_blocks() -> None:
    grid = torch.rand(1, 3, 5, 2) * 2.4 - 1.2
    for number, padding in enumerate(("zeros", "border", "reflection")):
        for mode, name in enumerate(("bilinear", "nearest")):
            wanted = F.grid_sample(IMAGE, grid, name, padding, align_corners=True)
            parameters = {"mode": uint32(mode), "padding_mode": uint32(number)}
            check(
                "GridSample",
                [last(IMAGE), grid],
                last(wanted),
                **parameters,
                align_corners=flag(True),
            )
    blocks = {"block_size": uints([2, 2]), "mode": uint32(1)}
    check("DepthToSpace", last(IMAGE), last(F.pixel_shuffle(IMAGE, 2)), **blocks)
    check("SpaceToDepth", last(IMAGE), last(F.pixel_unshuffle(IMAGE, 2)), **blocks)
    # Channels 0..3 of one pixel: rows of the block first; a depth of 2 in a block of 1 x 2.
    pixel = torch.arange(4.0).reshape(1, 1, 1, 4)
    wide = torch.tensor([[0.0, 1.0], [2.0, 3.0]]).reshape(1, 1, 2, 2)
    check("DepthToSpace", pixel, wide, block_size=uints([1, 2]))
    check("SpaceToDepth", wide, pixel, block_size=uints([1, 2]))
    shuffled = last(F.channel_shuffle(IMAGE, 2))
    check("ChannelShuffle", last(IMAGE), shuffled, num_groups=uint32(2), axis=uint32(3))


def test_casts_and_random_values() -> None:
    check("Cast", torch.tensor([1.9, -1.9]), torch.tensor([1, -1]))
    check("Cast", torch.tensor([0.0, 0.5]), torch.tensor([False, True]))
    check("Cast", torch.tensor([True, False]), torch.tensor([1.0, 0.0]))
    check("Convert", X, X.half())
    shape = torch.tensor([50, 60], dtype=torch.int32)
    (uniform,) = outputs_of("RandomUniformLike", [shape], [torch.empty(50, 60)])
    assert 0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02
    parameters = {"mean": float32(3), "scale": float32(2)}
    (normal,) = outputs_of("RandomNormalLike", [shape], [torch.empty(50, 60)], parameters)
    assert abs(normal.mean() - 3) < 0.1 and abs(normal.std() - 2) < 0.1


def test_no_operator_of_these_families_is_without_a_case() -> None:
    """Those of encodings and of random values are not compared with eager."""
    rows = {name for each in (conversions, data_movement, images, indexing) for name in each.ROWS}
    elsewhere = {"Quantize", "Dequantize", "RandomUniformLike", "RandomNormalLike"}
    assert rows - checked(globals()) == elsewhere
