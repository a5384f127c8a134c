# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The names of this package under their documented path; the way of a program is in _managers.py."""

from executorch.exir._program_utils import _get_updated_graph_signature
from executorch.exir.program._delegation import _remove_invalid_ops_for_not_decompose
from executorch.exir.program._managers import (
    EdgeProgramManager,
    ExecutorchProgramManager,
    _gen_edge_manager_for_partitioners,
    _generate_edge_program,
    et_logger,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.program._passes_by_hand import (
    edge_to_executorch_passes,
    pre_memory_planning_passes,
)
from executorch.exir.program._programs import Pass
from executorch.exir.program._single_program import (
    CallSpec,
    ExecutorchProgram,
    ExirExportedProgram,
    HackedUpExportedProgramDONOTUSE,
    MultiMethodExecutorchProgram,
    _to_edge,
)
from executorch.exir.program._transform import (
    _copy_module,
    _transform,
    _transform_with_pass_manager,
    _update_exported_program_graph_module,
    collect_named_data_store_from_exported_program,
    lift_constant_tensor_pass,
    transform_exported_program,
)

PassType = Pass

__all__ = [
    "CallSpec",
    "EdgeProgramManager",
    "ExecutorchProgram",
    "ExecutorchProgramManager",
    "ExirExportedProgram",
    "HackedUpExportedProgramDONOTUSE",
    "MultiMethodExecutorchProgram",
    "PassType",
    "_copy_module",
    "_gen_edge_manager_for_partitioners",
    "_generate_edge_program",
    "_get_updated_graph_signature",
    "_remove_invalid_ops_for_not_decompose",
    "_to_edge",
    "_transform",
    "_transform_with_pass_manager",
    "_update_exported_program_graph_module",
    "collect_named_data_store_from_exported_program",
    "edge_to_executorch_passes",
    "et_logger",
    "lift_constant_tensor_pass",
    "pre_memory_planning_passes",
    "to_edge",
    "to_edge_transform_and_lower",
    "transform_exported_program",
]
