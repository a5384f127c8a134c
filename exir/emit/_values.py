# SPDX-License-Identifier: BSD-3-Clause
"""The value table of one method: constants are entered once, everything that changes gets a slot of
its own."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from torch.fx import Node

from executorch.exir import schema
from executorch.exir.error import ExportError, ExportErrorType, InternalError
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor import layout_enum, memory_format_enum, scalar_type_enum

# What a node became: the index of a value, or those of several.
NodeValue = int | list[int]


class ValueTable:
    """Appends values and finds constants again. Constants are never written at run time, so calls
    may share them."""

    def __init__(self) -> None:
        self.values: list[schema.EValue] = []
        self._constants: dict[tuple[Any, ...], int] = {}

    def add(self, content: schema.KernelTypes) -> int:
        """A new slot."""
        self.values.append(schema.EValue(content))
        return len(self.values) - 1

    def constant(self, value: Any) -> int:
        """The slot of a scalar, string, None or torch enum that no instruction changes."""
        key = (type(value), repr(value))  # tells -0.0 from 0.0 and knows nan again
        index = self._constants.get(key)
        if index is None:
            index = self._constants[key] = self.add(boxed(value))
        return index

    def constant_list(self, kind: type, items: list[Any]) -> int:
        key = (kind, *items)
        index = self._constants.get(key)
        if index is None:
            index = self._constants[key] = self.add(kind(items=items))
        return index

    def tensor(self, index: int) -> schema.Tensor:
        content = self.values[index].val
        if not isinstance(content, schema.Tensor):
            raise InternalError(f"value {index} is a {type(content).__name__}, expected a Tensor")
        return content


def boxed(value: Any) -> schema.KernelTypes:
    """A Python constant as the file holds it."""
    if value is None:
        return schema.Null()
    for kinds, make in _BOXES:
        if isinstance(value, kinds):
            return make(value)
    raise ExportError(
        ExportErrorType.NOT_SUPPORTED,
        f"a {type(value).__name__} ({value!r}) cannot be stored in a program; "
        "expected a number, a string, None, a dtype, a layout or a memory format",
    )


_BOXES: tuple[tuple[Any, Callable[[Any], schema.KernelTypes]], ...] = (
    (bool, schema.Bool),  # before int, whose subclass it is
    (int, schema.Int),
    (float, schema.Double),
    (str, schema.String),
    (torch.dtype, lambda dtype: schema.Int(int(scalar_type_enum(dtype)))),
    (torch.layout, lambda layout: schema.Int(layout_enum(layout))),
    (torch.memory_format, lambda memory_format: schema.Int(memory_format_enum(memory_format))),
)


class Parameter(NamedTuple):
    """One argument of an operator's schema."""

    name: str
    kind: str  # of the argument, or of the items of a list
    is_list: bool
    item_optional: bool
    count: int | None  # of `int[2]`
    default: Any
    is_out: bool
    is_result: bool  # written, and what the operator returns


class Signature(NamedTuple):
    name: str
    overload: str
    parameters: list[Parameter]
    returns: int
    returns_tensors: bool


@cache
def signature_of(op: torch._ops.OpOverload) -> Signature:
    source = op._schema
    kinds = [ret.type.kind() for ret in source.returns]
    has_outs = any(argument.is_out for argument in source.arguments)
    return Signature(
        source.name,
        source.overload_name,
        [_parameter(argument, has_outs) for argument in source.arguments],
        len(kinds),
        all(kind in ("TensorType", "ListType") for kind in kinds),
    )


def _parameter(argument: torch.Argument, has_outs: bool) -> Parameter:
    kind = argument.type
    if kind.kind() == "OptionalType":
        kind = kind.getElementType()
    is_list = kind.kind() == "ListType"
    item_optional = False
    if is_list:
        kind = kind.getElementType()
        if kind.kind() == "OptionalType":
            kind, item_optional = kind.getElementType(), True
    written = argument.alias_info is not None and argument.alias_info.is_write
    optional = argument.type.kind() == "OptionalType"
    return Parameter(
        argument.name,
        kind.kind() if optional or kind.kind() != "TensorType" or is_list else "RequiredTensor",
        is_list,
        item_optional,
        argument.N,
        argument.default_value if argument.has_default_value() else None,
        argument.is_out,
        written and argument.is_out == has_outs,
    )


def _plain_int(item: Any) -> Any:
    """Numbers as int; a symbolic size stays what it is and is refused, since it has no node."""
    return item if isinstance(item, torch.SymInt) else int(item)


class ArgumentWriter:
    """Turns the arguments of a node into value indices, as an operator's schema wants them."""

    def __init__(self, table: ValueTable, value_of: dict[Node, NodeValue]) -> None:
        self._table = table
        self._value_of = value_of

    def argument(self, value: Any, parameter: Parameter) -> int:
        if isinstance(value, Node):
            return self._node(value)
        if value is None:
            return self._nothing(parameter)
        if parameter.is_list:
            return self._list(value, parameter)
        return self._scalar(value, parameter)

    def int_list(self, items: list[Any]) -> int:
        """Integers stand in slots of their own, since some become known at run time only."""
        slots = [
            self._node(item) if isinstance(item, Node) else self._table.constant(_plain_int(item))
            for item in items
        ]
        return self._table.constant_list(schema.IntList, slots)

    def _node(self, node: Node) -> int:
        value = self._value_of[node]
        return (
            self._table.constant_list(schema.TensorList, value)
            if isinstance(value, list)
            else value
        )

    def _nothing(self, parameter: Parameter) -> int:
        if parameter.kind != "RequiredTensor":
            return self._table.constant(None)
        return self._table.add(
            schema.Tensor(
                scalar_type=ScalarType.BYTE,
                storage_offset=0,
                sizes=[0],
                dim_order=[0],
                requires_grad=False,
                layout=0,
                data_buffer_idx=0,
                allocation_info=None,
                shape_dynamism=schema.TensorShapeDynamism.STATIC,
            )
        )

    def _list(self, value: Any, parameter: Parameter) -> int:
        items = list(value) if isinstance(value, list | tuple) else [value] * (parameter.count or 1)
        match parameter.kind:
            case "IntType" | "SymIntType":
                return self.int_list(items)
            case "TensorType" if parameter.item_optional:
                indices = [-1 if item is None else self._node(item) for item in items]
                return self._table.constant_list(schema.OptionalTensorList, indices)
            case "TensorType":
                indices = [self._node(item) for item in items]
                return self._table.constant_list(schema.TensorList, indices)
            case "FloatType":
                return self._table.add(schema.DoubleList([float(item) for item in items]))
            case "BoolType":
                return self._table.add(schema.BoolList([bool(item) for item in items]))
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"argument {parameter.name}: a list of {parameter.kind} cannot be stored in a program",
        )

    def _scalar(self, value: Any, parameter: Parameter) -> int:
        match parameter.kind:
            case "FloatType":
                return self._table.constant(float(value))
            case "IntType" | "SymIntType" if isinstance(value, bool | float):
                return self._table.constant(int(value))
            case "BoolType":
                return self._table.constant(bool(value))
            case "TensorType" | "RequiredTensor":
                raise InternalError(
                    f"argument {parameter.name}: expected a tensor, found {value!r}"
                )
            case "DeviceObjType":
                raise ExportError(
                    ExportErrorType.NOT_SUPPORTED,
                    f"argument {parameter.name}: a device ({value}) cannot be stored in a program; "
                    "leave it out",
                )
        return self._table.constant(value)
