# SPDX-License-Identifier: BSD-3-Clause
"""Operators through the whole product: a module of one operator is exported, written, loaded, run, and compared."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch

from executorch.codegen.schema import Schema
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.runtime import Runtime
from kernels.test.kernel_call import functional_of, load_schemas
from kernels.test.op_case import Case
from kernels.test.op_cases import CASES
from kernels.test.op_test import NO_VALUES, bind, expected_results

SCHEMAS = load_schemas()
# What export does not leave in a program: no functional form, one that it replaces by others, or a result whose size
# has no bound.
NOT_EXPORTED = {
    "aten::copy_", "aten::index_put_", "aten::lift_fresh_copy.out", "aten::_native_batch_norm_legit.out",
    "aten::repeat_interleave.Tensor_out", *NO_VALUES,
}  # fmt: skip
# One of each family, for every run.
SAMPLE = """
    _fft_c2r.out _fft_r2c.out _embedding_bag.out _softmax.out abs.out add.out addmm.out amax.out argmax.out
    avg_pool1d.out avg_pool2d.out bitwise_and.Tensor_out bmm.out cat.out clamp.out col2im.out constant_pad_nd.out
    convolution.out cumsum.out embedding.out eq.Tensor_out exp.out flip.out full_like.out gather.out
    grid_sampler_2d.out index.Tensor_out index_put.out logical_and.out masked_fill.Scalar_out
    max_pool2d_with_indices.out mean.out mul.out native_layer_norm.out nonzero.out permute_copy.out pixel_shuffle.out
    pow.Tensor_Scalar_out prod.out reflection_pad2d.out roll.out scatter_reduce.two_out select_scatter.out
    slice_copy.Tensor_out sort.values split_copy.Tensor_out sum.IntList_out topk.values upsample_nearest2d.vec_out
    var.correction_out view_copy.out where.self_out
""".split()


class OneOperator(torch.nn.Module):
    """Calls an operator with the tensors given and the other arguments as they were."""

    def __init__(self, schema: Schema, values: list[Any]) -> None:
        super().__init__()
        self._operator = functional_of(schema)
        self._values = values

    def forward(self, *tensors: torch.Tensor) -> Any:
        rest = iter(tensors)
        values = [_filled(value, rest) for value in self._values]
        arguments = self._operator._schema.arguments
        positional = [v for a, v in zip(arguments, values, strict=True) if not a.kwarg_only]
        named = {a.name: v for a, v in zip(arguments, values, strict=True) if a.kwarg_only}
        return self._operator(*positional, **named)


def _filled(value: Any, rest: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return next(rest)
    return [_filled(v, rest) for v in value] if isinstance(value, list) else value


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, list):
        return [tensor for each in value for tensor in _tensors(each)]
    return [value] if isinstance(value, torch.Tensor) else []


def check(case: Case) -> None:
    schema = SCHEMAS[case.name]
    values = bind(case, schema)
    inputs = tuple(_tensors(values))
    expected = expected_results(case, schema, values)
    exported = torch.export.export(OneOperator(schema, values), inputs)
    config = EdgeCompileConfig(_check_ir_validity=False)
    buffer = to_edge(exported, compile_config=config).to_executorch().buffer
    method = Runtime.get().load_program(io.BytesIO(buffer)).load_method("forward")
    found = method.execute(list(inputs))
    assert len(found) == len(expected)
    for one, wanted in zip(found, expected, strict=True):
        assert one.dtype == wanted.dtype
        assert one.shape == wanted.shape
        rtol, atol = case.tolerance(wanted.dtype)
        torch.testing.assert_close(one, wanted, rtol=rtol, atol=atol, equal_nan=True)


def cases_of(op: str, most: int) -> list[Case]:
    """The first cases of different dtypes that have no reference of their own."""
    found: dict[Any, Case] = {}
    for case in CASES:
        if case.name == op and case.reference is None:
            first = next((a.dtype for a in case.args if hasattr(a, "dtype")), None)
            found.setdefault(first, case)
    return list(found.values())[:most]


def _has_functional_form(op: str) -> bool:
    try:
        return functional_of(SCHEMAS[op]) is not None
    except (LookupError, AttributeError):
        return False


ALL = sorted(
    op for op in SCHEMAS if op not in NOT_EXPORTED and cases_of(op, 1) and _has_functional_form(op)
)


@pytest.mark.parametrize("op", [f"aten::{name}" for name in SAMPLE if f"aten::{name}" in ALL])
def test_a_program_of_one_operator(op: str) -> None:
    check(cases_of(op, 1)[0])


@pytest.mark.full
@pytest.mark.parametrize("op", ALL)
def test_programs_of_every_operator(op: str) -> None:
    for case in cases_of(op, 3):
        check(case)


def test_the_sample_is_of_operators_that_are_there() -> None:
    assert len([name for name in SAMPLE if f"aten::{name}" in ALL]) > 40
