# SPDX-License-Identifier: BSD-3-Clause
"""`MetalBackend`: what is known of it on every host. Compiling needs a Mac, and says so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, final

from torch.export import ExportedProgram

from executorch.backends.aoti.aoti_backend import COMPILE_SPEC_KEYS, AotiBackend
from executorch.backends.apple.metal.passes.decompose_linear_pass import DecomposeLinearPass
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType

__all__ = ["COMPILE_SPEC_KEYS", "MetalBackend"]


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

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        raise NeedsMac(
            ExportErrorType.NOT_SUPPORTED,
            "Metal lowering needs macOS with an MPS device, where AOTInductor compiles for it; that half of the "
            "backend is not in this package. Use CoreMLPartitioner (executorch.backends.apple.coreml.partition), or "
            "leave MetalPartitioner out",
        )
