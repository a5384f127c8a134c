# SPDX-License-Identifier: BSD-3-Clause
"""`EthosUPartitioner`: what becomes TOSA and Vela compiles."""

from __future__ import annotations

from executorch.backends.arm.aot.partitioner import ArmPartitioner
from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.ethosu.backend import EthosUBackend
from executorch.backends.arm.ethosu.compile_spec import EthosUCompileSpec
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner


class EthosUPartitioner(ArmPartitioner, ExternalPartitioner):
    backend_id = EthosUBackend.__name__
    compiler = VELA

    @classmethod
    def default_spec(cls) -> EthosUCompileSpec:
        return EthosUCompileSpec("ethos-u55-128")
