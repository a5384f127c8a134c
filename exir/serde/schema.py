# SPDX-License-Identifier: BSD-3-Clause
"""What a saved program is made of: PyTorch's schema of exported programs, and lowered modules beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch._export.serde.schema import *  # noqa: F403
from torch._export.serde.schema import SCHEMA_VERSION as SCHEMA_VERSION
from torch._export.serde.schema import TREESPEC_VERSION as TREESPEC_VERSION
from torch._export.serde.schema import ConstantValue as ConstantValue
from torch._export.serde.schema import ExportedProgram as ExportedProgram
from torch._export.serde.schema import InputToConstantInputSpec as ConstantInputSpec

__all__ = ["CompileSpec", "ConstantInputSpec", "LoweredBackendModule"]


@dataclass
class CompileSpec:
    key: str
    value: str  # base64


@dataclass
class LoweredBackendModule:
    """Bytes are base64. `named_data_store` is a zip file of buffers with a table of keys."""

    backend_id: str
    processed_bytes: str
    compile_specs: list[CompileSpec]
    original_module: ExportedProgram
    original_state_dict: str
    original_constants: str
    named_data_store: bytes | None = None
    example_inputs: str = field(default="")
