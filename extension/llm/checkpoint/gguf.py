# SPDX-License-Identifier: BSD-3-Clause
"""GGUF files: metadata, a table of tensors, and the tensors' blocks (version 2 and 3, little endian)."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.formats.blocks import BLOCK_FORMATS, BlockFormat

if TYPE_CHECKING:
    import torch

_MAGIC = b"GGUF"
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING, _ARRAY = 8, 9
_MAX = 1 << 24  # entries of a list, tensors, keys: more is corruption


@dataclass(frozen=True)
class GGUFTensor:
    format: BlockFormat
    shape: tuple[int, ...]  # rows first, as in PyTorch
    offset: int  # from the start of the file
    num_bytes: int


class _Cursor:
    """Reads the head of the file; a read past its end is an error that says what was being read."""

    def __init__(self, path: Path, data: np.memmap) -> None:
        self.path, self.data, self.at, self.what = path, data, 0, "the magic"

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise CheckpointError(
                f"{self.path}: expected {count} more bytes at {self.at} for {self.what}, "
                f"found {len(self.data) - self.at}; is the file whole?"
            )
        self.at += count
        return self.data[self.at - count : self.at].tobytes()

    def scalar(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}")))[0]

    def count(self) -> int:
        number = self.scalar("Q")
        if number > _MAX:
            raise CheckpointError(
                f"{self.path}: {self.what} at {self.at}: {number} entries are too many"
            )
        return number

    def text(self) -> str:
        return self.take(self.count()).decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self.text()
        if kind in _SCALARS:
            return self.scalar(_SCALARS[kind])
        if kind != _ARRAY or depth > 2:
            raise CheckpointError(f"{self.path}: {self.what}: unknown type {kind} at {self.at}")
        inner, count = self.scalar("I"), self.count()
        if inner in _SCALARS:
            code = np.dtype(_SCALARS[inner]).newbyteorder("<")
            return np.frombuffer(self.take(count * code.itemsize), code).tolist()
        return [self.value(inner, depth + 1) for _ in range(count)]


class GGUFFile:
    """`metadata` by key, `tensors` by name; iterating gives (name, float32 tensor), one at a time."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.stat().st_size < 24:
            raise CheckpointError(f"{self.path}: too small for a GGUF file")
        self._data = np.memmap(self.path, np.uint8, "r")
        cursor = _Cursor(self.path, self._data)
        if (magic := cursor.take(4)) != _MAGIC:
            raise CheckpointError(f"{self.path}: expected {_MAGIC!r} at the start, found {magic!r}")
        version = cursor.scalar("I")
        if version not in (2, 3):
            raise CheckpointError(f"{self.path}: expected version 2 or 3, found {version}")
        cursor.what = "the number of tensors"
        tensors = cursor.count()
        cursor.what = "the number of metadata keys"
        keys = cursor.count()
        self.metadata = self._read_metadata(cursor, keys)
        self.tensors = self._read_tensors(cursor, tensors)

    def _read_metadata(self, cursor: _Cursor, count: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number in range(count):
            cursor.what = f"metadata key {number}"
            key = cursor.text()
            cursor.what = f"metadata {key!r}"
            found[key] = cursor.value(cursor.scalar("I"))
        return found

    def _read_tensors(self, cursor: _Cursor, count: int) -> dict[str, GGUFTensor]:
        rows = []
        for number in range(count):
            cursor.what = f"the table's row {number}"
            name = cursor.text()
            cursor.what = f"tensor {name!r}"
            rank = cursor.scalar("I")
            if rank > 4:
                raise CheckpointError(
                    f"{self.path}: tensor {name!r}: expected up to 4 dimensions, found {rank}"
                )
            shape = tuple(cursor.scalar("Q") for _ in range(rank))[::-1]
            rows.append((name, shape, cursor.scalar("I"), cursor.scalar("Q")))
        alignment = self.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise CheckpointError(f"{self.path}: general.alignment: found {alignment!r}")
        start = -(-cursor.at // alignment) * alignment
        return {name: self._checked(name, *rest, start) for name, *rest in rows}

    def _checked(
        self, name: str, shape: tuple[int, ...], kind: int, offset: int, start: int
    ) -> GGUFTensor:
        where = f"{self.path}: tensor {name!r}"
        if kind not in BLOCK_FORMATS:
            known = ", ".join(f.name for f in BLOCK_FORMATS.values())
            raise CheckpointError(f"{where}: block format {kind} is not one of {known}")
        block = BLOCK_FORMATS[kind]
        columns = shape[-1] if shape else 1
        if columns % block.numbers:
            raise CheckpointError(
                f"{where}: expected rows of a multiple of {block.numbers} ({block.name}), found {columns}"
            )
        num_bytes = math.prod(shape) // block.numbers * block.bytes
        if start + offset + num_bytes > len(self._data):
            raise CheckpointError(
                f"{where}: expected {num_bytes} bytes at {start + offset}, the file ends at {len(self._data)}"
            )
        return GGUFTensor(block, shape, start + offset, num_bytes)

    def raw(self, name: str) -> np.ndarray:
        """The blocks of a tensor: uint8 (blocks, bytes of a block), a view of the file."""
        tensor = self.tensors[name]
        part = self._data[tensor.offset : tensor.offset + tensor.num_bytes]
        return np.asarray(part).reshape(-1, tensor.format.bytes)

    def read(self, name: str) -> torch.Tensor:
        """A tensor in float32."""
        import torch  # late: metadata alone needs none

        tensor = self.tensors[name]
        if tensor.format.numbers == 1:
            blocks = self.raw(name).reshape(1, -1)
        else:
            blocks = self.raw(name)
        with np.errstate(invalid="ignore", over="ignore"):
            numbers = tensor.format.dequantize(blocks)
        return torch.from_numpy(np.ascontiguousarray(numbers, np.float32)).view(tensor.shape)

    def __iter__(self) -> Iterator[tuple[str, torch.Tensor]]:
        for name in self.tensors:
            yield name, self.read(name)

    def architecture(self) -> str:
        return str(self.metadata.get("general.architecture", "llama"))

    def get(self, key: str, default: Any = None) -> Any:
        """A metadata value below the architecture's name: `get("block_count")`."""
        return self.metadata.get(f"{self.architecture()}.{key}", default)
