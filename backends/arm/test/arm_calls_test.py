# SPDX-License-Identifier: BSD-3-Clause
"""Single calls through the TOSA reference model beside eager PyTorch: floats, and stored values, where a result is
within half a quantum of the exact one and what the row says that it loses besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.test.arm_calls import FAMILIES, call
from executorch.backends.arm.test.arm_operators_test import is_fully_delegated
from executorch.backends.arm.test.arm_reference import delegates, needs_model, through_reference_all
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.backends.test.conformance.quantized_single_calls import quanta_off, tensors_of
from executorch.backends.test.conformance.single_call import (
    OPERAND,
    RESULT,
    Call,
    Numbers,
    program_of,
)
from executorch.exir import EdgeProgramManager

pytestmark = [needs_model, pytest.mark.req("ARM-008")]

WIDE: Numbers = (2.0**-12, 0, -32768, 32767, torch.int16)
# Operators that no row takes of stored values, and weights and a table of floats.
IN_FLOATS = {"addmm.default", "linear.default", "convolution.default", "embedding.default"}
IN_FLOATS |= {"max.dim", "min.dim", "pow.Tensor_Tensor", "_to_dim_order_copy.default"}
# 513 points are too few for these.
STEEP = {f"pow.Tensor_Scalar(.., {number})" for number in (-2, -1, 9, -9, -0.5)}
STEEP |= {f"{name}.default(..)" for name in ("round", "sign", "log1p")}
# Quanta besides half a one. AVG_POOL2D rounds in quanta of the operand; tables of 16 bits interpolate.
LOSSES = {
    torch.int8: {"norms": 0.02, "along_axes": 0.02, "averages": 0.65},
    torch.int16: {
        "powers": 128,
        "functions": 2,
        "along_axes": 0.5,
        "numbers": 0.2,
        "windows": 0.2,
        "norms": 0,
    },
}
NARROW = [each for each in FAMILIES if each != "products"]
STORED = [
    pytest.param(operand, result, family, id=f"{family}-{operand[-1]}")
    for operand, result, families in ((OPERAND, RESULT, NARROW), (WIDE, WIDE, LOSSES[torch.int16]))
    for family in families
]


def computed(
    calls: Sequence[Call], spec: str, *numbers: Numbers
) -> tuple[list[tuple[Call, Tensor]], set[str]]:
    """Calls with what the reference model gives, and those that are left."""
    partitioner = TOSAPartitioner(TosaCompileSpec(spec))
    programs = [program_of(each, *numbers) for each in calls]
    edges = [EdgeProgramManager({"forward": each}).to_backend(partitioner) for each in programs]
    whole = [each for each in zip(calls, edges, strict=True) if is_fully_delegated(each[1])]
    left = {
        str(each) for each, edge in zip(calls, edges, strict=True) if not is_fully_delegated(edge)
    }
    found = through_reference_all([(edge, tensors_of(each)) for each, edge in whole])
    return [(each, made[0]) for (each, _), made in zip(whole, found, strict=True)], left


@pytest.mark.parametrize("family", FAMILIES)
def test_calls_give_what_eager_pytorch_does(family: str) -> None:
    torch.manual_seed(0)
    found, left = computed(list(FAMILIES[family]()), "TOSA-1.0+FP")
    assert left == set()
    wrong = []
    for each, made in found:
        expected = each.eager()[0]
        error = (made.double() - expected.double()).abs().max().item()
        most = 1e-5 * max(1, expected.double().abs().max().item())
        is_alike = made.shape == expected.shape and made.dtype == expected.dtype
        if not is_alike or error > most:
            wrong.append((str(each), error, most))
    assert wrong == []


def block_of(made: Call) -> Any:
    """Of the graph that a call of floats becomes."""
    partitioner = TOSAPartitioner(TosaCompileSpec("TOSA-1.0+FP"))
    edge = EdgeProgramManager({"forward": program_of(made)}).to_backend(partitioner)
    (delegate,) = delegates(edge)
    (block,) = SCHEMA.unpack(bytes(delegate.processed_bytes)).regions[0].blocks
    return block


def test_dimensions_of_one_are_moved_without_a_transpose() -> None:
    block = block_of(call("permute_copy.default", torch.zeros(3, 1, 4, 1), [1, 0, 3, 2]))
    assert [each.op.name for each in block.operators] == ["CONST_SHAPE", "RESHAPE"]


def test_tensors_have_names_of_their_own() -> None:
    names = [each.name for each in block_of(call("hardsigmoid.default", torch.zeros(3))).tensors]
    assert all(names) and len({*names}) == len(names) and "constant" in names


@pytest.mark.parametrize(("operand", "result", "family"), STORED)
def test_quantized_calls_round_once(operand: Numbers, result: Numbers, family: str) -> None:
    torch.manual_seed(0)
    calls = list(FAMILIES[family]())
    found, left = computed(calls, "TOSA-1.0+INT+int16", operand, result)
    dtype = operand[-1]
    expected = {str(each) for each in calls if each.name.partition(".")[2] in IN_FLOATS}
    expected |= {f"aten.{each}" for each in STEEP if dtype == torch.int16} & set(map(str, calls))
    assert left == expected
    most = 0.51 + LOSSES[dtype].get(family, 0)
    errors = [(str(each), quanta_off(each, made, operand, result)) for each, made in found]
    assert [each for each in errors if each[1] > most] == []
