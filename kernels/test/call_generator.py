# SPDX-License-Identifier: BSD-3-Clause
"""Calls made from schemas: arguments are drawn by type and name, and eager PyTorch tells what is valid."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from executorch.codegen.schema import Argument, Schema
from kernels.test.kernel_call import functional_of

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
    torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64, torch.complex128,
]  # fmt: skip
SHAPES: list[tuple[int, ...]] = [
    (), (1,), (5,), (0,), (2, 3), (3, 1), (0, 3), (4, 70), (2, 3, 4), (1, 2, 1), (2, 4, 3, 5), (1, 4, 6, 6),
]  # fmt: skip
LAYOUTS = ["rows", "channels_last", "reversed"]
NUMBERS = [0, 1, 2, -1, 3, 0.5, -1.5, 2.0, True, False]
EXTREMES = [2**31, -(2**31), 2**62, -(2**63), 2**63 - 1]
SPECIAL = [float("nan"), float("inf"), -float("inf"), -0.0]
EXTREME_FLOATS = [*SPECIAL, 1e300]
# Numbers that one dtype or another cannot hold.
LARGE = [300, -200, 70_000, -100_000, 2**40, 1e30, -1e308]

STRINGS = {
    "approximate": ["none", "tanh"],
    "rounding_mode": ["floor", "trunc"],
    "reduce": ["sum", "prod", "mean", "amax", "amin"],
}

# Random or without content.
LEFT_OUT = {
    "aten::rand.out", "aten::randn.out", "aten::empty.out", "aten::native_dropout.out",
    "dim_order_ops::_empty_dim_order.out", "dim_order_ops::_clone_dim_order.out",
    "dim_order_ops::_to_dim_order_copy.out", "et_copy::_h2d_copy.out", "et_copy::_d2h_copy.out",
}  # fmt: skip


@dataclass(frozen=True)
class Start:
    """What the first tensor of a call is; everything else follows from the seed."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    layout: str


def starts() -> Iterator[Start]:
    """All dtypes, shapes and layouts; layouts where the shape has more than one."""
    for dtype in DTYPES:
        for shape in SHAPES:
            for layout in LAYOUTS:
                plain = layout == "rows"
                if (
                    plain
                    or (layout == "channels_last" and len(shape) == 4)
                    or (layout == "reversed" and len(shape) > 1)
                ):
                    yield Start(dtype, shape, layout)


