# SPDX-License-Identifier: BSD-3-Clause
"""`VgfPartitioner`: what becomes TOSA and the model converter takes."""

from __future__ import annotations

from executorch.backends.arm.aot.partitioner import ArmPartitioner
from executorch.backends.arm.vgf.backend import VgfBackend
from executorch.backends.arm.vgf.compile_spec import VgfCompileSpec
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner


class VgfPartitioner(ArmPartitioner, ExternalPartitioner):
    backend_id = VgfBackend.__name__
    compiler = CONVERTER

    @classmethod
    def default_spec(cls) -> VgfCompileSpec:
        return VgfCompileSpec()
