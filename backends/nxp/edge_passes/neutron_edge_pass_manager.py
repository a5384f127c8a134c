# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The passes that users run before lowering. NeutronPartitioner prepares programs by itself: without these a program is
delegated alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from executorch.backends.nxp.edge_passes.fold_redundant_qdq_pass import (
    FoldRedundantDequantizeQuantizePass,
)
from executorch.exir.pass_manager import PassManager

_STEPS = 10


class NeutronEdgePassManager(PassManager):
    def __init__(self, passes: Sequence[Any] | None = None) -> None:
        own = [FoldRedundantDequantizeQuantizePass()] if passes is None else list(passes)
        super().__init__(own, steps=_STEPS)
