# SPDX-License-Identifier: BSD-3-Clause
"""Inputs and outputs by the names in a program."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from executorch.extension.pybindings.portable_lib import ExecuTorchError, MethodMeta


class Outputs(list[Any]):
    """What an execution gave, in the order of the model and by the names that its dict, dataclass or named tuple has:
    `outputs[0]`, `outputs["logits"]`, `outputs.logits`, `dict(outputs)`. Names of nested values are joined by dots."""

    def __init__(self, values: Sequence[Any], names: Sequence[str]) -> None:
        super().__init__(values)
        self._names = tuple(names)
        _register_in_pytree()

    def keys(self) -> list[str]:
        """The names, in order; outputs without one are left out."""
        return [name for name in self._names if name]

    def items(self) -> Iterator[tuple[str, Any]]:
        return ((name, value) for name, value in zip(self._names, self) if name)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self.keys():
            known = ", ".join(self.keys()) or "none: the program has no names of its outputs"
            raise KeyError(f"expected an output of {known}; found {key}")
        return super().__getitem__(self._names.index(key))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_names" or name not in self._names:
            raise AttributeError(f"there is no output or attribute {name}")
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.keys()]

    def __reduce__(self) -> tuple[Any, ...]:
        return Outputs, (list(self), self._names)


def _register_in_pytree() -> None:
    """torch's pytree takes lists apart, but nothing derived from them. PyTorch may be absent, or come late."""
    pytree = sys.modules.get("torch.utils._pytree")
    if pytree is None or Outputs in getattr(pytree, "SUPPORTED_NODES", (Outputs,)):
        return
    # Another thread may have been here meanwhile.
    with contextlib.suppress(ValueError):
        pytree.register_pytree_node(
            Outputs, lambda outputs: (list(outputs), outputs._names), Outputs
        )


def in_order(
    metadata: MethodMeta, positional: Sequence[Any], named: Mapping[str, Any]
) -> Sequence[Any]:
    """The inputs in the order of the method. What is missing is None, which the runtime refuses by its name unless the
    method was exported with None there."""
    names = metadata.input_names()
    found = dict(enumerate(positional))
    for name, value in _leaves(named, ""):
        if name not in names:
            known = ", ".join(filter(None, names))
            expected = f"an input of {known}" if known else "inputs in their order, without names"
            raise ExecuTorchError(f"Method {metadata.name()}: expected {expected}; found {name}")
        if names.index(name) in found:
            raise ExecuTorchError(f"Method {metadata.name()}: input {name} is given twice")
        found[names.index(name)] = value
    return [found.get(i) for i in range(max(len(names), len(positional)))]


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        items: Any = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    else:
        yield name, value
        return
    for key, each in items:
        yield from _leaves(each, f"{name}.{key}" if name else str(key))


def laid_out(metadata: MethodMeta, inputs: Sequence[Any]) -> list[Any]:
    """Copies of the tensors whose elements lie in memory in another order than the method takes; others as they are."""
    inputs = [inputs] if hasattr(inputs, "ndim") else inputs
    return [
        _laid_out(value, metadata.input_tensor_meta(i).dim_order())
        if i < metadata.num_inputs() and hasattr(value, "ndim")
        else value
        for i, value in enumerate(inputs)
    ]


def _laid_out(value: Any, dim_order: Sequence[int]) -> Any:
    if value.ndim != len(dim_order):
        return value  # which the runtime refuses, with both numbers
    back = [dim_order.index(i) for i in range(len(dim_order))]
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.permute(*dim_order).contiguous().permute(*back)
    if numpy is not None and isinstance(value, numpy.ndarray):
        return numpy.require(value.transpose(dim_order), requirements=["C", "A"]).transpose(back)
    return value
