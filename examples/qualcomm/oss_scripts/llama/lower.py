# SPDX-License-Identifier: BSD-3-Clause
"""Methods of a static language model as one program, whose delegates share one context and its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from executorch.backends.qualcomm.aot.compiler import get_qnn_context_binary_alignment
from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.serialization.compile_specs import (
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
)
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchBackendConfig,
    to_edge_transform_and_lower,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.extension.llm.transform.static_program import StaticProgram


def specs_for(soc: QcomChipset, is_quantized: bool, **options: Any) -> list[CompileSpec]:
    """Floats are computed in half precision."""
    htp = generate_htp_compiler_spec(not is_quantized, use_weight_sharing=True)
    return generate_qnn_executorch_compiler_spec(soc, htp, **options)


def lowered(
    methods: Mapping[str, nn.Module],
    program: StaticProgram,
    lengths: Mapping[str, int],
    specs: list[CompileSpec],
    constants: Mapping[str, Any] | None = None,
) -> EdgeProgramManager:
    """`methods`: the program itself, or what quantized() made of it."""
    exported = {
        name: torch.export.export(module, program.example(lengths[name]), strict=False)
        for name, module in methods.items()
    }
    return to_edge_transform_and_lower(
        exported,
        partitioner={name: [QnnPartitioner(specs)] for name in exported},
        constant_methods=dict(constants or {}),
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )


def written(manager: EdgeProgramManager) -> bytes:
    config = ExecutorchBackendConfig(segment_alignment=get_qnn_context_binary_alignment())
    return bytes(manager.to_executorch(config).buffer)
