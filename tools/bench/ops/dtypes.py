# SPDX-License-Identifier: BSD-3-Clause
"""Rows in other dtypes: every row of the families, made again for each dtype that eager takes it in."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from executorch.codegen.schema import Schema
from tools.bench.ops.case import Case

USUAL = (
    torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool,
)  # fmt: skip
# Of whole numbers made of floats: enough of them that most are not zero, and that int8 has them all.
_SPREAD = 20


def other_dtypes(case: Case) -> dict[str, torch.dtype]:
    """The dtypes of USUAL that are not the row's own, by the label of the row in them. A row that names its dtype has
    none."""
    own = _own_dtype(case)
    if (
        (own is None and not _is_made(case))
        or "float16" in case.label
        or " to torch." in case.label
    ):
        return {}
    return {f"{case.label} {str(d).removeprefix('torch.')}": d for d in USUAL if d != own}


def in_dtype(case: Case, schema: Schema, label: str, dtype: torch.dtype) -> Case:
    return replace(_converted(case, schema, _own_dtype(case), dtype), label=label)


def _own_dtype(case: Case) -> torch.dtype | None:
    """float32 where a tensor has it, else int64: what is converted. Others (masks, complex) stay."""
    found = {t.dtype for t in case.tensors()}
    return next((d for d in (torch.float32, torch.int64) if d in found), None)


def _is_made(case: Case) -> bool:
    """Whether the row makes a tensor of nothing, in a dtype that a keyword names."""
    return not case.tensors() and not case.random


def _converted(case: Case, schema: Schema, own: torch.dtype | None, dtype: torch.dtype) -> Case:
    if own is None:
        return replace(case, kwargs={**case.kwargs, "dtype": dtype})
    inputs = [a for a in schema.arguments if not a.is_out]
    kinds = [a.type.rstrip("?") for a in inputs]
    args = tuple(_value(v, k, own, dtype) for v, k in zip(case.args, kinds, strict=False))
    return replace(case, args=args)


def _value(value: Any, kind: str, own: torch.dtype, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return tensor_as(value, dtype) if value.dtype == own else value
    if isinstance(value, list):
        return [_value(v, kind, own, dtype) for v in value]
    if kind == "Scalar" and isinstance(value, float) and not dtype.is_floating_point:
        return math.ceil(value)
    return value


def tensor_as(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The numbers in `dtype`; a bool says which are above the mean, a whole number is never 0."""
    if dtype.is_floating_point:
        return value.to(dtype)
    if dtype == torch.bool:
        return value > value.double().mean()
    if value.is_floating_point():
        whole = (value.abs() * _SPREAD).floor() + 1
        value = whole if dtype == torch.uint8 else torch.copysign(whole, value)
    return value.clamp(0 if dtype == torch.uint8 else -100, 100).to(dtype)
