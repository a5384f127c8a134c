# SPDX-License-Identifier: BSD-3-Clause
"""Sums of tensors of many sizes, and of tensors and numbers, with factors.

python3 -m examples.cadence.operators.test_add_op
"""

from __future__ import annotations

import unittest

import torch
from torch import Tensor, nn

from executorch.backends.cadence.aot import compiler
from executorch.backends.cadence.runtime import runtime

SHAPES = (
    ((7, 5, 6), (7, 5, 6)),
    ((1, 5, 6), (7, 1, 1)),
    ((7,), (7,)),
    ((2, 3, 4, 5), (5,)),
    ((1,), (3, 3)),
    ((0, 4), (1, 4)),
)
FACTORS = (1, 2, 1.23, 2.23, -1, -2.23)


class Sum(nn.Module):
    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.add(x, y, alpha=self.alpha)


class AddTest(unittest.TestCase):
    def check(self, model: nn.Module, *inputs: Tensor) -> None:
        program = compiler.export_to_executorch_gen_etrecord(model, inputs)
        runtime.run_and_compare(program, inputs, model(*inputs))

    def test_sizes(self) -> None:
        for left, right in SHAPES:
            with self.subTest(left=left, right=right):
                self.check(Sum(1), torch.randn(left), torch.randn(right))

    def test_factors(self) -> None:
        for alpha in FACTORS:
            with self.subTest(alpha=alpha):
                self.check(Sum(alpha), torch.randn(3, 4), torch.randn(3, 4))


if __name__ == "__main__":
    unittest.main()
