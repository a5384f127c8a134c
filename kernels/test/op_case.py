# SPDX-License-Identifier: BSD-3-Clause
"""What a case is: an operator, its inputs, and tolerance or reference where the usual ones do not do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

F16, F32, F64, BF16 = torch.float16, torch.float32, torch.float64, torch.bfloat16
I8, U8, I16, I32, I64, BOOL = (
    torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool,
)  # fmt: skip
C64, C128 = torch.complex64, torch.complex128
FLOATS = [F32, F64, F16, BF16]
INTS = [I32, I64, U8, I8, I16]
REALS = [*FLOATS, *INTS]

_TOLERANCES = {
    F16: (2e-3, 2e-3), BF16: (1.6e-2, 1e-2), F32: (1e-5, 1e-5), F64: (1e-9, 1e-9),
    C64: (1e-4, 1e-4), C128: (1e-9, 1e-9),
}  # fmt: skip


@dataclass(frozen=True)
class Input:
    """A tensor to be made: random in [low, high) unless `values` are given."""

    shape: tuple[int, ...]
    dtype: torch.dtype = F32
    low: float = -2.0
    high: float = 2.0
    channels_last: bool = False
    permuted: tuple[int, ...] = ()  # memory order
    values: tuple[float, ...] = ()

    def make(self, seed: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        if self.values:
            tensor = torch.tensor(self.values, dtype=F64).reshape(self.shape)
        elif self.dtype.is_complex:
            tensor = torch.randn(self.shape, generator=generator, dtype=torch.complex128)
        elif self.dtype == BOOL:
            tensor = torch.rand(self.shape, generator=generator) > 0.5
        else:
            tensor = torch.rand(self.shape, generator=generator, dtype=F64)
            tensor = tensor * (self.high - self.low) + self.low
        tensor = (
            tensor.trunc()
            if not self.dtype.is_floating_point and tensor.is_floating_point()
            else tensor
        )
        tensor = tensor.to(self.dtype)
        if self.channels_last:
            return tensor.contiguous(memory_format=torch.channels_last)
        if self.permuted:
            ordered = torch.empty_permuted(self.shape, self.permuted, dtype=self.dtype)
            return ordered.copy_(tensor)
        return tensor


@dataclass(frozen=True)
class Case:
    """One call. Arguments that are left out take their defaults."""

    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    reference: Callable[..., Any] | None = None
    rtol: float | None = None
    atol: float | None = None

    @property
    def name(self) -> str:
        return self.op if "::" in self.op else f"aten::{self.op}"

    def tolerance(self, dtype: torch.dtype) -> tuple[float, float]:
        rtol, atol = _TOLERANCES.get(dtype, (0.0, 0.0))
        return self.rtol or rtol, self.atol or atol

    def __str__(self) -> str:
        parts = [_brief(a) for a in [*self.args, *self.kwargs.values()]]
        return f"{self.op}({','.join(parts)})"


def _brief(value: Any) -> str:
    if isinstance(value, Input):
        order = "cl" if value.channels_last else "p" if value.permuted else ""
        return f"{str(value.dtype)[6:]}{list(value.shape)}{order}".replace(" ", "")
    if isinstance(value, list):
        return "[" + ",".join(_brief(v) for v in value) + "]"
    return str(value).replace(" ", "")


def t(*shape: int, dtype: torch.dtype = F32, **options: Any) -> Input:
    return Input(shape, dtype, **options)


def vals(*values: float, dtype: torch.dtype = F32, shape: tuple[int, ...] | None = None) -> Input:
    return Input(shape if shape is not None else (len(values),), dtype, values=values)


def case(
    op: str, *args: Any, reference: Any = None, rtol: Any = None, atol: Any = None, **kwargs: Any
) -> Case:
    return Case(op, args, kwargs, reference, rtol, atol)


INF, NAN = float("inf"), float("nan")
SPECIAL = vals(0.0, -0.0, 1.5, 2.5, -0.5, -1.5, INF, -INF, NAN)
