# SPDX-License-Identifier: BSD-3-Clause
"""Self-tests: test cases that a program file carries in its named data. `executor_runner --self_test` runs them on the
device (self_test.h); other programs ignore them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

from executorch.devtools.bundled_program.config import MethodTestSuite
from executorch.devtools.bundled_program.core import assert_valid_bundle, create_bundled_program
from executorch.devtools.bundled_program.schema import BundledMethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
    serialize_tables,
)
from executorch.exir._native import parse_program_header
from executorch.exir._serialize._named_data_store import NamedDataStore, NamedDataStoreOutput
from executorch.exir._serialize._program import (
    deserialize_pte_binary,
    read_program,
    serialize_pte_binary,
)
from executorch.exir.schema import DataLocation

CASES_KEY = "executorch.self_test.cases"
TOLERANCES_KEY = "executorch.self_test.tolerances"
_TOLERANCES = struct.Struct("<dd")
_CASES_ALIGNMENT = 64
_LARGEST_ALIGNMENT = 1 << 14


@dataclass(frozen=True)
class SelfTest:
    """Outputs are verified by |expected - found| <= atol + rtol * |found|."""

    suites: list[BundledMethodTestSuite]
    rtol: float
    atol: float


def with_self_test(
    program: bytes,
    method_test_suites: Sequence[MethodTestSuite],
    rtol: float = 1e-3,
    atol: float = 1e-5,
) -> bytes:
    """The .pte file with these cases, not those that it had. AssertionError for cases that do not fit the program,
    ValueError for bytes that are no program and tolerances below 0."""
    if not (rtol >= 0 and atol >= 0):
        raise ValueError(f"expected tolerances of 0 or more, found rtol {rtol} and atol {atol}")
    file = deserialize_pte_binary(program, verify=True)
    assert_valid_bundle(file.program, method_test_suites)
    cases = serialize_tables(create_bundled_program(b"", method_test_suites))
    store = NamedDataStore()
    if file.named_data is not None:
        for key in (CASES_KEY, TOLERANCES_KEY):
            file.named_data.pte_data.pop(key, None)
        store.merge_named_data_store(file.named_data)
    store.add_named_data(CASES_KEY, bytes(cases), _CASES_ALIGNMENT)
    store.add_named_data(TOLERANCES_KEY, _TOLERANCES.pack(rtol, atol))
    file.named_data = store.get_named_data_store_output()
    return bytes(serialize_pte_binary(file, **_layout(program)))


def self_test_of(program: bytes) -> SelfTest | None:
    """What a .pte file carries. ValueError for bytes that are no program, or a corrupted self-test."""
    named = deserialize_pte_binary(program, verify=True).named_data
    if named is None or CASES_KEY not in named.pte_data or TOLERANCES_KEY not in named.pte_data:
        return None
    tolerances = _data(named, TOLERANCES_KEY)
    if len(tolerances) != _TOLERANCES.size:
        raise ValueError(
            f"expected tolerances of {_TOLERANCES.size} bytes, found {len(tolerances)}"
        )
    tables = deserialize_from_flatbuffer_to_bundled_program(_data(named, CASES_KEY))
    return SelfTest(tables.method_test_suites, *_TOLERANCES.unpack(tolerances))


def _data(named: NamedDataStoreOutput, key: str) -> bytes:
    return bytes(named.buffers[named.pte_data[key].buffer_index])


def _layout(data: bytes) -> dict[str, int | bool]:
    """What the file was written with, as its places tell."""
    program, header = read_program(data), parse_program_header(data)
    starts = [segment.offset for segment in program.segments]
    if header is not None and header.segment_base_offset:
        starts.append(header.segment_base_offset)
    delegates = [delegate for plan in program.execution_plan for delegate in plan.delegates]
    constants = program.constant_segment.offsets if program.constant_segment else []
    return {
        "extract_delegate_segments": any(
            each.processed.location == DataLocation.SEGMENT for each in delegates
        ),
        "segment_alignment": _alignment(starts, least=_CASES_ALIGNMENT),
        "constant_tensor_alignment": _alignment(constants, least=16),
    }


def _alignment(places: Iterable[int], least: int) -> int:
    """The largest power of two that divides all of them, within bounds."""
    common = gcd(_LARGEST_ALIGNMENT, *places)
    return max(common & -common, least)
