# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Lists of passes for those who run them by hand, on a graph alone; the compiler's own are in _passes.py."""

from __future__ import annotations

from torch.fx.passes.infra.pass_base import PassBase

from executorch.exir.capture._config import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.passes.legalize_portable_dim_order_pass import LegalizePortableDimOrderPass
from executorch.exir.passes.normalize_view_copy_base_pass import NormalizeViewCopyBasePass
from executorch.exir.passes.propagate_device_pass import PropagateDevicePass
from executorch.exir.passes.remove_graph_asserts_pass import RemoveGraphAssertsPass
from executorch.exir.passes.replace_edge_with_backend_pass import EdgeToBackendOpsPass
from executorch.exir.passes.replace_view_copy_with_view_pass import ReplaceViewCopyWithViewPass
from executorch.exir.passes.scalar_constants_to_scalars_pass import scalar_constants_to_scalars_pass
from executorch.exir.passes.spec_prop_pass import SpecPropPass
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass
from executorch.exir.program._programs import Pass, per_method


def edge_to_executorch_passes(
    config: ExecutorchBackendConfig,
    name: str | None = None,
    edge_compile_config: EdgeCompileConfig | None = None,
) -> list[Pass]:
    """The passes above that work on a graph alone, before memory planning. Those for upstream's kernels
    (LegalizePortableDimOrderPass) are among them unless dim orders are left out."""
    dim_orders = edge_compile_config is None or not edge_compile_config._skip_dim_order
    return [
        *config.passes,
        *([LegalizePortableDimOrderPass()] if dim_orders else []),
        scalar_constants_to_scalars_pass,
        SpecPropPass(),
        PropagateDevicePass(),
        EdgeToBackendOpsPass(),
        RemoveGraphAssertsPass(),
        *pre_memory_planning_passes(config, name),
    ]


def pre_memory_planning_passes(
    config: ExecutorchBackendConfig, name: str | None = None
) -> list[Pass]:
    """The part of `edge_to_executorch_passes` that follows the user's passes and specs."""
    evaluate = per_method(config.sym_shape_eval_pass, name or "forward", None)
    if evaluate is None:
        evaluate = ConstraintBasedSymShapeEvalPass()
    if not isinstance(evaluate, PassBase):
        raise RuntimeError(
            f"sym_shape_eval_pass must be a dict or a PassBase, got {config.sym_shape_eval_pass}"
        )
    views = [NormalizeViewCopyBasePass(), dead_code_elimination_pass, ReplaceViewCopyWithViewPass()]
    return [
        *(views if config.remove_view_copy else [dead_code_elimination_pass]),
        evaluate,
        config.to_out_var_pass,
    ]
