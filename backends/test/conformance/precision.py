# SPDX-License-Identifier: BSD-3-Clause
"""How far results in a dtype may be from exact ones: what PyTorch itself loses where each value between two operators
is rounded to that dtype, times a few, and a few units in the last place of the largest result. A fault is off by more.

    own = in_dtype(torch.float16, module, inputs)    exact = exactly(module, inputs)
    bound = times * max(abs(own - exact)) + units * eps * max(abs(own))

Of quantized programs a value between two steps may go to either, if floats decide it: behind a mean of twelve integers,
say, which is often half a step. What follows may make several steps of it. What float64 gives is right, too.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

# Times of what PyTorch loses, and units in the last place. Float32 has room for norms that compilers fold into weights,
# whose factors are 5e-6 off (coremltools).
ROOM = {torch.float32: (8.0, 128.0), torch.float16: (4.0, 4.0)}


class _Converted(TorchDispatchMode):
    """What operators read is converted first; views and what they write in place stay as they are."""

    def __init__(self, convert: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._convert = convert

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not (func.is_view or func._schema.is_mutable):
            args, kwargs = pytree.tree_map_only(Tensor, self._convert, (args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def _float(tensor: Tensor, convert: Callable[[Tensor], Tensor]) -> Tensor:
    return convert(tensor) if tensor.dtype == torch.float32 else tensor


def in_dtype(dtype: torch.dtype, module: Callable[..., Any], inputs: Any) -> list[Any]:
    """Results where all float32 between operators is rounded to `dtype`; they are of float32."""
    rounded = lambda tensor: _float(tensor, lambda each: each.to(dtype).float())  # noqa: E731
    return pytree.tree_map_only(Tensor, rounded, _converted(rounded, module, inputs))


def exactly(module: Callable[..., Any], inputs: Any) -> list[Any]:
    """Results in float64, where PyTorch computes the module so; else in float32."""
    return _converted(lambda tensor: _float(tensor, Tensor.double), module, inputs)


def with_ties(direction: int, module: Callable[..., Any], inputs: Any) -> list[Any]:
    """Results where each value between two steps, as far as float32 tells, is quantized to the upper one (`direction`
    1) or the lower (-1)."""
    with _Ties(direction):
        return _results(module, inputs)


def _quantized_exactly(module: Callable[..., Any], inputs: Any) -> list[Any]:
    """Of a quantized program: in float64 between what is quantized."""
    with _Double(lambda tensor: _float(tensor, Tensor.double)):
        return _results(module, inputs)


class _Double(_Converted):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.quantized_decomposed.quantize_per_tensor.default:
            value, scale, point, least, most, dtype = args
            return ((value.double() / scale).round() + point).clamp(least, most).to(dtype)
        if func is torch.ops.quantized_decomposed.dequantize_per_tensor.default:
            value, scale, point = args[:3]
            return (value.double() - point) * scale
        return super().__torch_dispatch__(func, types, args, kwargs)


def _ties(module: Callable[..., Any], inputs: Any) -> list[list[Any]]:
    """Without float64 where PyTorch refuses that."""
    every = [with_ties(direction, copy.deepcopy(module), inputs) for direction in (-1, 1)]
    with contextlib.suppress(RuntimeError, ValueError, AssertionError):
        every.append(_quantized_exactly(copy.deepcopy(module), inputs))
    return every


class _Ties(TorchDispatchMode):
    def __init__(self, direction: int) -> None:
        super().__init__()
        self._direction = direction

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.quantized_decomposed.quantize_per_tensor.default:
            value, scale, _, least, most = args[:5]
            _, units = ROOM[torch.float32]
            part = units * torch.finfo(torch.float32).eps * (most - least)  # of a step
            args = (value + self._direction * part * scale, *args[1:])
        return func(*args, **(kwargs or {}))


def _converted(
    convert: Callable[[Tensor], Tensor], module: Callable[..., Any], inputs: Any
) -> list[Any]:
    """As they are where PyTorch refuses what is converted, as quantizing does, or control flow beside a mode."""
    try:
        with _Converted(convert):
            return _results(module, inputs)
    except (RuntimeError, ValueError, AssertionError):
        torch._dynamo.reset()  # it keeps what it could not trace
        return _results(module, inputs)


def _results(module: Callable[..., Any], inputs: Any) -> list[Any]:
    with torch.no_grad():
        return pytree.tree_leaves(module(*pytree.tree_map_only(Tensor, torch.clone, inputs)))


@dataclass(frozen=True)
class Bounds:
    """Of the results of one run. `own`: PyTorch's where all values are of `dtype`; `least`: of the largest result, what
    it may be off by in any case; `step`: the same as a number, of quantized results, which may be between those of
    `ties`, too."""

    dtype: torch.dtype
    expected: list[Any]
    own: list[Any]
    exact: list[Any]
    least: float = 0.0
    step: float = 0.0
    ties: Sequence[list[Any]] = ()

    @staticmethod
    def of(
        dtype: torch.dtype,
        module: Callable[..., Any],
        inputs: Any,
        least: float = 0.0,
        step: float = 0.0,
    ) -> Bounds:
        """Buffers that the module writes are written once."""
        exact = exactly(copy.deepcopy(module), inputs)
        is_narrow = dtype != torch.float32
        own = in_dtype(dtype, copy.deepcopy(module), inputs) if is_narrow else None
        expected = _results(module, inputs)
        every = _ties(module, inputs) if step else []
        own = expected if own is None else own
        return Bounds(dtype, expected, own, exact, least, step, every)

    def difference(self, found: Sequence[Any], is_random: bool = False) -> str:
        """Where results are not these; "" where they are. `is_random`: sizes and dtypes alone are compared."""
        if len(found) != len(self.expected):
            return f"{len(found)} results, eager has {len(self.expected)}"
        every = zip(found, self.expected, self.own, self.exact, strict=True)
        for place, (have, want, own, exact) in enumerate(every):
            if not isinstance(want, Tensor):
                text = "" if have == want else f"{have}, eager has {want}"
            elif have.shape != want.shape or have.dtype != want.dtype:
                text = f"{have.dtype}{list(have.shape)}, eager has {want.dtype}{list(want.shape)}"
            else:
                ties = [_real(each[place]) for each in self.ties]
                text = "" if is_random else self._beyond(*map(_real, (have, own, exact)), ties)
            if text:
                return f"result {place}: {text}" if place else text
        return ""

    def _beyond(self, found: Tensor, own: Tensor, exact: Tensor, ties: list[Tensor]) -> str:
        """Where PyTorch's own are infinite and exact ones are not, what is not finite, what the dtype does not hold and
        what is near the exact ones are right, too."""
        limits, (times, units) = torch.finfo(self.dtype), ROOM[self.dtype]
        is_known = own.isfinite() & exact.isfinite()
        lost = _largest((own - exact).abs()[is_known])
        largest = _largest(own.abs()[is_known])
        bound = times * lost + max(units * limits.eps, self.least) * largest + self.step
        every = torch.stack([own, *ties])
        near = (found >= every.amin(0) - bound) & (found <= every.amax(0) + bound)
        same = (found == own) | (found.isnan() & own.isnan())
        room = bound + times * units * limits.eps * _largest(exact.abs()[exact.isfinite()])
        is_lost = ~found.isfinite() | (found.abs() >= limits.max)
        wider = ~own.isfinite() & exact.isfinite() & (is_lost | ((found - exact).abs() <= room))
        wrong = ~(near | same | wider)
        if not wrong.any():
            return ""
        place = int(wrong.flatten().nonzero()[0])
        off = _largest((found - own).abs()[wrong & found.isfinite()])
        return (
            f"{int(wrong.sum())} of {found.numel()} elements: at {place} {found.flatten()[place]:.6g}, PyTorch has "
            f"{own.flatten()[place]:.6g}; off by {off:.3g}, {bound:.3g} is allowed"
        )


def _real(tensor: Tensor) -> Tensor:
    tensor = tensor.detach()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).double()


def _largest(values: Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0
