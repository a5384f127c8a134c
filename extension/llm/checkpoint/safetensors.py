# SPDX-License-Identifier: BSD-3-Clause
"""Safetensors: eight bytes of length, a JSON header of names, types, shapes and offsets, then the tensors' bytes."""

from __future__ import annotations

import json
import math
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from executorch.extension.llm.checkpoint.errors import CheckpointError

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


@dataclass(frozen=True)
class Entry:
    dtype: torch.dtype
    shape: tuple[int, ...]
    begin: int  # from the end of the header
    end: int


class SafetensorsFile:
    """Tensors are views of the mapped file: bytes are read when a tensor is used, and not kept."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.entries, self._start = self._read_header()

    def _read_header(self) -> tuple[dict[str, Entry], int]:
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            head = file.read(8)
            if len(head) < 8:
                raise CheckpointError(f"{self.path}: expected 8 bytes of length, found {len(head)}")
            (length,) = struct.unpack("<Q", head)
            if length > size - 8:
                raise CheckpointError(
                    f"{self.path}: the header says it has {length} bytes, the file has {size - 8} after it begins; "
                    "is it a safetensors file, and whole?"
                )
            text = file.read(length)
        try:
            header = json.loads(text)
            rows = {k: v for k, v in header.items() if k != "__metadata__"}
        except (ValueError, AttributeError) as error:
            raise CheckpointError(f"{self.path}: the header is not JSON: {error}") from error
        data = size - 8 - length
        return {name: self._entry(name, row, data) for name, row in rows.items()}, 8 + length

    def _entry(self, name: str, row: object, data: int) -> Entry:
        try:
            dtype, shape = DTYPES[row["dtype"]], tuple(map(int, row["shape"]))
            begin, end = map(int, row["data_offsets"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"{self.path}: tensor {name!r}: expected a known dtype, a shape and two data_offsets, found {row}"
            ) from error
        expected = math.prod(shape) * dtype.itemsize
        if min((*shape, begin), default=0) < 0 or end - begin != expected or end > data:
            raise CheckpointError(
                f"{self.path}: tensor {name!r}: expected {expected} bytes ({dtype}, {list(shape)}) within {data}, "
                f"found offsets {begin} to {end}; is the file whole?"
            )
        return Entry(dtype, shape, begin, end)

    def __iter__(self) -> Iterator[tuple[str, torch.Tensor]]:
        if not self.entries:
            return
        with self.path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        for name, entry in self.entries.items():
            count = math.prod(entry.shape)
            if count == 0:
                yield name, torch.empty(entry.shape, dtype=entry.dtype)
                continue
            offset = self._start + entry.begin
            if offset % entry.dtype.itemsize:  # PyTorch wants whole elements from the start
                raw = bytearray(mapped[offset : offset + entry.end - entry.begin])
                flat = torch.frombuffer(raw, dtype=entry.dtype)
            else:
                flat = torch.frombuffer(mapped, dtype=entry.dtype, count=count, offset=offset)
            yield name, flat.view(entry.shape)
