# SPDX-License-Identifier: BSD-3-Clause
"""What is rewritten before it is annotated computes the same, and is rewritten where it can be alone; constants of the
integer softmax are what they stand for."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.cortex_m.ops import fixed_point
from executorch.backends.cortex_m.passes import CortexMPassManager
from executorch.backends.test.corpus.row import Function
from executorch.exir.graph_facts import op_name

A, B = torch.randn(2, 3, 4), torch.randn(2, 4, 5)
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], list[str]]] = {
    "matrices": (torch.matmul, (A[0], B[0]), ["matmul.default"]),
    "rows of matrices": (torch.matmul, (A, B), ["bmm.default"]),
    "rows by a matrix": (torch.matmul, (A, B[0]), ["matmul.default"]),
    "rows by one row": (torch.matmul, (A, B[:1]), ["matmul.default"]),
    "by a vector": (torch.matmul, (A, B[0, :, 0]), ["matmul.default"]),
    "four dimensions": (
        torch.matmul,
        (A.reshape(2, 1, 3, 4), B.reshape(2, 1, 4, 5)),
        ["reshape.default", "reshape.default", "bmm.default", "reshape.default"],
    ),
    "broadcast": (torch.matmul, (A.reshape(2, 1, 3, 4), B[None]), ["matmul.default"]),
    "whole": (
        lambda x: F.adaptive_avg_pool2d(x, 1),
        (torch.randn(1, 2, 6, 8),),
        ["avg_pool2d.default"],
    ),
    "even": (
        lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
        (torch.randn(1, 2, 6, 8),),
        ["avg_pool2d.default"],
    ),
    "uneven": (
        lambda x: F.adaptive_avg_pool2d(x, (3, 5)),
        (torch.randn(1, 2, 6, 8),),
        ["adaptive_avg_pool2d.default"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rewrites_compute_the_same(name: str) -> None:
    function, inputs, expected = CASES[name]
    model = torch.export.export(Function(function), inputs).module()
    CortexMPassManager(None).transform_for_annotation(model)
    calls = [op_name(node).removeprefix("aten.") for node in model.graph.nodes if op_name(node)]
    assert calls == expected
    torch.testing.assert_close(model(*inputs), function(*inputs))


def test_constants_of_softmax() -> None:
    """exp(-2^(k - 2)) for k from 0, of 31 bits."""
    exact = [math.exp(-(2.0 ** (k - 2))) * 2**31 for k in range(len(fixed_point._EXP_OF_BITS))]
    assert [round(each) for each in exact] == list(fixed_point._EXP_OF_BITS)
