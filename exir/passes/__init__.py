# SPDX-License-Identifier: BSD-3-Clause
"""Passes over graphs, one per file."""

from typing import Any

from torch.fx import Node

from executorch.exir.common import override_logger
from executorch.exir.dialects.backend._ops import BackendOpOverload
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.dynamic_shape import DynamicMemoryPlanningMode
from executorch.exir.error import InternalError
from executorch.exir.operator.convert import (
    get_out_args_from_opoverload,
    is_out_variant,
    to_out_variant,
    to_scratch_op,
)
from executorch.exir.pass_base import Argument, ExportPass, PassType
from executorch.exir.pass_manager import ExportedProgramPassManager
from executorch.exir.passes.const_prop_pass import ConstPropPass
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.passes.debug_handle_generator_pass import DebugHandleGeneratorPass
from executorch.exir.passes.debug_pass import DebugPass
from executorch.exir.passes.insert_write_back_for_buffers_pass import (
    insert_write_back_for_buffers_pass,
)
from executorch.exir.passes.legalize_portable_dim_order_pass import LegalizePortableDimOrderPass
from executorch.exir.passes.memory_format_ops_pass import MemoryFormatOpsPass
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.passes.normalize_transpose_pass import NormalizeTransposePass
from executorch.exir.passes.prune_empty_tensors_pass import PruneEmptyTensorsPass
from executorch.exir.passes.quant_fusion_pass import QuantFusionPass
from executorch.exir.passes.remove_graph_asserts_pass import RemoveGraphAssertsPass
from executorch.exir.passes.remove_noop_pass import RemoveNoopPass, RemoveToCopyPass
from executorch.exir.passes.remove_unused_parameters_pass import remove_unused_parameters_pass
from executorch.exir.passes.replace_aten_with_edge_pass import OpReplacePass
from executorch.exir.passes.replace_broken_ops_with_function_ops_pass import (
    ReplaceBrokenOpsWithFunctionalOpsPass,
)
from executorch.exir.passes.replace_edge_with_backend_pass import EdgeToBackendOpsPass
from executorch.exir.passes.replace_sym_size_op_pass import ReplaceSymSizeOpPass
from executorch.exir.passes.scalar_to_tensor_pass import ScalarToTensorPass
from executorch.exir.passes.spec_prop_pass import SpecPropPass
from executorch.exir.passes.sym_shape_eval_pass import (
    ConstraintBasedSymShapeEvalPass,
    HintBasedSymShapeEvalPass,
)
from executorch.exir.passes.sym_to_tensor_pass import SymToTensorPass
from executorch.exir.passes.to_device_pass import ToDevicePass
from executorch.exir.passes.to_out_var_pass import (
    ToOutVarPass,
    make_alloc_node,
    to_out_var_skiplist,
)
from executorch.exir.passes.to_scratch_op_pass import to_scratch_op_pass
from executorch.exir.passes.weights_to_outputs_pass import weights_to_outputs_pass
from executorch.exir.sym_util import eval_shape_upper_bound

__all__ = [
    "Argument",
    "PassType",
    "base_post_op_replace_passes",
    "base_pre_op_replace_passes",
    "to_out_var_skiplist",
    "to_scratch_op_pass",
    "weights_to_outputs_pass",
    "update_args",
    "propagate_dynamic_shape",
    "ToDevicePass",
    "SymToTensorPass",
    "ReplaceBrokenOpsWithFunctionalOpsPass",
    "remove_unused_parameters_pass",
    "QuantFusionPass",
    "NormalizeTransposePass",
    "LegalizePortableDimOrderPass",
    "DebugPass",
    "ConstPropPass",
    "BackendOpOverload",
    "EdgeOpOverload",
    "ExportedProgramPassManager",
    "InternalError",
    "MemoryFormatOpsPass",
    "PruneEmptyTensorsPass",
    "eval_shape_upper_bound",
    "get_out_args_from_opoverload",
    "is_out_variant",
    "override_logger",
    "to_out_variant",
    "to_scratch_op",
    "ConstraintBasedSymShapeEvalPass",
    "DebugHandleGeneratorPass",
    "DynamicMemoryPlanningMode",
    "EdgeToBackendOpsPass",
    "ExportPass",
    "HintBasedSymShapeEvalPass",
    "MemoryPlanningPass",
    "OpReplacePass",
    "RemoveGraphAssertsPass",
    "RemoveNoopPass",
    "RemoveToCopyPass",
    "ReplaceSymSizeOpPass",
    "ScalarToTensorPass",
    "SpecPropPass",
    "ToOutVarPass",
    "dead_code_elimination_pass",
    "insert_write_back_for_buffers_pass",
    "make_alloc_node",
]


# What to_edge does to a graph of torch operators, as passes for graphs from elsewhere: before and after its operators
# become edge operators.
base_pre_op_replace_passes: list[Any] = [
    ReplaceSymSizeOpPass(),
    NormalizeTransposePass(),
    ReplaceBrokenOpsWithFunctionalOpsPass(),
    ScalarToTensorPass(),
    SymToTensorPass(),
    RemoveNoopPass(),
    PruneEmptyTensorsPass(),
    RemoveToCopyPass(),
]
base_post_op_replace_passes: list[Any] = [dead_code_elimination_pass, DebugHandleGeneratorPass()]


def propagate_dynamic_shape(
    dynamic_memory_planning_mode: DynamicMemoryPlanningMode = DynamicMemoryPlanningMode.UPPER_BOUND,
) -> list[Any]:
    """The passes that give every tensor a spec and, for an upper bound, sizes."""
    passes: list[Any] = [SpecPropPass()]
    if dynamic_memory_planning_mode == DynamicMemoryPlanningMode.UPPER_BOUND:
        passes.append(ConstraintBasedSymShapeEvalPass())
    return passes


def update_args(args: tuple[Any, ...], key: int, val: Node) -> tuple[Any, ...]:
    """`args` with `val` at place `key`."""
    return (*args[:key], val, *args[key + 1 :])
