# SPDX-License-Identifier: BSD-3-Clause
"""What quantized programs may be off by: a step, and where floats decide between two steps, what follows of either."""

from __future__ import annotations

import torch
from torch import Tensor

from executorch.backends.test.conformance.precision import Bounds

Q = torch.ops.quantized_decomposed


def quantized(x: Tensor, scale: float = 1.0) -> Tensor:
    given = (scale, 0, -128, 127, torch.int8)
    return Q.dequantize_per_tensor(Q.quantize_per_tensor(x, *given), *given)


def tripled_means(x: Tensor) -> Tensor:
    return quantized(quantized(quantized(x).mean(-1)) * 3)


def test_a_value_between_two_steps_may_go_to_either() -> None:
    """Means of 1.5 and 3; 1.5 is 1 or 2, of which PyTorch makes 2."""
    x = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
    assert tripled_means(x).tolist() == [6.0, 9.0]
    bounds = Bounds.of(torch.float32, tripled_means, (x,), step=1.01)
    for right in ([6.0, 9.0], [3.0, 9.0], [2.0, 10.0], [7.0, 8.0]):
        assert bounds.difference([torch.tensor(right)]) == "", right
    for wrong in ([6.0, 6.0], [6.0, 12.0], [0.0, 9.0], [9.0, 9.0]):
        assert bounds.difference([torch.tensor(wrong)]).startswith("1 of 2 elements"), wrong


def test_what_float64_gives_is_right() -> None:
    """2^24 + 1 has no float32: the difference is 0 there, and 1 in fact."""

    def lost(x: Tensor) -> Tensor:
        return quantized((quantized(x) + 2.0**24) - 2.0**24)

    one = torch.tensor([1.0])
    assert lost(one).tolist() == [0.0]
    bounds = Bounds.of(torch.float32, lost, (one,), step=0.01)
    assert bounds.difference([one]) == "" and bounds.difference([one * 2]) != ""
