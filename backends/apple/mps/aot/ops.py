# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what the backend takes, under which conditions, and as which nodes. The partitioner, preprocess,
the reasons why a call is not delegated and the page of operators all read it."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.backends.apple.mps.aot.computing import computing_rows
from executorch.backends.apple.mps.aot.elementwise import elementwise_rows
from executorch.backends.apple.mps.aot.indexing import indexing_rows
from executorch.backends.apple.mps.aot.movement import movement_rows
from executorch.backends.apple.mps.aot.row import ALL, MpsRow
from executorch.exir.backend.lowering.op_table import (
    OpTable,
    TensorCondition,
    has_dtype_of,
    has_elements,
)
from executorch.exir.graph_facts import is_shape_dynamic


def _is_tensor(tensor: Node, call: Node) -> bool:
    return isinstance(tensor.meta.get("val"), torch.Tensor)


def _has_known_sizes(tensor: Node, call: Node) -> bool:
    return not is_shape_dynamic(tensor)


def _is_in_plain_order(tensor: Node, call: Node) -> bool:
    found = tensor.meta["val"]
    return found.is_contiguous() or list(found.dim_order()) == list(range(found.dim()))


_DTYPES = ", ".join(sorted(str(each).removeprefix("torch.") for each in ALL))
TABLE: OpTable[MpsRow] = OpTable(
    {**elementwise_rows(), **computing_rows(), **movement_rows(), **indexing_rows()},
    of_tensors=(
        TensorCondition(_is_tensor, "a tensor is expected"),
        TensorCondition(has_dtype_of(ALL), f"dtype {_DTYPES} is expected"),
        TensorCondition(_has_known_sizes, "static sizes are expected"),
        TensorCondition(has_elements, "a tensor with elements is expected"),
        TensorCondition(
            _is_in_plain_order, "the order of dimensions of a contiguous tensor is expected"
        ),
    ),
)
