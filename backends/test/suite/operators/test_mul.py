# SPDX-License-Identifier: BSD-3-Clause
"""Multiplication: dtypes, broadcasting. Written as functions, as tests may be."""

from __future__ import annotations

import pytest
import torch

from executorch.backends.test.suite.operators import DTYPES, TestRunner


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_mul_dtype(test_runner: TestRunner, dtype: torch.dtype) -> None:
    inputs = (torch.rand(2, 10).to(dtype), torch.rand(2, 10).to(dtype))
    test_runner.lower_and_run_model(Model(), inputs)


def test_mul_broadcasts(test_runner: TestRunner) -> None:
    test_runner.lower_and_run_model(Model(), (torch.randn(5), torch.randn(1, 5, 1, 5)))
