# SPDX-License-Identifier: BSD-3-Clause
"""The table of contents of a data file as dataclasses (flat_tensor.fbs)."""

from __future__ import annotations

from dataclasses import dataclass

from executorch.exir.tensor_layout import TensorLayout


@dataclass
class DataSegment:
    offset: int
    size: int


@dataclass
class NamedData:
    key: str
    segment_index: int
    tensor_layout: TensorLayout | None = None


@dataclass
class FlatTensor:
    version: int
    segments: list[DataSegment]
    named_data: list[NamedData]