class Drawer:
    """Draws the arguments of one call. `wild` adds numbers that no correct program has."""

    def __init__(self, seed: int, start: Start, wild: bool = False) -> None:
        self._random = random.Random(seed)
        self._torch = torch.Generator().manual_seed(seed)
        self.start = start
        self._wild = wild
        self._tensors = 0

    def values(self, schema: Schema, given: dict[str, Any] | None = None) -> list[Any]:
        """The inputs in the schema's order; those that are not given are drawn one by one."""
        given = given or {}
        inputs = [a for a in schema.arguments if not a.is_out]
        return [given[a.name] if a.name in given else self._value(a, schema) for a in inputs]

    def tensor(self, shape: tuple[int, ...], dtype: torch.dtype, layout: str) -> torch.Tensor:
        if dtype == torch.bool:
            made = torch.rand(shape, generator=self._torch) > 0.5
        elif dtype.is_complex:
            made = torch.randn(shape, generator=self._torch, dtype=dtype)
        elif dtype.is_floating_point:
            made = (torch.randn(shape, generator=self._torch) * 2).to(dtype)
            if made.numel() and self._random.random() < 0.15:
                place = self._random.randrange(made.numel())
                made.view(-1)[place] = self._random.choice(SPECIAL)
        else:
            low = 0 if dtype == torch.uint8 else -4
            made = torch.randint(low, 6, shape, generator=self._torch).to(dtype)
        return _laid_out(made, layout)

    def choose(self, *options: Any) -> Any:
        return self._random.choice(options)

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def integer(self, low: int, high: int) -> int:
        """Both bounds included."""
        return self._random.randint(low, high)

    def sizes(self, count: int, low: int, high: int) -> list[int]:
        return [self.integer(low, high) for _ in range(count)]

    def sample(self, options: Sequence[Any], count: int) -> list[Any]:
        return self._random.sample(options, count)

    def like(self, *shape: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        """A tensor of the start's dtype, unless another is asked for, and layout."""
        return self.tensor(shape, dtype or self.start.dtype, self.start.layout)

    def positive(self, *shape: int) -> torch.Tensor:
        made = self.like(*shape)
        return made.abs() + 0.1 if made.dtype.is_floating_point else made

    def index(
        self, shape: Sequence[int], below: int, dtype: torch.dtype = torch.int64, low: int = 0
    ) -> torch.Tensor:
        return torch.randint(low, below, tuple(shape), generator=self._torch).to(dtype)

    def _value(self, argument: Argument, schema: Schema) -> Any:
        kind = argument.type.replace("!", "")
        if kind.endswith("?"):
            if self._random.random() < 0.4:
                return None
            kind = kind[:-1]
        if kind == "Tensor":
            return self._tensor_argument(argument)
        if kind in ("Tensor[]", "Tensor?[]"):
            return [self._tensor_argument(argument) for _ in range(self.choose(1, 2, 3))]
        if kind == "str":
            return self.choose(*STRINGS[argument.name])
        if kind == "Scalar":
            numbers = LARGE if self.chance(0.12) else NUMBERS
            return self.choose(*numbers, *(EXTREME_FLOATS if self._wild else []))
        simple = {
            "bool": lambda: self.choose(False, True),
            "float": lambda: self.choose(
                0.1, 0.5, 1.0, 2.0, *(EXTREME_FLOATS if self._wild else [])
            ),
            "ScalarType": lambda: self.choose(*DTYPES),
            "MemoryFormat": lambda: None,
            "float[]": lambda: [self.choose(0.5, 1.0, 2.0) for _ in range(2)],
            "bool[]": lambda: [True, True, True],
        }
        if kind in simple:
            return simple[kind]()
        if kind == "int":
            return self._integer(argument.name)
        return self._integers(argument.name)

    def _integer(self, name: str) -> int:
        if self._wild and self._random.random() < 0.3:
            return int(self.choose(*EXTREMES, -7, 100))
        if "dim" in name:
            return int(self.choose(0, -1, 1, 0, -2))
        return int(self.choose(0, 1, 2, 1, 3, -1))

    def _integers(self, name: str) -> list[int]:
        rank = len(self.start.shape)
        if self._wild and self._random.random() < 0.3:
            return [int(self.choose(*EXTREMES, -7, 0, 1)) for _ in range(self.choose(1, 2, 3))]
        if name == "dims" and self._random.random() < 0.5:
            return self._random.sample(range(rank), rank)
        if "dim" in name:
            return self._random.sample(
                range(-rank, rank), self.choose(0, 1, min(2, 2 * rank)) if rank else 0
            )
        if "size" in name and self._random.random() < 0.5:
            return self._random.sample(self.start.shape, rank)
        length = self.choose(1, 2, rank)
        least = 0 if "pad" in name or "size" in name else 1
        return [self._random.randint(least, 3) for _ in range(length)]

    def _tensor_argument(self, argument: Argument) -> torch.Tensor:
        start, first = self.start, self._tensors == 0
        self._tensors += 1
        if first:
            return self.tensor(start.shape, start.dtype, start.layout)
        named = {
            "index": torch.int64,
            "indices": torch.int64,
            "mask": torch.bool,
            "condition": torch.bool,
        }
        dtype = named.get(
            argument.name, start.dtype if self._random.random() < 0.6 else self.choose(*DTYPES)
        )
        shape = self._other_shape()
        layout = start.layout if len(shape) == len(start.shape) else "rows"
        return self.tensor(shape, dtype, layout)

    def _other_shape(self) -> tuple[int, ...]:
        """The first tensor's shape, one that broadcasts with it, its transpose, or any."""
        shape, choice = self.start.shape, self._random.random()
        if choice < 0.5:
            return shape
        if choice < 0.7:
            return tuple(1 if self._random.random() < 0.5 else size for size in shape)
        if choice < 0.8:
            return shape[1:]
        if choice < 0.9:
            return (*shape[:-2], *reversed(shape[-2:]))
        return self._random.choice(SHAPES)


def _laid_out(made: torch.Tensor, layout: str) -> torch.Tensor:
    if layout == "channels_last" and made.dim() == 4:
        return made.contiguous(memory_format=torch.channels_last)
    if layout == "reversed" and made.dim() > 1:
        order = tuple(reversed(range(made.dim())))
        return torch.empty_permuted(made.shape, order, dtype=made.dtype).copy_(made)
    return made


def eager(schema: Schema, values: list[Any]) -> tuple[torch.Tensor, ...]:
    """What PyTorch gives, and after it the arguments that it updates; raises what PyTorch raises."""
    values = [v.clone() if isinstance(v, torch.Tensor) else v for v in values]
    in_place = schema.name.endswith("_")
    operator = getattr(torch.ops.aten, schema.name).default if in_place else functional_of(schema)
    arguments = operator._schema.arguments
    positional = [v for a, v in zip(arguments, values, strict=True) if not a.kwarg_only]
    named = {a.name: v for a, v in zip(arguments, values, strict=True) if a.kwarg_only}
    result = operator(*positional, **named)
    if schema.name == "_int_mm":  # which leaves some results of small matrices unset
        result = torch.mm(values[0].to(torch.int32), values[1].to(torch.int32))
    results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    updated = [v for a, v in zip(schema.arguments, values, strict=False) if a.is_written]
    return (*(() if in_place else results), *updated)
