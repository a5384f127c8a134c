# SPDX-License-Identifier: BSD-3-Clause
"""Bundled programs as bytes (.bpte), and back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from executorch.devtools.bundled_program import schema as bp_schema
from executorch.devtools.bundled_program.config import MethodTestSuite
from executorch.devtools.bundled_program.core import BundledProgram
from executorch.devtools.bundled_program.schema import bundled_program_schema
from executorch.exir import ExecutorchProgramManager
from executorch.exir._native import SchemaCodec
from executorch.exir._serialize._codec import classes_of

_SCHEMA = Path(__file__).parent.parent / "schema" / "bundled_program_schema.bfbs"


@cache
def _codec() -> SchemaCodec:
    return SchemaCodec(_SCHEMA.read_bytes(), classes_of(bundled_program_schema))


def serialize_from_bundled_program_to_flatbuffer(bundled_program: BundledProgram) -> bytes:
    """What example_runner and the C++ functions of bundled_program.h read."""
    return serialize_tables(bundled_program.serialize_to_schema())


def serialize_tables(tables: bp_schema.BundledProgram) -> bytes:
    """The tables of a file as its bytes."""
    return _codec().pack(tables)


def write_bundled_program(
    program: ExecutorchProgramManager, suites: Sequence[MethodTestSuite], path: Path
) -> None:
    """A .bpte file of a program with its test cases."""
    bundle = BundledProgram(program, list(suites))
    path.write_bytes(serialize_from_bundled_program_to_flatbuffer(bundle))


def deserialize_from_flatbuffer_to_bundled_program(flatbuffer: bytes) -> bp_schema.BundledProgram:
    """The tables of a file. Raises ValueError, which says where, for bytes that are none."""
    return _codec().unpack(flatbuffer)
