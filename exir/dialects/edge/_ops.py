# SPDX-License-Identifier: BSD-3-Clause
"""Edge operators: callable wrappers of torch operators whose schema also says which dtypes each tensor may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from executorch.exir.dialects.edge._constraints import (
    AllowedDtypeSet as AllowedDtypeSet,
)
from executorch.exir.dialects.edge._constraints import (
    FunctionDtypeConstraint,
)


class EdgeDialectArgument:
    """A schema argument or return with the dtypes it may take (None: it is no tensor)."""

    def __init__(self, argument: torch.Argument, allowed_types: set[torch.dtype] | None) -> None:
        self._argument = argument
        self.allowed_types = allowed_types

    def __getattr__(self, name: str) -> Any:
        return getattr(self._argument, name)


class EdgeDialectFunctionSchema:
    """torch's schema of the operator plus its dtype constraints."""

    def __init__(self, schema: torch.FunctionSchema) -> None:
        constraints = FunctionDtypeConstraint.of(schema)
        self._schema = schema
        self.dtype_constraint = constraints
        self.arguments = [_annotate(arg, arg.name, constraints) for arg in schema.arguments]
        self.returns = [
            _annotate(ret, f"__ret_{index}", constraints)
            for index, ret in enumerate(schema.returns)
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._schema, name)

    def __str__(self) -> str:
        return str(self._schema)

    __repr__ = __str__


def _annotate(
    argument: torch.Argument, name: str, constraints: FunctionDtypeConstraint
) -> EdgeDialectArgument:
    return EdgeDialectArgument(argument, constraints[name] or None)


class EdgeOpOverload:
    """One edge operator. Calls, and everything not defined here, go to the torch operator `_op`.

    There is one object per torch operator: compare with `is` or `==`.
    """

    def __init__(
        self, op: torch._ops.OpOverload, schema: EdgeDialectFunctionSchema | None = None
    ) -> None:
        self._op = op
        self.__name__ = f"{op.namespace}.{op._schema.name.split('::')[1]}.{op._overloadname}"
        self.__qualname__ = self.__name__
        self.__module__ = __name__
        self._lazy_schema = schema
        self._packet: EdgeOpOverloadPacket | None = None

    @property
    def _schema(self) -> EdgeDialectFunctionSchema:
        if self._lazy_schema is None:
            self._lazy_schema = EdgeDialectFunctionSchema(self._op._schema)
        return self._lazy_schema

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._op(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_op":  # not yet constructed (copy, pickle)
            raise AttributeError(name)
        return getattr(self._op, name)

    def __repr__(self) -> str:
        namespace, name = self._op._schema.name.split("::")
        return f"<EdgeOpOverload: {namespace}.{name}.{self._op._overloadname}>: schema = {self._op._schema}"

    def __copy__(self) -> EdgeOpOverload:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> EdgeOpOverload:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str, str]]:
        namespace, name = self._op._schema.name.split("::")
        return (_find_edge_op, (namespace, name, self._op._overloadname))

    def name(self) -> str:
        return self._op.name()

    def to_out_variant(self) -> torch._ops.OpOverload:
        from executorch.exir.operator.convert import to_out_variant

        return to_out_variant(self._op)[0]


class EdgeOpOverloadPacket:
    """All overloads of one operator; an attribute is an `EdgeOpOverload`."""

    def __init__(
        self,
        qualified_op_name: str,
        op_name: str,
        parent_overload_packet: torch._ops.OpOverloadPacket,
    ) -> None:
        self._qualified_op_name = qualified_op_name
        self._op = parent_overload_packet
        self.__name__ = op_name
        self.__module__ = __name__

    def __getattr__(self, overload: str) -> EdgeOpOverload:
        if overload.startswith("_"):
            raise AttributeError(overload)
        edge_op = edge_op_of(getattr(self._op, overload))
        setattr(self, overload, edge_op)
        return edge_op

    def __iter__(self) -> Iterator[str]:
        return iter(self._op.overloads())

    def overloads(self) -> list[str]:
        return self._op.overloads()

    @property
    def op(self) -> torch._ops.OpOverloadPacket:
        return self._op

    @property
    def _dir(self) -> list[str]:
        """Overloads that were asked for so far."""
        return [name for name, value in vars(self).items() if isinstance(value, EdgeOpOverload)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._op(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<EdgeOpOverloadPacket: {self._qualified_op_name}>"


_edge_ops: dict[torch._ops.OpOverload, EdgeOpOverload] = {}


def edge_op_of(op: torch._ops.OpOverload) -> EdgeOpOverload:
    """The edge operator of a torch operator."""
    edge_op = _edge_ops.get(op)
    if edge_op is None:
        edge_op = _edge_ops.setdefault(op, EdgeOpOverload(op))
    return edge_op


def _find_edge_op(namespace: str, name: str, overload: str) -> EdgeOpOverload:
    return edge_op_of(getattr(getattr(getattr(torch.ops, namespace), name), overload))
