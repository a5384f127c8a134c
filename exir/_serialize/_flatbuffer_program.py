# SPDX-License-Identifier: BSD-3-Clause
# compat
"""A program to its flatbuffer and back, without the segments that a file has behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from executorch.exir._serialize._codec import program_codec
from executorch.exir._serialize._program import read_program
from executorch.exir._serialize.padding import check_alignments
from executorch.exir.schema import Program


@dataclass
class _FlatbufferResult:
    """A flatbuffer, and the alignment its first byte needs."""

    data: bytes
    max_alignment: int


def _program_to_flatbuffer(
    program: Program,
    *,
    constant_tensor_alignment: int | None = None,
    delegate_alignment: int | None = None,
) -> _FlatbufferResult:
    constants, blobs = check_alignments(constant_tensor_alignment, delegate_alignment)
    alignments = {"Buffer.storage": constants, "BackendDelegateInlineData.data": blobs}
    return _FlatbufferResult(
        bytes(program_codec().pack(program, alignments)), max(constants, blobs)
    )


def _flatbuffer_to_program(program_data: bytes) -> Program:
    return read_program(program_data)


def _coerce_bytes(data: Any) -> bytes:
    """Blobs as bytes, whatever holds them: bytes, views of memory, lists of numbers."""
    return data if isinstance(data, bytes) else bytes(data)


def _create_aligned_byte_vector(builder: Any, data: bytes, alignment: int) -> int:
    """Writes `data` as a vector of bytes whose first byte is aligned, with a flatbuffers.Builder; gives its offset."""
    builder.StartVector(1, len(data), alignment)
    builder.head -= len(data)
    builder.Bytes[builder.head : builder.head + len(data)] = data
    return builder.EndVector()
