# SPDX-License-Identifier: BSD-3-Clause
"""`MetalBackend`: AOTInductor for Apple's GPUs. Compiling needs a Mac, and says so; it was tried on none."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Collection, Sequence
from typing import Any, final

import torch
from torch.export import ExportedProgram

from executorch.backends.aoti import inductor
from executorch.backends.aoti.aoti_backend import COMPILE_SPEC_KEYS, AotiBackend
from executorch.backends.apple.metal.passes.decompose_linear_pass import DecomposeLinearPass
from executorch.exir.backend.backend_details import BackendDetails
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType

__all__ = ["COMPILE_SPEC_KEYS", "MetalBackend"]

CODESIGN_IDENTITY = "codesign_identity"


class NeedsMac(ExportError, RuntimeError):
    """What cannot be compiled here."""


@final
class MetalBackend(AotiBackend, BackendDetails):
    @classmethod
    def get_device_name(cls) -> str:
        return "metal"

    @classmethod
    def get_supported_fallback_kernels(cls) -> Collection[str]:
        return (
            "aoti_torch_mps_bmm_out",
            "aoti_torch_mps_convolution",
            "aoti_torch_mps_mm_out",
            "at::_ops::_scaled_dot_product_attention_math_for_mps::call",
            "at::_ops::_scaled_dot_product_attention_math_for_mps_v2::call",
            "torchao::_linear_fp_act_4bit_weight",
            "at::_ops::topk::call",
            "metal::gather_qmv",
            "metal::gated_delta_rule",
        )

    @classmethod
    def get_custom_passes(cls, compile_specs: Sequence[CompileSpec]) -> list[Any]:
        return [DecomposeLinearPass()]

    @classmethod
    def get_aoti_compile_options(cls, compile_specs: Sequence[CompileSpec]) -> dict[str, Any]:
        return {
            **inductor.OPTIONS,
            "max_autotune": True,
            "padding_stride_threshold": math.inf,
        }

    @classmethod
    def check_ready(cls, compile_specs: Sequence[CompileSpec]) -> None:
        if not torch.backends.mps.is_available():
            raise NeedsMac(
                ExportErrorType.NOT_SUPPORTED,
                "Metal lowering needs macOS with an MPS device, where AOTInductor compiles for it. Use "
                "CoreMLPartitioner (executorch.backends.apple.coreml.partition), or leave MetalPartitioner out",
            )

    @classmethod
    def move_program_to_device(
        cls, edge_program: ExportedProgram, device: str, compile_specs: Sequence[CompileSpec]
    ) -> ExportedProgram:
        return super().move_program_to_device(edge_program, "mps", compile_specs)

    @classmethod
    def codesign_so(cls, so_path: str, compile_specs: Sequence[CompileSpec]) -> None:
        for spec in compile_specs:
            if spec.key == CODESIGN_IDENTITY:
                identity = bytes(spec.value).decode()
                subprocess.run(["codesign", "-f", "-s", identity, so_path], check=True)
