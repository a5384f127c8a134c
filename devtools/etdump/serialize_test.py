# SPDX-License-Identifier: BSD-3-Clause
"""ETDumps as bytes: there and back, and what is refused."""

from __future__ import annotations

import pytest

from executorch.devtools.etdump.schema_flatcc import (
    AllocationEvent,
    Allocator,
    Bool,
    DebugEvent,
    Double,
    ETDumpFlatCC,
    Event,
    Int,
    ProfileEvent,
    RunData,
    Tensor,
    TensorList,
    Value,
)
from executorch.devtools.etdump.serialize import (
    deserialize_from_etdump_flatcc,
    serialize_to_etdump_flatcc,
)
from executorch.exir.scalar_type import ScalarType


def value(kind: str, **fields: object) -> Event:
    empty = dict.fromkeys(
        "tensor tensor_list int_value float_value double_value bool_value output".split()
    )
    entry = Value(kind, **{**empty, **fields})
    return Event(None, None, DebugEvent(None, 0, 4, -1, None, entry))


def a_dump() -> ETDumpFlatCC:
    tensor = Tensor(ScalarType.FLOAT, [2, 3], [3, 1], 64)
    named = ProfileEvent("native_call_add.out", 0, 3, -1, None, None, 10, 2**63 + 5)
    inside = ProfileEvent(None, 0, 3, -1, "conv #1", b"\0\1", 10, 20)
    events = [
        Event(named, None, None),
        Event(inside, None, None),
        Event(None, AllocationEvent(1, 2**40), None),
        value("Tensor", tensor=tensor, output=Bool(True)),
        value("TensorList", tensor_list=TensorList([tensor, tensor])),
        value("Int", int_value=Int(-3)),
        value("Double", double_value=Double(-0.0)),
        value("Bool", bool_value=Bool(True)),
    ]
    return ETDumpFlatCC(0, [RunData("Execute", 2, [Allocator("temp")], events)])


def test_there_and_back() -> None:
    dump = a_dump()
    data = serialize_to_etdump_flatcc(dump)
    assert dump == a_dump(), "packing changes nothing"
    assert data[4:8] == b"ED00"
    assert deserialize_from_etdump_flatcc(data, size_prefixed=False) == dump
    prefixed = len(data).to_bytes(4, "little") + data
    assert deserialize_from_etdump_flatcc(prefixed) == dump
    assert deserialize_from_etdump_flatcc(prefixed + b"behind") == dump


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "found 0"),
        (b"\x10\0\0\0abc", "expected an ETDump of 16 bytes"),
        (b"\x0c\0\0\0\x08\0\0\0ET12\0\0\0\0", "identifier ED00"),
    ],
)
def test_what_is_no_dump_says_so(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deserialize_from_etdump_flatcc(data)
