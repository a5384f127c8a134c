# SPDX-License-Identifier: BSD-3-Clause
"""Passes over graphs, one per file."""

from executorch.exir.dynamic_shape import DynamicMemoryPlanningMode
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.passes.debug_handle_generator_pass import DebugHandleGeneratorPass
from executorch.exir.passes.insert_write_back_for_buffers_pass import (
    insert_write_back_for_buffers_pass,
)
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.passes.remove_graph_asserts_pass import RemoveGraphAssertsPass
from executorch.exir.passes.remove_noop_pass import RemoveNoopPass, RemoveToCopyPass
from executorch.exir.passes.replace_aten_with_edge_pass import OpReplacePass
from executorch.exir.passes.replace_edge_with_backend_pass import EdgeToBackendOpsPass
from executorch.exir.passes.replace_sym_size_op_pass import ReplaceSymSizeOpPass
from executorch.exir.passes.scalar_to_tensor_pass import ScalarToTensorPass
from executorch.exir.passes.spec_prop_pass import SpecPropPass
from executorch.exir.passes.sym_shape_eval_pass import (
    ConstraintBasedSymShapeEvalPass,
    HintBasedSymShapeEvalPass,
)
from executorch.exir.passes.to_out_var_pass import ToOutVarPass, make_alloc_node

__all__ = [
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
