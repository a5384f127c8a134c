# SPDX-License-Identifier: BSD-3-Clause
"""A row of the backend's table: what an operator reads and gives, and how its call is written. A call in the payload
has one value for each argument of the operator's schema, in its order, then the result."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from typing import Any

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.annotation import NOT_QUANTIZED, Annotation
from executorch.exir.backend.lowering.op_table import Condition, Row
from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.graph_facts import arguments_by_name, call_name, called_op

Dtypes = frozenset[torch.dtype]
FLOATS: Dtypes = frozenset({torch.float16, torch.float32})
INTS: Dtypes = frozenset({torch.int32, torch.int64})
BOOL: Dtypes = frozenset({torch.bool})
INT8: Dtypes = frozenset({torch.int8})
BYTES: Dtypes = frozenset({torch.int8, torch.uint8})
NUMBERS = FLOATS | INTS
MOVED = NUMBERS | BOOL
ALL = MOVED | BYTES | {torch.float64}
Reads = Dtypes | tuple[Dtypes, ...]  # of all tensors, or by argument; the last counts for the rest


class Int64(Enum):
    """What results of int64 are, for places.py."""

    COMPUTED = auto()
    MOVED = auto()  # elements of what is read
    WRAPPED = auto()  # sums and products: their lower 32 bits are those of the operands' lower ones
    MADE = auto()  # numbers among the arguments
    PLACES = auto()


@dataclass(frozen=True)
class VulkanRow(Row):
    """`name`: the runtime's, that of the call unless given. `prepacks`: it takes constants as they are in the file,
    but for argument `primary`; other operators get tensors on the device, which a call copies them to. `places`: the
    arguments that say which elements are read."""

    name: str = field(default="", kw_only=True)
    prepacks: bool = field(default=False, kw_only=True)
    primary: int = field(default=0, kw_only=True)
    places: tuple[int, ...] = field(default=(), kw_only=True)
    int64: Int64 = field(default=Int64.COMPUTED, kw_only=True)


def write_call(writer: Any, step: Any) -> None:
    """The call as it is, under the name that the runtime has it by."""
    node = step.head
    row = writer.table.row(node)
    args = [
        writer.argument(value, raw=row.prepacks and place != row.primary)
        for place, value in enumerate(arguments_of(node))
    ]
    writer.call(row.name or runtime_name(node), args, step.result if row.tail else node)


def runtime_name(node: Node) -> str:
    """Operators of aten and the like by their full names, those of Python and of sizes without a namespace."""
    name = call_name(node)
    if name.startswith("operator."):
        return name.removeprefix("operator.")
    return "sym_size.int" if name == "aten.sym_size.int" else name


def arguments_of(node: Node) -> list[Any]:
    """In the order of the schema, defaults included."""
    return list(node.args if called_op(node) is None else arguments_by_name(node).values())


def argument(node: Node, name: str) -> Any:
    """By the schema's name."""
    return arguments_by_name(node)[name]


def row(
    reads: Reads,
    *conditions: Condition,
    gives: Reads | None = None,
    annotation: Annotation = NOT_QUANTIZED,
    preserved: bool = False,
    tail: Call | None = None,
    lower: Callable[..., None] = write_call,
    **more: Any,
) -> VulkanRow:
    """`gives`: the dtypes of the results, those that it reads first unless said."""
    first = reads[0] if isinstance(reads, tuple) else reads
    given = first if gives is None else gives
    checks = (
        Condition(partial(_reads, reads), f"operands of dtype {_names(reads)} are expected"),
        Condition(partial(_gives, given), f"a result of dtype {_names(given)} is expected"),
    )
    return VulkanRow(
        lower, (*checks, *conditions), preserved, annotation=annotation, tail=tail, **more
    )


def _names(dtypes: Reads) -> str:
    if isinstance(dtypes, tuple):
        return "; ".join(map(_names, dtypes))
    return ", ".join(sorted(str(each).removeprefix("torch.") for each in dtypes))


def _at(dtypes: Reads, place: int) -> Dtypes:
    return dtypes[min(place, len(dtypes) - 1)] if isinstance(dtypes, tuple) else dtypes


def _reads(dtypes: Reads, node: Node, constants: Collection[Node]) -> bool:
    """Sizes may be read anywhere."""
    for place, value in enumerate(arguments_of(node)):
        for each in value if isinstance(value, list | tuple) else [value]:
            found = each.meta.get("val") if isinstance(each, Node) else None
            if isinstance(found, torch.Tensor) and found.dtype not in _at(dtypes, place):
                return False
    return True


def _gives(dtypes: Reads, node: Node, constants: Collection[Node]) -> bool:
    values = node.meta["val"]
    if not isinstance(values, tuple | list):
        return not isinstance(values, torch.Tensor) or values.dtype in _at(dtypes, 0)
    used = {user.args[1] for user in node.users if user.target is operator.getitem}
    return all(values[place].dtype in _at(dtypes, place) for place in used)
