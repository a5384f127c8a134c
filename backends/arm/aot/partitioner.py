# SPDX-License-Identifier: BSD-3-Clause
"""What all three partitioners are: everything that the table of the specification takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.backends.arm.aot.ops import table_of
from executorch.backends.arm.aot.rows import BETWEEN
from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.exir.backend.lowering import constants as known
from executorch.exir.backend.lowering.mode_steps import (
    delegated_with,
    only_copies,
    without_conversions,
)
from executorch.exir.backend.lowering.op_table import Constants
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.backend.lowering.quantized_steps import own_dequantized_inputs
from executorch.exir.backend.lowering.user_lists import UserLists
from executorch.exir.graph_facts import torch_op


class ArmPartitioner(TablePartitioner):
    """`additional_checks`: each says of a call whether it may be taken."""

    spec_class: type[ArmCompileSpec]

    def __init__(
        self,
        compile_spec: ArmCompileSpec | None = None,
        additional_checks: Sequence[OperatorSupportBase] | None = None,
    ) -> None:
        spec = self.default_spec() if compile_spec is None else compile_spec
        super().__init__(spec._to_list(), user_lists=UserLists(checks=additional_checks or ()))
        self.tosa_spec = spec.tosa_spec
        self.table = table_of(self.tosa_spec)  # type: ignore[misc]  # of each instance
        self.additional_checks = self.user_lists.checks
        self.intermediate_path = spec.get_intermediate_path()
        self._custom: list[Any] = []

    @classmethod
    def default_spec(cls) -> ArmCompileSpec:
        raise NotImplementedError

    def register_custom_partition_op(self, op: Any) -> None:
        """Operators that no decomposition takes apart."""
        self._custom.append(torch_op(op))

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        return [*self.table.preserved(), *filter(None, self._custom)], self.table.is_preserved

    def prepare(self, exported_program: ExportedProgram) -> None:
        own_dequantized_inputs(exported_program)
        super().prepare(exported_program)

    def analyze(self, program: ExportedProgram) -> Constants:
        """Calls that read nothing but data are computed when the delegate is compiled."""
        self._values = known.Constants(program, computed=None)
        return self._values

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        reason = self.table.why_not(node, constants)
        if reason:
            return reason
        step = self.table.step_of(node, constants)
        return delegated_with(step, constants)

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        """A delegate that moves nothing and computes nothing."""
        rest = without_conversions(nodes, self._values)
        if not rest:
            return BETWEEN
        return "nothing is computed" if only_copies(rest) else ""
