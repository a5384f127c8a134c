# SPDX-License-Identifier: BSD-3-Clause
"""The payload's graph, as classes of its schema, and its frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from executorch.exir.backend.lowering.payload.blocks import MPS_HEADER
from executorch.exir.backend.lowering.payload.schema import PayloadSchema

SCHEMA = PayloadSchema(Path(__file__).parents[1] / "schema" / "mps.fbs")
ALIGNMENT = 16  # of the constants' region, and of its size
ABSENT = -1  # in place of a value's number

_KINDS: Any = SCHEMA.classes["MPSDataType"]
# Of PyTorch's dtypes those that a value may have.
DATA_TYPES = {
    torch.float16: _KINDS.mps_data_type_float16,
    torch.float32: _KINDS.mps_data_type_float32,
    torch.bfloat16: _KINDS.mps_data_type_bfloat16,
    torch.int8: _KINDS.mps_data_type_int8,
    torch.int16: _KINDS.mps_data_type_int16,
    torch.int32: _KINDS.mps_data_type_int32,
    torch.int64: _KINDS.mps_data_type_int64,
    torch.uint8: _KINDS.mps_data_type_uint8,
    torch.bool: _KINDS.mps_data_type_bool,
}


def mps_node(kind: str, **fields: Any) -> Any:
    """An MPSNode that holds one `kind`."""
    return SCHEMA.make("MPSNode", mpsnode_union=SCHEMA.make(kind, **fields))


def value_ids(kind: Any, are_results: bool) -> list[int]:
    """That a node of the union reads, or writes: the format says it by names of fields alone."""
    found: list[int] = []
    for name, held in vars(kind).items():
        if _UNREAD.get(type(kind).__name__) == name:
            continue
        if name.endswith(("_id", "_ids")) and name.startswith("output") == are_results:
            found += (held or []) if name in _LISTS else [held]  # absent in a corrupted one
    return [each for each in found if each != ABSENT]


_LISTS = ("input_ids", "output_ids", "indices_id")
_UNREAD = {"MPSReLU": "input2_id", "MPSFull": "input1_id"}  # of tables that have more than the node


def graph_of(payload: bytes) -> tuple[Any, bytes]:
    """The graph and its constants. ValueError for bytes that are no payload."""
    regions = MPS_HEADER.read(bytes(payload))
    return SCHEMA.unpack(regions["flatbuffer"]), regions["constants"]
