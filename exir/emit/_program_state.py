# SPDX-License-Identifier: BSD-3-Clause
"""What the methods of one program share while they are emitted: constants, initial data, delegate blobs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from executorch.exir._native import Blob
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.schema import BackendDelegateInlineData, Buffer
from executorch.exir.tensor import TensorSpec

_FINGERPRINT_BYTES = 64


class BlobPool:
    """Distinct blobs in order of arrival. Blobs are compared with those of the same length and
    first bytes only, so a program's weights are read at most once for it."""

    def __init__(self) -> None:
        self.blobs: list[Any] = []
        self._candidates: dict[tuple[int, bytes], list[int]] = {}

    def add(self, blob: Blob) -> int:
        candidates = self._candidates.setdefault((len(blob), _fingerprint(blob)), [])
        for index in candidates:
            if self.blobs[index] == blob:
                return index
        candidates.append(len(self.blobs))
        self.blobs.append(blob)
        return len(self.blobs) - 1


def _fingerprint(blob: Blob) -> bytes:
    view = memoryview(blob)
    if view.nbytes <= 2 * _FINGERPRINT_BYTES:
        return bytes(view)
    middle = view.nbytes // 2
    return b"".join(
        bytes(view[start : start + _FINGERPRINT_BYTES])
        for start in (0, middle, view.nbytes - _FINGERPRINT_BYTES)
    )


@dataclass
class ProgramState:
    """Index 0 of constants and initial data is reserved: it means "none"."""

    constants: BlobPool = field(default_factory=BlobPool)
    external_constants: BlobPool = field(default_factory=BlobPool)
    external_map: dict[str, dict[str, int]] = field(default_factory=dict)  # tag -> name -> index
    initial_data: list[Blob] = field(default_factory=list)
    delegate_blobs: BlobPool = field(default_factory=BlobPool)
    _index_of_storage: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _initial_of_storage: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _kept_alive: list[torch.Tensor] = field(default_factory=list)

    def add_constant(self, tensor: torch.Tensor, spec: TensorSpec) -> int:
        """The constant buffer index of a tensor's bytes in the order that `spec` gives them."""
        return self._once(
            self._index_of_storage,
            tensor,
            spec,
            lambda blob: self.constants.add(blob) + 1 if len(blob) else 0,
        )

    def add_external_constant(
        self, tensor: torch.Tensor, spec: TensorSpec, tag: str, name: str
    ) -> int:
        """Files the tensor under `name` for the data file `tag`."""
        index = self.external_constants.add(tensor_bytes(tensor, tuple(spec.dim_order)))
        self.external_map.setdefault(tag, {})[name] = index
        return index

    def add_initial_data(self, tensor: torch.Tensor, spec: TensorSpec) -> int:
        """The index of a mutable buffer's first content; 0 when it is all zeros, as memory is at load."""

        def add(blob: Blob) -> int:
            if not blob.any():
                return 0
            self.initial_data.append(blob)
            return len(self.initial_data)

        return self._once(self._initial_of_storage, tensor, spec, add)

    def add_delegate_blob(self, blob: bytes) -> int:
        return self.delegate_blobs.add(Blob(blob))

    def constant_buffers(self) -> list[Buffer]:
        return [Buffer(b""), *map(Buffer, self.constants.blobs)]

    def mutable_buffers(self) -> list[Buffer] | None:
        return [Buffer(b""), *map(Buffer, self.initial_data)] if self.initial_data else None

    def inline_delegates(self) -> list[BackendDelegateInlineData]:
        return [BackendDelegateInlineData(blob) for blob in self.delegate_blobs.blobs]

    def _once(
        self,
        known: dict[tuple[Any, ...], int],
        tensor: torch.Tensor,
        spec: TensorSpec,
        add: Callable[[Blob], int],
    ) -> int:
        """Methods that share a weight share its tensor: look there before looking at bytes."""
        key = (
            tensor.data_ptr() if _has_data(tensor) else id(tensor),
            tensor.dtype,
            tuple(tensor.shape),
            tuple(tensor.stride()),
            tensor.is_conj(),
            tensor.is_neg(),
            tuple(spec.dim_order),
        )
        if key not in known:
            self._kept_alive.append(tensor)
            known[key] = add(tensor_bytes(tensor, tuple(spec.dim_order)))
        return known[key]


def _has_data(tensor: torch.Tensor) -> bool:
    return not isinstance(tensor, torch._subclasses.FakeTensor) and tensor.device.type == "cpu"
