# SPDX-License-Identifier: BSD-3-Clause
"""What a row of the corpus is: a module or a function, its inputs, and what is expected of whoever runs it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.export import Dim
from torch.utils import _pytree as pytree


@dataclass(frozen=True)
class Row:
    """`is_random`: values are not compared, shapes are. `more`: further inputs for a program whose sizes vary.
    `refused`: a regular expression over what exporting says, where no kernel computes the row; a delegate may.
    `is_exported`: whether torch.export takes it."""

    name: str
    code: nn.Module | Callable[..., Any]
    inputs: tuple[Any, ...]
    dynamic_shapes: Any = None
    more: tuple[tuple[Any, ...], ...] = ()
    is_random: bool = False
    tolerance: float = 1e-4
    refused: str = ""
    is_exported: bool = True
    family: str = ""

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"

    @property
    def calls(self) -> list[tuple[Any, ...]]:
        return [self.inputs, *self.more]

    @property
    def is_finite(self) -> bool:
        tensors = [
            leaf for leaf in pytree.tree_leaves(self.inputs) if isinstance(leaf, torch.Tensor)
        ]
        return all(bool(each.isfinite().all()) for each in tensors)

    def module(self) -> nn.Module:
        """The caller's own."""
        if isinstance(self.code, nn.Module):
            return copy.deepcopy(self.code).eval()
        return Function(self.code)

    def shapes(self) -> Any:
        """`dynamic_shapes` as torch.export takes them of `module()`."""
        is_function = not isinstance(self.code, nn.Module)
        return (
            (self.dynamic_shapes,) if is_function and self.dynamic_shapes else self.dynamic_shapes
        )

    def static(self) -> Row:
        return replace(self, dynamic_shapes=None, more=())

    def in_order(self, order: str) -> Row:
        """Its tensors lie in memory as ORDERS says."""

        def laid(value: Any) -> Any:
            return ORDERS[order](value) if isinstance(value, torch.Tensor) else value

        return replace(
            self,
            inputs=pytree.tree_map(laid, self.inputs),
            more=pytree.tree_map(laid, self.more),
        )


class Function(nn.Module):
    """A module whose forward is the function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def row(name: str, code: Any, *inputs: Any, **options: Any) -> Row:
    return Row(name, code, inputs, **options)


def shaped(name: str, code: Any, shapes: Sequence[tuple[int, ...]], **options: Any) -> Row:
    """A row of normal random numbers in those shapes, no two inputs alike."""
    generator = torch.Generator().manual_seed(0)
    return Row(
        name, code, tuple(torch.randn(shape, generator=generator) for shape in shapes), **options
    )


_ROWS = {0: Dim("rows", min=2, max=16)}


def varying(name: str, code: Any, *inputs: torch.Tensor, **options: Any) -> Row:
    """A row whose first input has any number of rows."""
    shapes = tuple(_ROWS if place == 0 else None for place in range(len(inputs)))
    first = inputs[0]
    more = tuple((torch.cat([first, first.flip(0) + 3])[:n] % 10, *inputs[1:]) for n in (2, 7))
    return row(name, code, *inputs, dynamic_shapes=shapes, more=more, **options)


def numbers(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Normal random numbers, the same in every run."""
    generator = torch.Generator().manual_seed(sum(sizes) + len(sizes))
    return torch.randn(*sizes, generator=generator).to(dtype)


def integers(high: int, *sizes: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(sizes) + high)
    return torch.randint(high, sizes, generator=generator)


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.contiguous(memory_format=formats.get(tensor.dim(), torch.contiguous_format))


def _reversed(tensor: torch.Tensor) -> torch.Tensor:
    order = tuple(reversed(range(tensor.dim())))
    return tensor.permute(order).contiguous().permute(order)


# How the tensors that a program is given lie in memory.
ORDERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "plain": torch.clone,
    "channels_last": _channels_last,
    "reversed": _reversed,
}
