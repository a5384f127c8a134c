# SPDX-License-Identifier: BSD-3-Clause
"""The kernels' table of cases through OpenVINO: what it takes is right, and the rest stays on the kernels."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from executorch.backends.openvino.aot.ops import TABLE
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.openvino.test.lowered import (
    delegates,
    needs_compiler,
    needs_runtime,
    run,
)
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.kernels.test.kernel_call import functional_of
from executorch.kernels.test.op_case import Case
from executorch.kernels.test.op_cases import CASES
from executorch.kernels.test.op_test import bind, expected_results
from executorch.kernels.test.program_test import NOT_EXPORTED, SCHEMAS, OneOperator

pytestmark = [needs_compiler, needs_runtime]

SAMPLE = """add.out mul.out abs.out _softmax.out addmm.out cat.out convolution.out index_select.out mean.out
    max_pool2d_with_indices.out bmm.out permute_copy.out sum.IntList_out view_copy.out""".split()


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, list):
        return [tensor for each in value for tensor in _tensors(each)]
    return [value] if isinstance(value, torch.Tensor) else []


def _has_row(op: str) -> bool:
    """Under its own name, or a part of it: an export may choose another overload."""
    try:
        name = str(functional_of(SCHEMAS[op])).split(".")[1]
    except (LookupError, AttributeError):
        return False
    return any(row.split(".")[1] == name for row in TABLE)


def _cases(op: str) -> list[Case]:
    return [case for case in CASES if case.name == op and case.reference is None]


ALL = sorted({case.name for case in CASES if case.name not in NOT_EXPORTED and _has_row(case.name)})


def _of_places(case: Case, inputs: tuple[torch.Tensor, ...]) -> float:
    """Interpolation reads between elements, at places that are float32: they may be off by the last bit of the largest
    place, and the result by that times the largest step. Of 45 elements from -2 to 2 this is 4 * 2**-18."""
    if not case.op.startswith("upsample_bilinear2d"):
        return 0.0
    last = torch.tensor(float(max(inputs[0].shape[-2:])))
    bit = torch.nextafter(last, torch.tensor(torch.inf)) - last
    return float(bit * (inputs[0].max() - inputs[0].min()))


def _check(case: Case) -> bool:
    """Whether it was delegated."""
    schema = SCHEMAS[case.name]
    values = bind(case, schema)
    inputs = tuple(_tensors(values))
    if any(each.is_floating_point() and each.isnan().any() for each in inputs):
        return False  # NaN: docs/compatibility.md
    expected = expected_results(case, schema, values)
    edge = to_edge_transform_and_lower(
        torch.export.export(OneOperator(schema, values), inputs),
        partitioner=[OpenvinoPartitioner([])],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    if not delegates(edge):
        return False
    found = run(edge.to_executorch().buffer, inputs)
    for one, wanted in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (wanted.dtype, wanted.shape), case
        rtol, atol = case.tolerance(wanted.dtype)
        atol += _of_places(case, inputs)
        torch.testing.assert_close(one, wanted, rtol=rtol, atol=atol, equal_nan=True)
    return True


@pytest.mark.parametrize("op", [f"aten::{name}" for name in SAMPLE])
def test_one_case_of_an_operator(op: str) -> None:
    assert any(_check(case) for case in _cases(op)[:3])


@pytest.mark.full
@pytest.mark.parametrize("op", ALL)
def test_all_cases_of_an_operator(op: str) -> None:
    for case in _cases(op):
        _check(case)
