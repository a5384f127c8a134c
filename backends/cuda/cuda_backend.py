# SPDX-License-Identifier: BSD-3-Clause
"""`CudaBackend`, the ahead-of-time half: AOTInductor with Triton's kernels. Imports without either."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Sequence
from typing import Any, final

import torch
from torch.export import ExportedProgram

from executorch.backends.aoti.aoti_backend import COMPILE_SPEC_KEYS, AotiBackend
from executorch.backends.aoti.passes.replace_int64_floor_div_with_float import (
    ReplaceInt64FloorDivWithFloatPass,
)
from executorch.backends.cuda import readiness
from executorch.backends.cuda.options import inductor_options, is_on
from executorch.backends.cuda.passes.move_cond_predicate_to_cpu import MoveCondPredicateToCpuPass
from executorch.backends.cuda.triton.replace_edge_op_with_triton_op_pass import (
    ReplaceEdgeOpWithTritonOpPass,
)
from executorch.exir.backend.backend_details import BackendDetails
from executorch.exir.backend.compile_spec_schema import CompileSpec

__all__ = ["COMPILE_SPEC_KEYS", "CudaBackend"]

_PLAIN_MATMULS = tuple(f"int{bits}_plain_mm" for bits in (4, 5, 6, 8))


def _conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    groups: int = 1,
) -> Any:
    """As a conv2d of one row, for which Triton has a template."""
    sizes = [1, *stride], [0, *padding], [1, *dilation]
    rows = x.unsqueeze(2), weight.unsqueeze(2), bias
    return torch.ops.aten.conv2d.default(*rows, *sizes, groups).squeeze(2)


@final
class CudaBackend(AotiBackend, BackendDetails):
    """Experimental, as in the documents."""

    @classmethod
    def get_device_name(cls) -> str:
        return "cuda"

    @classmethod
    def get_supported_fallback_kernels(cls) -> Collection[str]:
        """Those that the runtime has: the documents' but `_weight_int4pack_mm`."""
        return (
            "aoti_torch_cuda_randint_low_out",
            "at::_ops::sort_stable::call",
            *(f"executorch_cuda::{name}" for name in _PLAIN_MATMULS),
            *(f"aoti_torch_cuda_{name}" for name in _PLAIN_MATMULS),
        )

    @classmethod
    def get_decomposition_table(cls) -> dict[Any, Callable[..., Any]]:
        return {torch.ops.aten.conv1d.default: _conv1d}

    @classmethod
    def get_aoti_compile_options(cls, compile_specs: Sequence[CompileSpec]) -> dict[str, Any]:
        has_ptxas = torch.version.cuda is not None and shutil.which("ptxas") is not None
        return inductor_options(compile_specs, has_ptxas)

    @classmethod
    def get_custom_passes(cls, compile_specs: Sequence[CompileSpec]) -> list[Any]:
        """`low_memory_mode` changes nothing; its value is checked."""
        is_on(compile_specs, "low_memory_mode", default=False)
        has_kernels = is_on(compile_specs, "triton_kernel_mode", default=True)
        kernels = [ReplaceEdgeOpWithTritonOpPass()] if has_kernels else []
        return [ReplaceInt64FloorDivWithFloatPass(), *kernels]

    @classmethod
    def save_data_externally(cls) -> bool:
        return True

    @classmethod
    def check_ready(cls, compile_specs: Sequence[CompileSpec]) -> None:
        cls.get_aoti_compile_options(compile_specs)
        cls.get_custom_passes(compile_specs)
        readiness.check_ready(list(compile_specs))

    @classmethod
    def move_program_to_device(
        cls, edge_program: ExportedProgram, device: str, compile_specs: Sequence[CompileSpec]
    ) -> ExportedProgram:
        moved = super().move_program_to_device(edge_program, device, compile_specs)
        MoveCondPredicateToCpuPass()(moved)
        return moved

    @classmethod
    def release_moved_tensors(
        cls, program: ExportedProgram, compile_specs: Sequence[CompileSpec]
    ) -> None:
        torch.cuda.empty_cache()
