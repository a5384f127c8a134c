# SPDX-License-Identifier: BSD-3-Clause
"""What is known ahead of time: data, and what a few operators make of it."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.quantized import OF_WEIGHTS

_COPIES = frozenset({"dim_order_ops._to_dim_order_copy.default", "aten._to_copy.default"})


def known_values(program: ExportedProgram) -> Constants:
    return Constants(program, computed=OF_WEIGHTS | _COPIES)
