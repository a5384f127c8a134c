# SPDX-License-Identifier: BSD-3-Clause
"""What NeutronQuantizer makes of a captured graph before it annotates, as passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.nxp.aten_passes.rewrites import (
    divisions_to_products,
    linear_norms_to_linears,
    sums_of_all_to_dims,
)
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
from executorch.exir.backend.lowering.quantizer.rewrites import computed_operands_to_tensors
from executorch.exir.backend.lowering.quantizer.splits_to_slices import splits_to_slices

Pass = Callable[[GraphModule], object]


def _get_default_passes(
    neutron_target_spec: NeutronTargetSpec, qat_mode: bool = False
) -> list[Pass]:
    """Operands are data before divisions ask for them. In training nothing is computed of what is trained."""
    after_training = [] if qat_mode else [computed_operands_to_tensors, linear_norms_to_linears]
    return [splits_to_slices, sums_of_all_to_dims, *after_training, divisions_to_products]


class NeutronAtenPassManager:
    def __init__(
        self, neutron_target_spec: NeutronTargetSpec, passes: Sequence[Pass] | None = None
    ) -> None:
        self.passes = list(_get_default_passes(neutron_target_spec) if passes is None else passes)

    def __call__(self, module: GraphModule) -> PassResult:
        module.graph.eliminate_dead_code()
        before = str(module.graph)
        for each in self.passes:
            each(module)
        module.graph.eliminate_dead_code()
        module.recompile()
        return PassResult(module, str(module.graph) != before)
