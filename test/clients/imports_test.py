# SPDX-License-Identifier: BSD-3-Clause
"""What clients import from modules of this package, beside the names that documents print; no client is installed."""

from __future__ import annotations

from importlib import import_module

import pytest

# transformers.exporters.exporter_executorch of transformers 5.23
TRANSFORMERS = {
    "backends.xnnpack.utils.utils": "get_input_node",
    "exir.capture._config": "EdgeCompileConfig ExecutorchBackendConfig",
    "exir.passes.executorch_prim_ops_registry": "_PYTHON_SYM_OPS_TO_EXECUTORCH_SYM_OPS",
    "exir.passes.memory_planning_pass": "MemoryPlanningPass",
    "exir.passes.replace_view_copy_with_view_pass": "_VIEW_OP _is_view_copy _ViewSpec",
    "exir.passes.spec_prop_pass": "_is_mutable_buffer",
    "exir.sym_util": "eval_expr",
    "exir.tensor": "determine_tensor_dynanism",
}


@pytest.mark.parametrize("module, names", TRANSFORMERS.items())
def test_names_that_transformers_imports(module: str, names: str) -> None:
    found = vars(import_module(f"executorch.{module}"))
    assert [name for name in names.split() if name not in found] == []
