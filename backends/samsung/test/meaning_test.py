# SPDX-License-Identifier: BSD-3-Clause
"""Calls whose graphs 1.4.1 does not tell of: they are one delegate, told through the door, and what the evaluator
computes of it is what eager PyTorch computes, of small and large numbers and zeros, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from executorch.backends.samsung.quantizer import EnnQuantizer
from executorch.backends.samsung.test import stand_in
from executorch.backends.test.conformance.corpus_values import (
    PART,
    WHOLE,
    bad_rows,
    beside_whole,
    chunks,
    outcome_of,
)
from executorch.backends.test.corpus import sample
from executorch.backends.test.corpus.row import row, shaped

S, IMAGE, TWO, M = (2, 3, 4), (1, 3, 8, 8), (2, 4, 9, 7), (3, 4)


class WithData(nn.Module):
    def __init__(self, function, *sizes: int) -> None:
        super().__init__()
        self.function, self.data = function, nn.Parameter(torch.rand(sizes) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x, self.data)


def seeded(make) -> nn.Module:
    torch.manual_seed(0)
    return make().eval()


def bilinear(**how):
    return lambda x: F.interpolate(x, mode="bilinear", **how)


ROWS = [
    shaped("bilinear by 1.3", bilinear(scale_factor=1.3), [IMAGE]),
    shaped("bilinear by a half", bilinear(scale_factor=0.5), [TWO]),
    shaped("bilinear to sizes", bilinear(size=(3, 13)), [IMAGE]),
    shaped("corners by 1.3", bilinear(scale_factor=1.3, align_corners=True), [IMAGE]),
    shaped("nearest by 2 and 3", lambda x: F.interpolate(x, scale_factor=(2.0, 3.0)), [TWO]),
    shaped("pool with its divisor", lambda x: F.avg_pool2d(x, 3, 2, 1, False, False, 9), [IMAGE]),
    shaped("pool, padding left out", lambda x: F.avg_pool2d(x, (3, 2), 2, (1, 1), False, False), [TWO]),
    shaped("max pool dilated", lambda x: F.max_pool2d(x - 5, (2, 3), (1, 2), (0, 1), (3, 2)), [TWO]),
    shaped("slopes of channels", seeded(lambda: nn.PReLU(3)), [S]),
    shaped("a slope above 1", lambda x: F.leaky_relu(x, 2.0), [S]),
    shaped("softmax over any", lambda x: (x.softmax(0), x.softmax(-2), x.log_softmax(1)), [S]),
    shaped("mean of negative dims", lambda x: (x.mean((-1, -3)), x.mean((0, 2), True)), [S]),
    shaped("linear of an image", seeded(lambda: nn.Linear(7, 5)), [TWO]),
    shaped("addmm", WithData(lambda x, w: torch.addmm(w[0], x, w[1:]), 5, 5), [M]),
    shaped("convolution of two", seeded(lambda: nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2))), [TWO]),
    shaped("transposed, dilated", seeded(lambda: nn.ConvTranspose2d(4, 6, (3, 2), (2, 1), (1, 0), dilation=(2, 3))),
           [TWO]),
    shaped("one channel in", seeded(lambda: nn.Conv2d(1, 4, 3)), [(2, 1, 5, 5)]),
    shaped("convolution of a signal", seeded(lambda: nn.Conv1d(3, 4, 2, 1, 1, 2)), [S]),
    shaped("data less a value", WithData(lambda x, w: w - x, 3, 1), [S]),
    shaped("data by a value", WithData(lambda x, w: w / (x * x + 1), 3, 1), [S]),
    shaped("cut at every side", lambda x: (x * 2)[::2, -2:, 1:100:2], [S]),
    shaped("from behind", lambda x: F.relu(x).select(1, -1), [S]),
    shaped("padded at three", lambda x: F.pad(F.relu(x), (1, 2, 0, 1, 2, 0)), [S]),
    shaped("turned by negative dims", lambda x: F.relu(x).permute(-1, 0, 1), [S]),
    shaped("limits of a hardtanh", lambda x: F.hardtanh(x, -0.2, 0.9), [S]),
    shaped("halves", lambda x: x.half() * 2 - x.half(), [S]),
]  # fmt: skip


@pytest.fixture(autouse=True)
def on_the_stand_in() -> Iterator[None]:
    yield
    stand_in.without_stand_in()


@pytest.mark.parametrize("chosen", chunks(ROWS), ids=lambda rows: rows[0].name)
def test_calls_are_those_of_eager(chosen) -> None:
    assert beside_whole(chosen, stand_in.backend()) == {}


@pytest.mark.parametrize("chosen", chunks(sample(), 8), ids=lambda rows: rows[0].id)
def test_a_row_of_each_family_of_the_corpus(chosen) -> None:
    assert bad_rows(chosen, stand_in.backend()) == {}


QUANTIZED = ["pool with its divisor", "softmax over any", "convolution of two", "cut at every side"]


def test_calls_on_int8_are_those_of_the_quantized_program() -> None:
    chosen = [row for row in ROWS if row.name in QUANTIZED]
    assert bad_rows(chosen, stand_in.backend(EnnQuantizer)) == {}


def test_a_softmax_of_rows_that_are_masked_whole() -> None:
    """They give zeros, where SOFTMAX gives no numbers. int8 has no -inf."""
    safe = lambda x: torch.ops.aten._safe_softmax.default(x * 2, -1)  # noqa: E731
    scores = torch.tensor([[-torch.inf, -torch.inf], [0.5, 1.0]])
    assert safe(scores)[0].tolist() == [0.0, 0.0]
    found = outcome_of(row("masked", safe, scores), stand_in.backend())
    assert (found.kind, found.text) == (PART, "")
    quantized = outcome_of(row("scores", safe, scores[1:]), stand_in.backend(EnnQuantizer))
    assert (quantized.kind, quantized.text) == (WHOLE, "")
