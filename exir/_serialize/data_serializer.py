# SPDX-License-Identifier: BSD-3-Clause
"""What a writer of data files (.ptd) takes and gives, whatever its format."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from executorch.exir._serialize._cord import Cord
from executorch.exir.tensor_layout import TensorLayout


@dataclass
class DataEntry:
    """One key: which buffer holds its bytes, how they are aligned (None or 0: as all segments of the file), and the
    layout if they are a tensor."""

    buffer_index: int
    alignment: int | None
    tensor_layout: TensorLayout | None


@dataclass
class DataPayload:
    """The content of one data file; several keys may share a buffer."""

    buffers: Sequence[bytes]
    named_data: dict[str, DataEntry]


class DataSerializer(ABC):
    @abstractmethod
    def serialize(self, data: DataPayload) -> Cord:
        """The file's bytes."""

    @abstractmethod
    def deserialize(self, blob: Cord) -> DataPayload:
        """The content of a file; raises ValueError when it is corrupted."""
