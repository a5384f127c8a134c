# SPDX-License-Identifier: BSD-3-Clause
"""`NamedDataStore`: blobs that backends and constants file under a key, for the program file or for
a data file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from executorch.exir._native import Blob
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir._serialize.data_serializer import DataEntry
from executorch.exir.tensor_layout import TensorLayout

if TYPE_CHECKING:
    import torch

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

    buffers: list[bytes]
    pte_data: dict[str, DataEntry]
    external_data: dict[str, dict[str, DataEntry]]
    key_to_buffer_idx: dict[str, int]

    def __init__(self) -> None:
        self.buffers, self.pte_data, self.external_data = [], {}, {}
        self.key_to_buffer_idx = {}
        self._by_fingerprint: dict[tuple[int, bytes], dict[bytes | None, int]] = {}

    def add_named_data(
        self,
        key: str,
        data: bytes | torch.Tensor,
        alignment: int | None = 1,
        external_tag: str | None = None,
        tensor_layout: TensorLayout | None = None,
    ) -> None:
        """Files `data` under `key`, in the program or in the data file `external_tag`. A key that is known stays where
        it is, with its alignment: it names one content."""
        if hasattr(data, "stride"):  # a tensor
            tensor_layout = _layout_of(key, data, tensor_layout)
            data = tensor_bytes(data)
        alignment = 1 if alignment is None else alignment
        if alignment <= 0:
            raise ValueError(f"Alignment must be greater than 0, received {alignment}.")
        known = self.key_to_buffer_idx.get(key)
        if known is not None:
            self._check_same(key, known, data)
            return
        index = self.key_to_buffer_idx[key] = self._index_of(data)
        entries = self.pte_data
        if external_tag is not None:
            entries = self.external_data.setdefault(external_tag, {})
        entries[key] = DataEntry(index, alignment, tensor_layout)

    def _check_same(self, key: str, index: int, data: bytes | Blob) -> None:
        stored, given = memoryview(self.buffers[index]), memoryview(data)
        if stored != given:
            raise ValueError(
                f"Duplicate key {key} with different data. Existing data size: {stored.nbytes} bytes. New data size: "
                f"{given.nbytes} bytes. Use one key per content, such as a digest of it"
            )

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


def _layout_of(key: str, tensor: torch.Tensor, given: TensorLayout | None) -> TensorLayout:
    """Its layout, which `given` must be: the bytes are stored as the tensor has them."""
    import torch

    if not (
        tensor.is_contiguous()
        or (tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last))
    ):
        raise ValueError(
            f"Tensor is not contiguous: named data {key} has sizes {tuple(tensor.shape)}, strides {tensor.stride()}; "
            "expected a contiguous or channels-last one, call .contiguous() first"
        )
    layout = TensorLayout.from_tensor(tensor)
    if given is not None and _plain(given) != _plain(layout):
        raise ValueError(
            f"the layout given for named data {key} does not match its tensor: expected {layout}, found {given}"
        )
    return layout


def _plain(layout: TensorLayout) -> tuple[int, list[int], list[int]]:
    return int(layout.scalar_type), list(layout.sizes), list(layout.dim_order)
