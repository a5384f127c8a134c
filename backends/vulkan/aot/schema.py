# SPDX-License-Identifier: BSD-3-Clause
"""The payload's graph, as classes of its schema."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Any

import torch

from executorch.exir.backend.lowering.payload.schema import PayloadSchema

SCHEMA = PayloadSchema(Path(__file__).parents[1] / "schema" / "vulkan.fbs")
VERSION = "0"
IN_NAMED_DATA = 2**64 - 1  # offset of a constant that the program holds by name

VkDataType: Any = SCHEMA.classes["VkDataType"]
VkStorageType: Any = SCHEMA.classes["VkStorageType"]
VkMemoryLayout: Any = SCHEMA.classes["VkMemoryLayout"]


def _bare_name(member: IntEnum) -> str:
    return member.name


for _kind in (VkStorageType, VkMemoryLayout):
    _kind.__str__ = _bare_name

# Of PyTorch's dtypes those that a tensor may have.
DATA_TYPES = {
    torch.bool: VkDataType.BOOL,
    torch.uint8: VkDataType.UINT8,
    torch.int8: VkDataType.INT8,
    torch.int32: VkDataType.INT32,
    torch.int64: VkDataType.INT64,
    torch.float16: VkDataType.FLOAT16,
    torch.float32: VkDataType.FLOAT32,
    torch.float64: VkDataType.FLOAT64,
}
NARROWED = {torch.int64: torch.int32, torch.float64: torch.float32}


def value(kind: str, **fields: Any) -> Any:
    """A VkValue that holds one `kind`."""
    return SCHEMA.make("VkValue", value=SCHEMA.make(kind, **fields))
