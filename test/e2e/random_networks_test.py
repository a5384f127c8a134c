# SPDX-License-Identifier: BSD-3-Clause
"""Small networks of layers drawn at random, odd shapes, special values: eager beside our kernels and XNNPACK."""

from __future__ import annotations

import random
import warnings

import pytest
import torch

from executorch.backends.test.corpus.drawn import network
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 1e-40, 0.0)
# What rounding leaves of a network's own size of numbers.
TOLERANCE = {torch.float32: 2e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
SAMPLE, ALL = 16, 250


def compare(found: torch.Tensor, expected: torch.Tensor, tolerance: float, words: str) -> None:
    lost = expected.isnan() & ~found.isnan()
    assert not lost.any(), f"{words}: NaN became {found[lost][:4].tolist()}"
    finite = expected.isfinite() & ~found.isnan()
    size = expected[finite].abs().max().item() if finite.any() else 0.0
    torch.testing.assert_close(
        found[finite], expected[finite], rtol=tolerance, atol=tolerance * max(size, 1e-3),
        msg=lambda text: f"{words}: {text}",
    )  # fmt: skip


@pytest.mark.parametrize(
    "seed",
    [pytest.param(n, marks=[] if n < SAMPLE else pytest.mark.full) for n in range(ALL)],
)
def test_a_network_computes_what_eager_does(seed: int) -> None:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    names, module, x = network(draw)
    dtype = draw.choice([torch.float32, torch.float32, torch.float16, torch.bfloat16])
    runs = {"kernels": (dtype, []), "xnnpack": (torch.float32, [XnnpackPartitioner()])}
    for kind, (dtype, partitioner) in runs.items():
        module = module.to(dtype)
        inputs = (x.to(dtype),)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            exported = torch.export.export(module, inputs)
            manager = to_edge_transform_and_lower(exported, partitioner=partitioner)
            program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
            for value in (None, *SPECIAL):
                values = x.to(dtype, copy=True)
                if value is not None:
                    values.view(-1)[draw.randrange(values.numel()) :: 7] = value
                expected = module(values)
                found = program.forward((values,))[0]
                assert found.dtype == expected.dtype and found.shape == expected.shape
                words = f"{kind} {dtype} {value} {names} {tuple(x.shape)}"
                compare(found.float(), expected.float(), TOLERANCE[dtype], words)
