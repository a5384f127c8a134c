# SPDX-License-Identifier: BSD-3-Clause
"""`NeutronPartitioner`: what the table takes and the converter does not refuse, in the largest pieces that run in one
step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.nxp.aot.compiler import COMPILER
from executorch.backends.nxp.aot.ops import TABLES
from executorch.backends.nxp.aot.options import NeutronOptions, options_in
from executorch.backends.nxp.backend.custom_delegation_options import CustomDelegationOptions
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
from executorch.backends.nxp.nxp_backend import NeutronBackend
from executorch.exir.backend._partitions import TAG
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner
from executorch.exir.backend.lowering.mode_steps import delegated_with, without_conversions
from executorch.exir.backend.lowering.quantized_steps import (
    fold_redundant_pairs,
    own_dequantized_inputs,
)
from executorch.exir.backend.lowering.user_lists import UserLists, by_part_of_operator
from executorch.exir.graph_facts import call_name, called_op

NXP_DELEGATION_TAG = TAG
NXP_DO_NOT_DELEGATE = "NXP_DO_NOT_DELEGATE"
_IDLE = "the NPU would compute nothing"


class NeutronPartitioner(ExternalPartitioner):
    """Of the programs of NeutronQuantizer and of others that quantize to int8. `preserve_ops`: operators that are not
    decomposed, if a row takes them and `check_op_support` agrees. `post_quantization_state_dict`: a program has its
    data, so that it is not asked. A node whose meta has NXP_DO_NOT_DELEGATE stays on the CPU."""

    backend_id = NeutronBackend.__name__
    compiler = COMPILER
    asks_compiler = False
    table = TABLES[NeutronOptions.target]

    def __init__(
        self,
        compile_spec: Sequence[CompileSpec] | None = None,
        neutron_target_spec: NeutronTargetSpec | None = None,
        custom_delegation_options: CustomDelegationOptions | None = None,
        post_quantization_state_dict: Mapping[str, torch.Tensor] | None = None,
        preserve_ops: Sequence[torch._ops.OpOverload] | None = None,
        check_op_support: Callable[[Node], bool] | None = None,
    ) -> None:
        specs = NeutronOptions().specs() if compile_spec is None else list(compile_spec)
        options = options_in(specs)
        refused = (
            "operators_not_to_delegate",
            by_part_of_operator,
            options.operators_not_to_delegate,
        )
        super().__init__(specs, user_lists=UserLists(blocked=[refused]))
        spec = neutron_target_spec or NeutronTargetSpec(options.target)
        if spec.get_name() != options.target:
            raise ValueError(
                f"expected a target spec of {options.target}, for which the compile spec is, found {spec.get_name()}"
            )
        self.table = TABLES[spec.get_name()]  # type: ignore[misc]  # of each instance
        self.neutron_target_spec = spec
        self.custom_delegation_options = custom_delegation_options or CustomDelegationOptions()
        self._preserved = [each for each in preserve_ops or () if str(each) in self.table]
        self._check_op_support = check_op_support

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        own = self.table.preserved()
        check = self._check_op_support
        if check is None:
            return [*own, *self._preserved], None
        return [*own, *self._preserved], lambda node: called_op(node) in own or check(node)

    def prepare(self, exported_program: ExportedProgram) -> None:
        """What NeutronEdgePassManager does for users who call it."""
        fold_redundant_pairs(exported_program.graph_module)
        own_dequantized_inputs(exported_program)
        super().prepare(exported_program)

    def analyze(self, program: ExportedProgram) -> Constants:
        """Calls that read nothing but data are computed when the delegate is compiled."""
        self._values = Constants(program, computed=None)
        return self._values

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        if NXP_DO_NOT_DELEGATE in node.meta:
            return f"its meta has {NXP_DO_NOT_DELEGATE}"
        reason = self.table.why_not(node, constants)
        return reason or delegated_with(self.table.step_of(node, constants), constants)

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        if self.custom_delegation_options.allow_no_op_partitions:
            return ""
        calls = [each for each in without_conversions(nodes, self._values) if call_name(each)]
        return _IDLE if all(map(self._is_idle, calls)) else ""

    def _is_idle(self, node: Node) -> bool:
        step = self.table.step_of(node, self._values)
        return self.table.row(node).is_idle(step, self._values)


def supported_ops() -> list[Any]:
    """The operators that have a row."""
    return sorted(NeutronPartitioner.table)
