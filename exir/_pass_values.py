# SPDX-License-Identifier: BSD-3-Clause
"""Values and metadata of nodes, as passes see them while they run."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch.fx import Node
from torch.fx.proxy import Proxy

from executorch.exir.dialects.edge._ops import EdgeOpOverload

# Metadata that the passes' runs write: overrides cannot set it.
PROTECTED_KEYS: set[str] = {"val", "stack_trace", "nn_module_stack", "debug_handle", "tensor_meta"}


class ExportPassBaseError(RuntimeError):
    """A pass met a graph it cannot run."""


class NodeMetadata:
    """The `meta` of the node a call stands for."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data: dict[str, Any] = data.copy()

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if key in PROTECTED_KEYS:
            raise RuntimeError(f"Could not override node key: {key}")
        self.data[key] = value

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def get(self, key: str, default: Any = None) -> Any:
        return self.data.get(key, default)

    def copy(self) -> NodeMetadata:
        return NodeMetadata(self.data)


class ProxyValue:
    """A value while a pass runs: its fake data and its node in the new graph."""

    def __init__(self, data: Any, proxy: Proxy | Node) -> None:
        self.data = data
        self.proxy_or_node = proxy

    @property
    def node(self) -> Node:
        held = self.proxy_or_node
        return held.node if isinstance(held, Proxy) else held

    @property
    def proxy(self) -> Proxy:
        held = self.proxy_or_node
        return held if isinstance(held, Proxy) else Proxy(held)

    def to_tensor(self) -> torch.Tensor:
        if not self.is_tensor():
            raise AssertionError(f"{self.node} is a {type(self.data).__name__}, not a tensor")
        return self.data

    def is_tensor(self) -> bool:
        return isinstance(self.data, torch.Tensor)

    def __iter__(self) -> Any:
        for index, item in enumerate(self.data):
            yield ProxyValue(item, self.proxy[index])

    def __bool__(self) -> bool:
        return bool(self._number("used in a boolean context"))

    def __int__(self) -> int:
        return int(self._number("converted to int"))

    def __float__(self) -> float:
        return float(self._number("converted to float"))

    def __index__(self) -> int:
        return operator.index(self._number("used in an index context"))

    def _number(self, use: str) -> Any:
        """The data, unless it is a size that is not known yet: deciding about it would narrow the program."""
        if isinstance(self.data, torch.SymInt | torch.SymFloat | torch.SymBool):
            raise ExportPassBaseError(
                f"{self.node} is symbolic ({self.data}) and cannot be {use}; write an operator on it instead"
            )
        return self.data


class ArgSchema(Protocol):
    """What `map_args` tells about an argument."""

    name: str
    kwarg_only: bool
    type: Any


def map_args(
    op: torch._ops.OpOverload | EdgeOpOverload,
    fn: Callable[[Any, ArgSchema], Any],
    args: Any,
    kwargs: dict[str, Any],
) -> tuple[Any, dict[str, Any]]:
    """`args` and `kwargs` with fn(value, schema of the argument) instead of each value."""
    new_args, new_kwargs = list(args), dict(kwargs)
    for position, schema in enumerate(op._schema.arguments):
        if schema.name in new_kwargs:
            new_kwargs[schema.name] = fn(new_kwargs[schema.name], schema)
        elif not schema.kwarg_only and position < len(new_args):
            new_args[position] = fn(new_args[position], schema)
    return tuple(new_args), new_kwargs
