# SPDX-License-Identifier: BSD-3-Clause
"""Addition: dtypes, broadcasting, alpha."""

from __future__ import annotations

import torch

from executorch.backends.test.suite.flow import TestFlow
from executorch.backends.test.suite.operators import OperatorTest, dtype_test, operator_test


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class ModelAlpha(torch.nn.Module):
    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.add(x, y, alpha=self.alpha)


@operator_test
class Add(OperatorTest):
    @dtype_test
    def test_add_dtype(self, flow: TestFlow, dtype: torch.dtype) -> None:
        inputs = (torch.rand(2, 10).to(dtype), torch.rand(2, 10).to(dtype))
        self._test_op(Model(), inputs, flow)

    def test_add_broadcasts(self, flow: TestFlow) -> None:
        self._test_op(Model(), (torch.randn(5), torch.randn(1, 5, 1, 5)), flow)
        self._test_op(Model(), (torch.randn(4, 4, 2, 7), torch.randn(2, 7)), flow)

    def test_add_alpha(self, flow: TestFlow) -> None:
        self._test_op(ModelAlpha(alpha=2), (torch.randn(1, 25), torch.randn(1, 25)), flow)
