# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Arguments and results of a call as data, with values made on demand for a dtype."""

from __future__ import annotations

from enum import Enum
from typing import Any

import torch

from executorch.exir.dialects.edge.arg.type import ArgType

_SIZE = (2, 2)
_INTEGERS = (-100, 100)


class ArgMode(Enum):
    """What tensors without a value are filled with."""

    ONES = 0
    RANDOM = 1


class BaseArg:
    """An argument: its kind and its value, or the size, content and dtype of a tensor to make."""

    def __init__(
        self,
        argtype: ArgType,
        *,
        value: Any = None,
        size: Any = None,
        fill: Any = None,
        dtype: torch.dtype | None = None,
        nonzero: bool = False,
        nonneg: bool = False,
        bounded: bool = False,
    ) -> None:
        self.type = argtype
        self.value_given, self.value = value is not None, value
        self.size_given, self.size = size is not None, _SIZE if size is None else tuple(size)
        self.fill_given, self.fill = fill is not None, 1 if fill is None else fill
        self.dtype_given, self.dtype = dtype is not None, torch.float32 if dtype is None else dtype
        self.nonzero, self.nonneg, self.bounded = nonzero, nonneg, bounded
        self._mode = ArgMode.ONES
        self._kw = self._out = False

    @property
    def mode(self) -> ArgMode:
        return self._mode

    @mode.setter
    def mode(self, v: ArgMode) -> None:
        self._mode = v

    @property
    def kw(self) -> bool:
        """True for an argument that is given by name."""
        return self._kw

    @property
    def out(self) -> bool:
        """True for an argument that the operator writes."""
        return self._out

    def get_val(self) -> Any:
        return self.get_val_with_dtype(self.dtype)

    def get_val_with_dtype(self, dtype: torch.dtype) -> Any:
        """The value for a call in which this argument has `dtype`; a dtype of its own comes first."""
        dtype = self.dtype if self.dtype_given else dtype
        if self.type.is_tensor():
            return self.get_tensor_val_with_dtype(dtype)
        if self.type.is_tensor_list():
            return [each.get_val_with_dtype(dtype) for each in self.value or ()]
        if self.type.is_scalar():
            return self.get_scalar_val_with_dtype(dtype)
        if self.type.is_scalar_type():
            return dtype
        return self.value

    def get_tensor_val_with_dtype(self, dtype: torch.dtype) -> torch.Tensor | None:
        if self.value_given:
            return torch.tensor(self.value, dtype=dtype)
        if self.type.is_optional() and not (self.size_given or self.fill_given):
            return None
        if self._mode is ArgMode.RANDOM and not self.fill_given:
            return self.get_random_tensor(self.size, dtype)
        return torch.full(self.size, self.fill, dtype=dtype)

    def get_scalar_val_with_dtype(self, dtype: torch.dtype) -> Any:
        if self.value_given:
            return self.get_converted_scalar(self.value, dtype)
        if self.type.is_optional():
            return None
        if self._mode is ArgMode.RANDOM and not self.fill_given:
            return self.get_random_scalar(dtype)
        return self.get_converted_scalar(self.fill, dtype)

    def get_converted_scalar(self, value: Any, dtype: torch.dtype) -> Any:
        """`value` as the kind of number that `dtype` holds."""
        return (
            torch.tensor(value, dtype=dtype).item() if dtype is torch.bool else _kind(dtype)(value)
        )

    def get_random_scalar(self, dtype: torch.dtype) -> Any:
        return self.get_random_tensor((), dtype).item()

    def get_random_tensor(self, size: Any, dtype: torch.dtype) -> torch.Tensor:
        """Numbers in [-1, 1) or [-100, 100); none negative, zero or large where the argument says so."""
        if dtype is torch.bool:
            return torch.ones(size, dtype=dtype) if self.nonzero else torch.rand(size) < 0.5
        if dtype.is_floating_point or dtype.is_complex:
            found = torch.rand(size, dtype=torch.float64) * 2 - 1
        else:
            low, high = (0, 3) if self.bounded else _INTEGERS
            found = torch.randint(low, high, size).to(torch.float64)
        if self.nonneg or dtype is torch.uint8:
            found = found.abs()
        if self.nonzero:
            found = torch.where(found == 0, torch.ones_like(found), found)
        return found.to(dtype)


def _kind(dtype: torch.dtype) -> type:
    if dtype.is_complex:
        return complex
    return float if dtype.is_floating_point else int


class BaseKwarg(BaseArg):
    """An argument that is given by name."""

    def __init__(self, argtype: ArgType, argname: str, **kwargs: Any) -> None:
        super().__init__(argtype, **kwargs)
        self.argname = argname
        self._kw = True


class InArg(BaseArg):
    """What the operator reads, given by place."""


class InKwarg(BaseKwarg, InArg):
    """What the operator reads, given by name."""


class OutArg(BaseKwarg):
    """What the operator writes."""

    def __init__(
        self, argtype: ArgType, *, argname: str = "out", fill: Any = 0, **kwargs: Any
    ) -> None:
        super().__init__(argtype, argname, fill=fill, **kwargs)
        self._out = True


class Return(BaseKwarg):
    """What the operator gives, to be compared with a result."""

    RETURN_NAME_PREFIX = "__ret"

    def __init__(
        self, argtype: ArgType, *, argname: str = RETURN_NAME_PREFIX, fill: Any = 0, **kwargs: Any
    ) -> None:
        super().__init__(argtype, argname, fill=fill, **kwargs)

    def is_expected(self, result: Any) -> bool:
        """True for a result of this kind: a tensor, or as many tensors as are listed."""
        if isinstance(result, torch.Tensor):
            return self.type.is_tensor()
        if isinstance(result, list | tuple):
            expected = self.value or ()
            return self.type.is_tensor_list() and len(result) == len(expected)
        raise NotImplementedError(f"expected a tensor or a list of them, found a {type(result)}")

    def to_out(self, *, name: str | None = None) -> OutArg:
        """The argument that an out variant writes this result to."""
        return OutArg(
            self.type,
            argname=name or self.argname,
            value=self.value if self.value_given else None,
            size=self.size,
            fill=self.fill,
            dtype=self.dtype,
        )
