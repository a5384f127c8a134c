# SPDX-License-Identifier: BSD-3-Clause
"""`ops.edge.<namespace>.<op>.<overload>` and `ops.backend...`: every operator of the dialects by name;
`ops.<namespace>` is torch's own. `bind_pattern_to_op` defines a backend operator by a pattern."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch._C import DispatchKey

from executorch.exir.dialects.backend._ops import _BACKEND_OP_LIB as _BACKEND_OP_LIB
from executorch.exir.dialects.backend._ops import BackendOpOverloadPacket, bind_pattern
from executorch.exir.dialects.edge._ops import EdgeOpOverloadPacket

_PACKETS = {"edge": EdgeOpOverloadPacket, "backend": BackendOpOverloadPacket}


class _OpNamespace:
    """Attribute access to the operators of one namespace."""

    def __init__(self, dialect: str, name: str) -> None:
        self._dialect = dialect
        self._name = name

    def __getattr__(self, op_name: str) -> EdgeOpOverloadPacket:
        # Copying asks an empty object.
        if _is_of_python(self.__dict__.get("_name", ""), op_name):
            raise AttributeError(op_name)
        torch_packet = getattr(getattr(torch.ops, self._name), op_name)
        packet = _PACKETS[self._dialect](f"{self._name}::{op_name}", op_name, torch_packet)
        setattr(self, op_name, packet)
        return packet

    def __repr__(self) -> str:
        return f"<{self._dialect} operators of {self._name}>"


def _is_of_python(namespace: str, name: str) -> bool:
    """Whether a name is a question of Python's own, such as __deepcopy__, and no operator of tensors, such as
    aten::__rshift__."""
    if not (name.startswith("__") and name.endswith("__")):
        return not namespace
    schemas = torch._C._jit_get_schemas_for_operator(f"{namespace}::{name}")
    return not any(each.arguments and str(each.arguments[0].type) == "Tensor" for each in schemas)


class _DialectNamespace:
    """Attribute access to the namespaces of one dialect, `edge` or `backend`."""

    def __init__(self, dialect_name: str) -> None:
        self._dialect = dialect_name

    def __getattr__(self, namespace: str) -> _OpNamespace:
        if namespace.startswith("__"):
            raise AttributeError(namespace)
        result = _OpNamespace(self._dialect, namespace)
        setattr(self, namespace, result)
        return result


class _Ops:
    """The dialects by name; anything else is a namespace of torch.ops."""

    def __init__(self) -> None:
        self.edge = _DialectNamespace("edge")
        self.backend = _DialectNamespace("backend")

    def __getattr__(self, namespace: str) -> Any:
        return getattr(torch.ops, namespace)


ops = _Ops()


def bind_pattern_to_op(
    library: torch.library.Library, schema_or_name: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the decorated function becomes the implementation of an operator, so that the operator can be
    traced back to what it stands for.

    With a full schema, or a bare name whose schema torch infers, the operator is defined and the pattern is its
    CompositeImplicitAutograd kernel. When the operator exists already, it becomes a CompositeExplicitAutograd one.
    """

    def bind(pattern: Callable[..., Any]) -> Callable[..., Any]:
        name = schema_or_name.split("(")[0]
        base, _, overload = name.split("::")[-1].partition(".")
        bind_pattern(f"{library.ns}::{base}", overload, pattern)
        if _is_defined(library.ns, name):
            library.impl(name, pattern, "CompositeExplicitAutograd")
            return pattern
        schema = schema_or_name
        if "(" not in schema:
            schema = name + torch.library.infer_schema(pattern, mutates_args=())
        library.define(schema)
        library.impl(name, pattern, "CompositeImplicitAutograd")
        return pattern

    if inspect.isfunction(schema_or_name):
        raise TypeError(
            "expected a schema or an operator name; use it as @bind_pattern_to_op(lib, 'name')"
        )
    return bind


def _is_defined(namespace: str, name: str) -> bool:
    base, _, overload = name.partition(".")
    base = base.split("::")[-1]
    return torch._C._jit_get_schemas_for_operator(f"{namespace}::{base}") != [] and any(
        schema.overload_name == overload
        for schema in torch._C._jit_get_schemas_for_operator(f"{namespace}::{base}")
    )


__all__ = ["DispatchKey", "bind_pattern_to_op", "ops"]
