# SPDX-License-Identifier: BSD-3-Clause
"""`TOSAPartitioner`: what becomes a TOSA graph."""

from __future__ import annotations

from executorch.backends.arm.aot.partitioner import ArmPartitioner
from executorch.backends.arm.tosa.backend import TOSABackend
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec


class TOSAPartitioner(ArmPartitioner):
    backend_id = TOSABackend.__name__

    @classmethod
    def default_spec(cls) -> TosaCompileSpec:
        return TosaCompileSpec("TOSA-1.0+FP")
