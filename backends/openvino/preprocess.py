# SPDX-License-Identifier: BSD-3-Clause
"""`OpenvinoBackend`, the ahead-of-time half: one program becomes one payload. The class's name is the backend's id."""

from __future__ import annotations

import zlib

from torch.export import ExportedProgram

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.backends.openvino.aot.options import CHECKSUM, VERSION, Options
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import options_of


class OpenvinoBackend(BackendDetails):
    """Takes the programs that OpenvinoPartitioner cuts out. The payload is what OpenVINO exports, nothing around it;
    its checksum, and the version that made it, are compile specs of the file."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        specs = Options.read(compile_specs).specs()
        payload = OPENVINO.payload(edge_program, options_of(specs))
        checksum = CompileSpec(CHECKSUM, f"{zlib.crc32(payload):08x}".encode())
        version = CompileSpec(VERSION, OPENVINO.version().encode())
        return PreprocessResult(payload, compile_specs=[*specs, checksum, version])
