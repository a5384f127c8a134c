# SPDX-License-Identifier: BSD-3-Clause
"""Calls of other dtypes than floats of 32 bits: what an operator of QNN does not take is cast, or stays on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from executorch.backends.qualcomm.test import evaluated
from executorch.backends.qualcomm.test.graph_cases import Function
from executorch.backends.qualcomm.test.recorder import Recorder, left, lowered

INTS = torch.tensor([[3, -2, 6], [1, 4, -5]], dtype=torch.int32)
MORE = torch.tensor([[2, 3, -4], [1, 4, 2]], dtype=torch.int32)
FLOATS = torch.tensor([[0.5, 2.0, 0.0], [-1.5, 4.0, 2.0]])
BOOLS = torch.tensor([[True, False, True], [True, False, False]])
IMAGE = torch.arange(48.0).reshape(1, 3, 4, 4).sin()
ON_CPU = ""

# What is called, its inputs, and the operators of QNN; ON_CPU where there are none.
CASES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...], str]] = {
    "ints divided": (torch.div, (INTS, MORE), "Cast Cast ElementWiseDivide"),
    "ints divided by a number": (lambda x: x / 2, (INTS,), "Cast ElementWiseDivide"),
    "ints of 64 bits divided": (torch.div, (INTS.long(), MORE), "Cast Cast Cast ElementWiseDivide"),
    "int and float": (torch.add, (INTS, FLOATS), "Cast ElementWiseAdd"),
    "half and float": (torch.mul, (FLOATS.half(), FLOATS), "Cast ElementWiseMultiply"),
    "int by a fraction": (lambda x: x * 2.5, (INTS,), "Cast ElementWiseMultiply"),
    "int below a fraction": (lambda x: x < 2.5, (INTS,), "Cast ElementWiseLess"),
    "bools compared": (torch.eq, (BOOLS, ~BOOLS), "Cast Cast ElementWiseEqual"),
    "bools added": (torch.add, (BOOLS, BOOLS), ON_CPU),
    "bytes added": (torch.add, (INTS.to(torch.uint8), INTS.to(torch.uint8)), ON_CPU),
    "larger bool": (torch.maximum, (BOOLS, ~BOOLS), ON_CPU),
    "bits of ints, and": (torch.bitwise_and, (INTS, MORE), ON_CPU),
    "bits of ints, or": (torch.bitwise_or, (INTS, MORE), ON_CPU),
    "bits of ints, xor": (torch.bitwise_xor, (INTS, MORE), ON_CPU),
    "bits of bools": (torch.bitwise_xor, (BOOLS, ~BOOLS), "ElementWiseXor"),
    "floats and": (torch.logical_and, (FLOATS, FLOATS - 2), "Cast Cast ElementWiseAnd"),
    "floats or": (torch.logical_or, (FLOATS, INTS), "Cast Cast ElementWiseOr"),
    "floats xor": (torch.logical_xor, (FLOATS, FLOATS - 2), "Cast Cast ElementWiseXor"),
    "no floats": (torch.logical_not, (FLOATS,), "Cast ElementWiseNot"),
    "where of two dtypes": (torch.where, (BOOLS, INTS, FLOATS), "Cast ElementWiseSelect"),
    "joined": (lambda x, y: torch.cat([x, y]), (INTS, FLOATS), "Cast Concat"),
    "exp of ints": (torch.exp, (INTS,), "Cast ElementWiseExp"),
    "sigmoid of ints": (torch.sigmoid, (INTS,), "Cast Sigmoid"),
    "sign of ints": (torch.sign, (INTS,), ON_CPU),
    "relu of ints": (torch.relu, (INTS,), ON_CPU),
    "limits of ints": (lambda x: x.clamp(-1, 3), (INTS,), ON_CPU),
    "abs of ints": (torch.abs, (INTS,), "ElementWiseAbs"),
    "how many": (lambda x: x.sum(1), (BOOLS,), ON_CPU),
    "matmul of ints": (lambda x: x @ x.T, (INTS,), ON_CPU),
    "bools padded": (lambda x: F.pad(x, (1, 1)), (BOOLS,), ON_CPU),
    "64 bits": (lambda x: x + 1, (FLOATS.double(),), ON_CPU),
    "layer norm of half": (lambda x: F.layer_norm(x, (3,)), (FLOATS.half(),), "LayerNorm"),
    "one pixel": (lambda x: F.interpolate(x, (1, 3), mode="bicubic"), (IMAGE,), "Transpose Resize Transpose"),
    "bytes resized": (lambda x: F.interpolate(x, (8, 8), mode="bilinear"), (IMAGE.to(torch.uint8),), ON_CPU),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operators_have_the_dtypes_that_they_take(name: str) -> None:
    function, inputs, kinds = CASES[name]
    door = Recorder()
    manager = lowered(Function(function).eval(), inputs, door)
    found = [each.type for graph in door.graphs for each in graph.operators]
    if kinds == ON_CPU:
        computed = [each for each in left(manager) if not each.startswith("dim_order_ops")]
        assert computed and "ElementWise" not in " ".join(found)
    else:
        assert found == kinds.split()
    (result,) = evaluated.run(manager.exported_program(), door, inputs)
    wanted = function(*inputs)
    rounding = 1e-2 if wanted.dtype is torch.float16 else 1e-5
    torch.testing.assert_close(result, wanted, atol=rounding, rtol=rounding)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_what_the_compiler_makes_has_the_dtype_of_the_input(dtype: torch.dtype) -> None:
    door, model, x = Recorder(), nn.BatchNorm2d(3).eval().to(dtype), IMAGE.to(dtype)
    manager = lowered(model, (x,), door)
    (found,) = evaluated.run(manager.exported_program(), door, (x,))
    torch.testing.assert_close(found, model(x), atol=1e-2, rtol=1e-2)
