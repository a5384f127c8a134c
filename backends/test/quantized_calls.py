# SPDX-License-Identifier: BSD-3-Clause
"""Calls on stored values with scales that a test chooses, and what they are in float64. Integer arithmetic rounds once:
a result is within half a quantum of the exact one, and what a row says that it loses besides. A second rounding, a bias
that is cut off, a mean by one more are further away.

dequantize(x, 0.1, 3), dequantize(y, 0.2, 0) -> add -> quantize(0.15, -7)      exact: (x * 0.1 + y * 0.2) / 0.15 - 7"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

_Q = torch.ops.quantized_decomposed
# Scales are multipliers of 31 bits, so that ties may fall to the other side.
OF_SCALES = 1e-3


@dataclass(frozen=True)
class Stored:
    """How a value is stored. `scale`: several are one for each index of `axis`."""

    scale: float | tuple[float, ...]
    zero_point: int = 0
    dtype: torch.dtype = torch.int8
    axis: int = 0

    @property
    def limits(self) -> tuple[int, int]:
        info = torch.iinfo(self.dtype)
        return info.min, info.max

    def draw(self, *sizes: int) -> Tensor:
        """All that is stored, as likely as each other."""
        low, high = self.limits
        return torch.randint(low, high + 1, sizes, dtype=self.dtype)

    def dequantized(
        self, x: Tensor, scales: Tensor | None = None, points: Tensor | None = None
    ) -> Tensor:
        """`scales`, `points`: as data of the model, where there are several."""
        if scales is None:
            return _Q.dequantize_per_tensor(
                x, self.scale, self.zero_point, *self.limits, self.dtype
            )
        return _Q.dequantize_per_channel(x, scales, points, self.axis, *self.limits, self.dtype)

    def quantized(self, x: Tensor) -> Tensor:
        return _Q.quantize_per_tensor(x, self.scale, self.zero_point, *self.limits, self.dtype)

    def between(self, x: Tensor) -> Tensor:
        """Stored so between two calls, by which it must not change."""
        return self.dequantized(self.quantized(x)) if x.dtype == torch.float32 else x

    def real(self, x: Tensor) -> Tensor:
        scales = torch.tensor(self.scale, dtype=torch.float64)
        if scales.dim():
            scales = scales.reshape([-1 if dim == self.axis else 1 for dim in range(x.dim())])
        return (x.double() - self.zero_point) * scales

    def quanta(self, values: Tensor) -> Tensor:
        """As they would be stored, if that were not whole."""
        return (values / self.scale + self.zero_point).clamp(*self.limits)


class QuantizedCall(nn.Module):
    """`compute` of the operands, then of `data`; a result of None is not quantized, as of a comparison."""

    def __init__(
        self,
        compute: Callable[..., Tensor],
        operands: Sequence[Stored],
        result: Stored | None,
        data: Sequence[tuple[Tensor, Stored | None]] = (),
    ) -> None:
        super().__init__()
        self.compute, self.operands, self.result = compute, operands, result
        self.stored = [each for _, each in data]
        for place, (tensor, qparams) in enumerate(data):
            self.register_buffer(f"data_{place}", tensor)
            if qparams is not None and isinstance(qparams.scale, tuple):
                scales = torch.tensor(qparams.scale, dtype=torch.float64)
                self.register_buffer(f"scales_{place}", scales)
                self.register_buffer(f"points_{place}", torch.zeros_like(scales, dtype=torch.int64))

    def forward(self, *given: Tensor) -> Tensor:
        pairs = zip(given, self.operands, strict=True)
        values = [qparams.dequantized(each) for each, qparams in pairs]
        made = self.compute(*values, *map(self._data, range(len(self.stored))))
        return made if self.result is None else self.result.quantized(made)

    def _data(self, place: int) -> Tensor:
        tensor, qparams = getattr(self, f"data_{place}"), self.stored[place]
        if qparams is None:
            return tensor
        names = (f"scales_{place}", f"points_{place}")
        numbers = (
            (getattr(self, name) for name in names) if isinstance(qparams.scale, tuple) else ()
        )
        return qparams.dequantized(tensor, *numbers)

    def exact(self, given: Sequence[Tensor]) -> Tensor:
        """In quanta of the result, not rounded."""
        data = [getattr(self, f"data_{place}") for place in range(len(self.stored))]
        pairs = zip((*given, *data), (*self.operands, *self.stored), strict=True)
        made = self.compute(
            *(each if qparams is None else qparams.real(each) for each, qparams in pairs)
        )
        return made if self.result is None else self.result.quanta(made)


@dataclass(frozen=True)
class Row:
    """`loss`: quanta by which a result may be further from the exact one than half a quantum."""

    name: str
    call: QuantizedCall
    inputs: tuple[Tensor, ...]
    loss: float = OF_SCALES

    def why_wrong(self, found: Tensor) -> str:
        """Empty for a result that is right."""
        exact = self.call.exact(self.inputs)
        if found.shape != exact.shape:
            return f"{self.name}: sizes {list(found.shape)}, expected {list(exact.shape)}"
        if self.call.result is None:
            count = int((found != exact).sum())
            return f"{self.name}: {count} of {found.numel()} differ" if count else ""
        off = (found.double() - exact).abs().max().item()
        most = 0.5 + self.loss
        return f"{self.name}: {off:.4f} quanta off, expected {most:g}" if off > most else ""


def row(
    name: str,
    compute: Callable[..., Tensor],
    inputs: Sequence[tuple[Stored, tuple[int, ...]]],
    result: Stored | None,
    data: Sequence[tuple[Tensor, Stored | None]] = (),
    loss: float = OF_SCALES,
) -> Row:
    """With drawn inputs of those sizes."""
    call = QuantizedCall(compute, [qparams for qparams, _ in inputs], result, data)
    return Row(name, call, tuple(qparams.draw(*sizes) for qparams, sizes in inputs), loss)


def weights(
    stored: Stored, scales: Sequence[float], *sizes: int, transposed: bool = False, groups: int = 1
) -> list[tuple[Tensor, Stored | None]]:
    """Of a layer whose input is stored so: int8 with a scale for each output channel, and int32 biases in the products
    of both scales."""
    weight = Stored(tuple(scales), axis=1 if transposed else 0)
    unit = Stored(
        tuple(stored.scale * each for each in scales) * (groups if transposed else 1),
        dtype=torch.int32,
    )
    bias = torch.randint(-3000, 3000, (len(unit.scale),), dtype=torch.int32)
    return [(weight.draw(*sizes).clamp(min=-127), weight), (bias, unit)]
