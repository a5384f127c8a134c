# SPDX-License-Identifier: BSD-3-Clause
"""Backend operators: torch operators registered for one backend or one fusion, as call targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from executorch.exir.dialects.edge._ops import EdgeOpOverload, EdgeOpOverloadPacket

# Libraries whose operators are backend operators without being bound to a pattern.
_BACKEND_OP_LIB = ["executorch_prim", "quantized_decomposed", "DO_NOT_USE_TEST_ONLY"]
# What an operator stands for, where `bind_pattern_to_op` has said it: by qualified name and overload.
_patterns: dict[tuple[str, str], Callable[..., Any]] = {}


def bind_pattern(name: str, overload: str, pattern: Callable[..., Any]) -> None:
    _patterns[name, overload] = pattern


class BackendOpOverload(EdgeOpOverload):
    """A torch operator used as a backend operator; `_equivalent_callable` is what it stands for."""

    def __init__(self, op_overload: torch._ops.OpOverload | EdgeOpOverload) -> None:
        is_edge = isinstance(op_overload, EdgeOpOverload)
        super().__init__(op_overload._op if is_edge else op_overload)
        self.__module__ = __name__

    @property
    def _equivalent_callable(self) -> Callable[..., Any]:
        """The function bound to it, else the operator itself."""
        return _patterns.get((self._op._schema.name, self._op._schema.overload_name), self._op)

    def __repr__(self) -> str:
        return f"<BackendOpOverload: {self._op.name()}>: schema = {self._op._schema}"

    def __reduce__(self) -> tuple[Any, tuple[str, str, str]]:
        namespace, name = self._op._schema.name.split("::")
        return (_find_backend_op, (namespace, name, self._op._overloadname))


class BackendOpOverloadPacket(EdgeOpOverloadPacket):
    """All overloads of one backend operator."""

    def __getattr__(self, overload: str) -> BackendOpOverload:
        if overload.startswith("_"):
            raise AttributeError(overload)
        return backend_op_of(getattr(self._op, overload))

    def __repr__(self) -> str:
        return f"<BackendOpOverloadPacket: {self._qualified_op_name}>"


_backend_ops: dict[torch._ops.OpOverload, BackendOpOverload] = {}


def backend_op_of(op: torch._ops.OpOverload) -> BackendOpOverload:
    """The backend operator of a torch operator."""
    backend_op = _backend_ops.get(op)
    if backend_op is None:
        backend_op = _backend_ops.setdefault(op, BackendOpOverload(op))
    return backend_op


def _find_backend_op(namespace: str, name: str, overload: str) -> BackendOpOverload:
    return backend_op_of(getattr(getattr(getattr(torch.ops, namespace), name), overload))
