# SPDX-License-Identifier: BSD-3-Clause
"""The tables of etdump_schema_flatcc.fbs as dataclasses, which says what their fields mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from executorch.exir.scalar_type import ScalarType


@dataclass
class Tensor:
    scalar_type: ScalarType
    sizes: list[int]
    strides: list[int]
    offset: int | None


@dataclass
class TensorList:
    tensors: list[Tensor]


@dataclass
class Null:
    pass


@dataclass
class Int:
    int_val: int


@dataclass
class Bool:
    bool_val: bool


@dataclass
class Float:
    float_val: float


@dataclass
class Double:
    double_val: float


@dataclass
class String:
    string_val: str | None


class ValueType(Enum):
    """What `Value.val` may be, as text."""

    NULL = "Null"
    INT = "Int"
    BOOL = "Bool"
    FLOAT = "Float"
    DOUBLE = "Double"
    TENSOR = "Tensor"
    TENSOR_LIST = "TensorList"
    STRING = "String"


@dataclass
class Value:
    val: str
    tensor: Tensor | None
    tensor_list: TensorList | None
    int_value: Int | None
    float_value: Float | None
    double_value: Double | None
    bool_value: Bool | None
    output: Bool | None


@dataclass
class DebugEvent:
    name: str | None
    chain_index: int
    instruction_id: int
    delegate_debug_id_int: int | None
    delegate_debug_id_str: str | None
    debug_entry: Value


@dataclass
class ProfileEvent:
    name: str | None
    chain_index: int
    instruction_id: int
    delegate_debug_id_int: int | None
    delegate_debug_id_str: str | None
    delegate_debug_metadata: bytes | None
    start_time: int
    end_time: int


@dataclass
class AllocationEvent:
    allocator_id: int
    allocation_size: int


@dataclass
class Allocator:
    name: str


@dataclass
class Event:
    """Exactly one of the three is set."""

    profile_event: ProfileEvent | None
    allocation_event: AllocationEvent | None
    debug_event: DebugEvent | None


@dataclass
class RunData:
    """One block of events."""

    name: str
    bundled_input_index: int | None
    allocators: list[Allocator] | None
    events: list[Event] | None


@dataclass
class ETDumpFlatCC:
    version: int
    run_data: list[RunData]


def is_debug_output(value: Value) -> bool:
    """Whether a value is an output of the program."""
    return value.output is not None and value.output.bool_val
