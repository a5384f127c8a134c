# SPDX-License-Identifier: BSD-3-Clause
"""The names of executorch.exir."""

from typing import Any

from torch.export import ExportedProgram, ExportGraphSignature

from executorch.exir.capture._capture import _capture_legacy_do_not_use, capture
from executorch.exir.capture._config import (
    CaptureConfig,
    EdgeCompileConfig,
    ExecutorchBackendConfig,
)
from executorch.exir.emit import EmitterOutput, emit_program
from executorch.exir.program._managers import (
    EdgeProgramManager,
    ExecutorchProgramManager,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.program._passes_by_hand import edge_to_executorch_passes
from executorch.exir.program._single_program import (
    CallSpec,
    ExecutorchProgram,
    ExirExportedProgram,
    MultiMethodExecutorchProgram,
    _to_edge,
)
from executorch.exir.serde.serialize import load, save
from executorch.exir.tracer import ExirDynamoConfig

Value = Any

__all__ = [
    "ExportGraphSignature",
    "ExportedProgram",
    "Value",
    "_capture_legacy_do_not_use",
    "_to_edge",
    "CallSpec",
    "ExecutorchProgram",
    "ExirExportedProgram",
    "MultiMethodExecutorchProgram",
    "capture",
    "CaptureConfig",
    "EdgeCompileConfig",
    "EdgeProgramManager",
    "EmitterOutput",
    "ExecutorchBackendConfig",
    "ExecutorchProgramManager",
    "ExirDynamoConfig",
    "edge_to_executorch_passes",
    "emit_program",
    "load",
    "save",
    "to_edge",
    "to_edge_transform_and_lower",
]
