# SPDX-License-Identifier: BSD-3-Clause
"""`NamedDataStore`: blobs that backends and constants file under a key, for the program file or for
a data file."""

import hashlib
from dataclasses import dataclass
from math import lcm

import torch

from executorch.exir._native import Blob
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir._serialize.data_serializer import DataEntry
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.tensor_layout import TensorLayout

_FINGERPRINT_BYTES = 32


@dataclass
class NamedDataStoreOutput:
    """The distinct buffers, the keys of the program file, and per external tag the keys of that
    data file."""

    buffers: list[bytes]
    pte_data: dict[str, DataEntry]
    external_data: dict[str, dict[str, DataEntry]]


class NamedDataStore:
    """Collects named blobs. Equal bytes are kept once; a key names one content in all files together."""

    def __init__(self) -> None:
        self.buffers: list[bytes] = []
        self.pte_data: dict[str, DataEntry] = {}
        self.external_data: dict[str, dict[str, DataEntry]] = {}
        self._by_fingerprint: dict[tuple[int, bytes], dict[bytes | None, int]] = {}
        self._buffer_of_key: dict[str, int] = {}

    def add_named_data(
        self,
        key: str,
        data: bytes | torch.Tensor,
        alignment: int | None = 1,
        external_tag: str | None = None,
        tensor_layout: TensorLayout | None = None,
    ) -> None:
        """Files `data` under `key`, in the program or in the data file `external_tag`. The same key
        again must come with the same bytes."""
        if isinstance(data, torch.Tensor):
            if tensor_layout is None:
                tensor_layout = TensorLayout.from_tensor(data)
            data = tensor_bytes(data)
        index = self._index_of(data)
        if self._buffer_of_key.setdefault(key, index) != index:
            raise ExportError(
                ExportErrorType.VIOLATION_OF_SPEC,
                f"named data {key!r} was added twice with different bytes; use one key per content",
            )
        entries = self.pte_data
        if external_tag is not None:
            entries = self.external_data.setdefault(external_tag, {})
        known = entries.get(key)
        alignment = lcm(alignment or 1, known.alignment if known else 1)
        entries[key] = DataEntry(index, alignment, tensor_layout)

    def get_named_data_store_output(self) -> NamedDataStoreOutput:
        return NamedDataStoreOutput(self.buffers, self.pte_data, self.external_data)

    def merge_named_data_store(self, other: NamedDataStoreOutput) -> None:
        """Adds all of another store's output."""
        tagged = [(None, other.pte_data), *other.external_data.items()]
        for tag, entries in tagged:
            for key, entry in entries.items():
                data = other.buffers[entry.buffer_index]
                self.add_named_data(key, data, entry.alignment, tag, entry.tensor_layout)

    def _index_of(self, data: bytes | Blob) -> int:
        """The buffer with these bytes, added if new. Hashing starts with the second blob of one
        length and start."""
        view = memoryview(data)
        same_start = self._by_fingerprint.setdefault(
            (view.nbytes, bytes(view[:_FINGERPRINT_BYTES])), {}
        )
        if None in same_start:
            first = same_start.pop(None)
            same_start[hashlib.sha256(self.buffers[first]).digest()] = first
        digest = hashlib.sha256(view).digest() if same_start else None
        if digest not in same_start:
            same_start[digest] = len(self.buffers)
            self.buffers.append(data)
        return same_start[digest]
