# SPDX-License-Identifier: BSD-3-Clause
"""F.interpolate beside eager PyTorch: every mode and rank, factors that leave a size as it is among others."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.export import Dim, export

from executorch.exir import to_edge
from executorch.extension.pybindings.portable_lib import _load_program_from_buffer

# Mode, rank, antialias.
MODES = [
    *[(mode, rank, False) for mode in ("nearest", "nearest-exact", "area") for rank in (3, 4, 5)],
    ("linear", 3, False),
    ("bilinear", 4, False),
    ("bicubic", 4, False),
    ("trilinear", 5, False),
    ("bilinear", 4, True),
    ("bicubic", 4, True),
]
SIZES = (1, 2, 3, 5, 7, 12, 13, 20)
FACTORS = (1.05, 1.02, 1.0, 1.3, 2.0, 0.5, 0.97, 3.3)
LAYOUTS = {4: torch.channels_last, 5: torch.channels_last_3d}


def drawn_call(draw: random.Random, mode: str, rank: int, antialias: bool) -> dict[str, Any]:
    sizes = [draw.choice(SIZES) for _ in range(rank - 2)]
    factors = [
        factor if size * factor >= 1 else 1.05
        for size, factor in ((size, draw.choice(FACTORS)) for size in sizes)
    ]
    options: dict[str, Any] = {"mode": mode, "antialias": antialias}
    if "linear" in mode or mode == "bicubic":
        options["align_corners"] = draw.choice([False, False, True])
    kind = draw.choice(["factor", "factor", "recomputed", "size"])
    if kind == "size":
        options["size"] = [draw.choice([size, size + 1, 2 * size, 1]) for size in sizes]
    else:
        options["scale_factor"] = factors
        if mode != "area":
            options["recompute_scale_factor"] = kind == "recomputed"
    width = options["size"][-1] if kind == "size" else int(sizes[-1] * factors[-1])
    if antialias and width == 1:  # eager gives every row the values of the first
        return drawn_call(draw, mode, rank, antialias)
    return {"sizes": sizes, "last": draw.random() < 0.3, "options": options}


class Resizes(torch.nn.Module):
    def __init__(self, calls: list[dict[str, Any]]) -> None:
        super().__init__()
        self.calls = calls

    def forward(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        return [
            F.interpolate(x, **call["options"]) for x, call in zip(inputs, self.calls, strict=True)
        ]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("mode", "rank", "antialias"), MODES)
def test_drawn_resizes(mode: str, rank: int, antialias: bool, dtype: torch.dtype) -> None:
    if antialias and dtype == torch.float16:
        pytest.skip("eager has no antialiasing of half types")
    draw = random.Random(f"{mode} {rank} {antialias}")
    calls = [drawn_call(draw, mode, rank, antialias) for _ in range(8)]
    random_numbers = torch.Generator().manual_seed(0)
    inputs = []
    for call in calls:
        x = torch.randn(2, 3, *call["sizes"], generator=random_numbers).to(dtype)
        layout = LAYOUTS.get(rank) if call["last"] else None
        inputs.append(x.contiguous(memory_format=layout) if layout else x)
    model = Resizes(calls)
    lowered = to_edge(export(model, tuple(inputs))).to_executorch()
    results = _load_program_from_buffer(lowered.buffer).load_method("forward").call(inputs)
    for call, expected, found in zip(calls, model(*inputs), results, strict=True):
        tolerance = {"rtol": 1e-3, "atol": 2e-3} if dtype == torch.float16 else {}
        torch.testing.assert_close(found, expected, **tolerance, msg=lambda m, c=call: f"{c}: {m}")


@pytest.mark.parametrize(
    ("mode", "rank"), [("nearest", 4), ("linear", 3), ("bilinear", 4), ("trilinear", 5)]
)
def test_a_size_that_stays_is_found_at_run_time(mode: str, rank: int) -> None:
    """12 by 1.05 is 12, 20 by 1.05 is 21: both in one program."""
    call = {"options": {"mode": mode, "scale_factor": 1.05}}
    model = Resizes([call])
    example = torch.randn(1, 2, *[24] * (rank - 2))
    dims = {rank - 1: Dim("width", max=40)}
    lowered = to_edge(export(model, (example,), dynamic_shapes=((dims,),))).to_executorch()
    method = _load_program_from_buffer(lowered.buffer).load_method("forward")
    for width in (3, 12, 19, 20, 39):
        x = torch.randn(1, 2, *[24] * (rank - 3), width)
        torch.testing.assert_close(method.call([x]), model(x))


@pytest.mark.parametrize("factors", [(2.0, 0.7), (1.0, 3.0), (None, 0.9)])
@pytest.mark.parametrize("name", ["_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"])
def test_factors_that_do_not_fit_the_size(name: str, factors: tuple[float | None, ...]) -> None:
    """Antialiasing: where the size stays, the factor says nothing; else it counts, not the size."""
    op = getattr(torch.ops.aten, name).default

    class Call(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return op(x, [9, 12], False, *factors)

    x = torch.randn(2, 3, 12, 12)
    lowered = to_edge(export(Call(), (x,))).to_executorch()
    (found,) = _load_program_from_buffer(lowered.buffer).load_method("forward").call([x])
    torch.testing.assert_close(found, Call()(x))


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_bytes_of_a_size_that_stays(mode: str) -> None:
    x = torch.randint(0, 256, (1, 2, 12, 20), dtype=torch.uint8)
    model = Resizes([{"options": {"mode": mode, "scale_factor": (1.05, 1.02)}}])
    lowered = to_edge(export(model, (x,))).to_executorch()
    (found,) = _load_program_from_buffer(lowered.buffer).load_method("forward").call([x])
    assert torch.equal(found, model(x)[0]) and torch.equal(found, x)
