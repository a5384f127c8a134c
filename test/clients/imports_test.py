# SPDX-License-Identifier: BSD-3-Clause
"""What clients import from modules of this package, beside the names that documents print; no client is installed."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter

import pytest
import torch

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


# What it replaces while it exports.
REPLACED = {
    "backends.transforms.remove_clone_ops": "RemoveCloneOpsTransform._is_non_identity_clone",
    "backends.xnnpack.operators.node_visitor": "_node_visitor_dict",
    "backends.xnnpack.partition.config.node_configs": "PreluConfig.check_constraints",
    "backends.xnnpack.serialization.xnnpack_graph_serialize": "_flatc_compile",
    "exir.emit._emitter": "dim_order_from_stride",
    "exir.passes.executorch_prim_ops_registry": "_EXECUTORCH_SYM_OPS",
    "exir.passes.prune_empty_tensors_pass": "PruneEmptyTensorsPass.remove_empty_tensors_from_cat",
    "exir.passes.replace_view_copy_with_view_pass": "dim_order_from_stride ReplaceViewCopyWithViewPass.call",
    "exir.passes.spec_prop_pass": "SpecPropPass.update_placeholder_tensor_specs",
    "exir.passes.sym_shape_eval_pass": "eval_upper_bound",
    "exir.program._program": "lift_constant_tensor_pass",
    "exir.sym_util": "eval_upper_bound",
    "exir.tensor": "dim_order_from_stride",
    "exir.tensor_layout": "dim_order_from_stride",
    "exir.verification.verifier": "_EXECUTORCH_SYM_OPS _check_tensor_args_matching_op_allowed_dtype",
}


@pytest.mark.parametrize("module, names", TRANSFORMERS.items())
def test_names_that_transformers_imports(module: str, names: str) -> None:
    found = vars(import_module(f"executorch.{module}"))
    assert [name for name in names.split() if name not in found] == []


@pytest.mark.parametrize("module, names", REPLACED.items())
def test_names_that_transformers_replaces(module: str, names: str) -> None:
    for name in names.split():
        attrgetter(name)(import_module(f"executorch.{module}"))


def test_a_replaced_dim_order_is_that_of_a_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = import_module("executorch.exir.tensor_layout")
    monkeypatch.setattr(layout, "dim_order_from_stride", lambda stride: range(len(stride))[::-1])
    assert layout.TensorLayout.from_tensor(torch.zeros(2, 3)).dim_order == [1, 0]
    monkeypatch.undo()
    assert layout.TensorLayout.from_tensor(torch.zeros(2, 3)).dim_order == [0, 1]
