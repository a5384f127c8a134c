# SPDX-License-Identifier: BSD-3-Clause
"""What a call gives in exact arithmetic: eager PyTorch in float64, rounded once to the dtype of the result."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from executorch.codegen.schema import Schema
from kernels.test.call_generator import eager

_WIDE = {
    torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
    torch.complex32: torch.complex128, torch.complex64: torch.complex128,
}  # fmt: skip


def widened(value: Any) -> Any:
    """Tensors, lists of them and dtypes in float64, where they are floats of fewer bits."""
    if isinstance(value, Tensor):
        return value.to(_WIDE.get(value.dtype, value.dtype))
    if isinstance(value, list):
        return [widened(v) for v in value]
    return _WIDE.get(value, value) if isinstance(value, torch.dtype) else value


def _with_rounded_scalar(schema: Schema, values: list[Any]) -> list[Any]:
    """Eager makes the number of x + 257 and its kind one of the tensor's dtype first: 256 or 258 in bfloat16."""
    x, other = values[:2] if len(values) > 1 else (None, None)
    is_sum = schema.name in ("add", "sub", "rsub") and schema.arguments[0].name == "self"
    if not is_sum or not isinstance(other, float | int) or isinstance(other, bool):
        return values
    if x.dtype not in (torch.float16, torch.bfloat16):
        return values
    number = rounded(torch.tensor(other, dtype=torch.float64), x.dtype).item()
    return [x, number, *values[2:]]


def wide_call(schema: Schema, values: list[Any]) -> tuple[Tensor, ...]:
    """Eager PyTorch on float64; integers that become floats become float64, too."""
    values = _with_rounded_scalar(schema, values)
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return eager(schema, [widened(v) for v in values])
    finally:
        torch.set_default_dtype(default)


def exact_results(
    schema: Schema, values: list[Any], expected: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    """For each result of eager's the exact one, in float64 or complex128; eager's own where it is of integers, or
    where float64 takes another way (dtypes that an operator does not have)."""
    try:
        wide = wide_call(schema, values)
    except (RuntimeError, NotImplementedError, IndexError, ValueError, TypeError):
        return tuple(widened(t) for t in expected)
    return tuple(
        w
        if w.shape == e.shape and (e.dtype.is_floating_point or e.dtype.is_complex)
        else widened(e)
        for w, e in zip(wide, expected, strict=True)
    )


def spacing(exact: Tensor, dtype: torch.dtype) -> Tensor:
    """One unit in the last place that a number has in `dtype`; for complex numbers that of their magnitude."""
    of = torch.view_as_real(torch.empty(0, dtype=dtype)).dtype if dtype.is_complex else dtype
    info = torch.finfo(of)
    exponent = torch.frexp(exact.abs().nan_to_num(0.0, 0.0, 0.0).clamp(max=info.max)).exponent
    unit = torch.exp2((exponent - 1).double()) * info.eps
    least = info.smallest_normal * info.eps
    return torch.where(exact == 0, least, unit.clamp(min=least))


def rounded(exact: Tensor, dtype: torch.dtype) -> Tensor:
    """Rounded once, to nearest and even; `Tensor.to` rounds to float32 on the way to 16 bits."""
    if dtype not in (torch.float16, torch.bfloat16) or exact.dtype != torch.float64:
        return exact.to(dtype)
    unit = spacing(exact, dtype)
    return torch.where(exact.isfinite(), (exact / unit).round() * unit, exact).to(dtype)
