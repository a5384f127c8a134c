# SPDX-License-Identifier: BSD-3-Clause
"""Options of the stages: capture (historic), edge, backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch.fx import Node

from executorch.exir.dynamic_shape import DynamicMemoryPlanningMode
from executorch.exir.pass_base import ExportedProgramPassBase, PassType
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.passes.propagate_device_config import PropagateDeviceConfig
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass
from executorch.exir.passes.to_out_var_pass import ToOutVarPass
from executorch.exir.tracer import ExirDynamoConfig

AnyPass = ExportedProgramPassBase | PassType

# Shared by all configurations that give no others.
_PLANNING, _OUT_VARIANTS = MemoryPlanningPass(), ToOutVarPass()
_SIZES, _DEVICES = ConstraintBasedSymShapeEvalPass(), PropagateDeviceConfig()


@dataclass
class CaptureConfig:
    """Options of the capture that torch.export has replaced; kept for programs that construct one."""

    pt2_mode: bool = True
    enable_functionalization: bool = True
    enable_dynamic_shape: bool = False
    enable_aot: bool = False
    _dynamo_config: ExirDynamoConfig = field(default_factory=ExirDynamoConfig)
    _unlift: bool = False
    _use_old_decomp_table: bool = False


@dataclass
class EdgeCompileConfig:
    """How a torch.export program becomes an edge program."""

    # Check the dialect's rules after every user pass.
    _check_ir_validity: bool = True
    # Leave memory formats as they are instead of writing dim orders.
    _skip_dim_order: bool = False
    # Operators outside core ATen that the check lets pass.
    _core_aten_ops_exception_list: list[torch._ops.OpOverload] = field(default_factory=list)
    # Operators that are not decomposed.
    preserve_ops: list[torch._ops.OpOverload] = field(default_factory=list)
    # nn.Linear becomes permute_copy(weight) and addmm (without bias mm; of more dimensions between views), as in
    # upstream's programs, for partitioners and passes that match these. Linear layers that a partitioner preserves
    # stay whole.
    decompose_linear: bool = False
    # The largest size of input dimensions that were exported without one (Dim(name), Dim.AUTO, Dim.DYNAMIC): a number,
    # or "example" for those of the example inputs. None: such programs are refused.
    max_dynamic_size: int | Literal["example"] | None = None

    @property
    def decompose_ops(self) -> frozenset[torch._ops.OpOverload]:
        """Operators that are decomposed although the runtime has kernels for them."""
        return frozenset({torch.ops.aten.linear.default} if self.decompose_linear else ())

    def __post_init__(self) -> None:
        """None is an empty list."""
        if self._core_aten_ops_exception_list is None:
            self._core_aten_ops_exception_list = []
        if self.preserve_ops is None:
            self.preserve_ops = []


@dataclass
class ExecutorchBackendConfig:
    """How an edge program becomes a planned program and its bytes. Per-method options take a dict as well."""

    # Run first, on the edge program.
    passes: list[AnyPass] = field(default_factory=list)
    memory_planning_pass: AnyPass | dict[str, AnyPass] = field(default_factory=lambda: _PLANNING)
    propagate_device_config: PropagateDeviceConfig | dict[str, PropagateDeviceConfig] = field(
        default_factory=lambda: _DEVICES
    )
    to_out_var_pass: AnyPass = field(default_factory=lambda: _OUT_VARIANTS)
    dynamic_memory_planning_mode: DynamicMemoryPlanningMode = DynamicMemoryPlanningMode.UPPER_BOUND
    # Write the Python lines that instructions come from into the file.
    emit_stacktrace: bool = False
    # Delegate blobs become segments of the file instead of part of the program data.
    extract_delegate_segments: bool = True
    # Bytes, powers of two; None: the format's default.
    segment_alignment: int = 128
    constant_tensor_alignment: int | None = None
    delegate_alignment: int | None = None
    sym_shape_eval_pass: AnyPass | dict[str, AnyPass] = field(default_factory=lambda: _SIZES)
    # Views of contiguous tensors share their memory instead of copying.
    remove_view_copy: bool = True
    # True, or a function giving the .ptd file's name for a constant: constants go to data files.
    external_constants: bool | Callable[[Node], str | None] = False
    # The same for parameters that the method writes: their first values come from the data file.
    external_mutable_weights: bool = False
    emit_mutable_buffer_names: bool = False
    # Quantized operators are fused, and what depends on constants alone is computed.
    do_quant_fusion_and_const_prop: bool = False
    # Operators write into their argument where nobody reads it again: index_put, and the extra ones.
    run_reinplace_pass: bool = False
    enable_non_cpu_memory_planning: bool = True
    reinplace_extra_ops: frozenset[Any] | None = None
    # Operators of torch that no kernel of this package serves are a warning instead of an error: your runtime has them.
    allow_missing_kernels: bool = False
    # What you want to say about the program (labels, licence), as JSON: `Program.user_metadata` gives it back.
    user_metadata: Mapping[str, Any] = field(default_factory=dict)
