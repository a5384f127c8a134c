# SPDX-License-Identifier: BSD-3-Clause
"""ETDumps as bytes: what the runtime writes (size-prefixed) and what `serialize_to_etdump_flatcc` gives (not)."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path

from executorch.devtools.etdump import schema_flatcc
from executorch.devtools.etdump.schema_flatcc import ETDumpFlatCC, ValueType
from executorch.exir._native import SchemaCodec
from executorch.exir._serialize._codec import classes_of

_SIZE_BYTES = 4
_SCHEMA = Path(__file__).parent / "etdump_schema_flatcc.bfbs"


_KINDS = [kind.value for kind in ValueType]


@cache
def _codec() -> SchemaCodec:
    classes = classes_of(schema_flatcc)
    classes["ETDump"] = ETDumpFlatCC
    classes["ValueType"] = _KINDS.__getitem__  # values say their kind as text
    return SchemaCodec(_SCHEMA.read_bytes(), classes)


def deserialize_from_etdump_flatcc(data: bytes, size_prefixed: bool = True) -> ETDumpFlatCC:
    """The dump in `data`. Raises ValueError, which says where, for bytes that are none."""
    if size_prefixed:
        size = int.from_bytes(data[:_SIZE_BYTES], "little")
        if size > len(data) - _SIZE_BYTES:
            raise ValueError(
                f"expected an ETDump of {size} bytes behind its size, found {max(0, len(data) - _SIZE_BYTES)}: "
                "the file is cut, or was written without a size (size_prefixed=False reads it)"
            )
        data = memoryview(data)[_SIZE_BYTES : _SIZE_BYTES + size]
    return _codec().unpack(data)


def serialize_to_etdump_flatcc(etdump: ETDumpFlatCC) -> bytes:
    """The bytes of a dump, without the size that the runtime writes before them."""
    numbered = copy.deepcopy(etdump)
    for run in numbered.run_data:
        for event in run.events or ():
            if event.debug_event is not None:
                value = event.debug_event.debug_entry
                value.val = _KINDS.index(value.val)
    return _codec().pack(numbered)
