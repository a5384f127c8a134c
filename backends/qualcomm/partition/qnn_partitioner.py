# SPDX-License-Identifier: BSD-3-Clause
"""`QnnPartitioner`: what the table takes and the SDK does not refuse, in the largest pieces that run in one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.nn import Module

from executorch.backends.qualcomm.aot.compiler import constants_of, graph_of_call
from executorch.backends.qualcomm.aot.door import door_for
from executorch.backends.qualcomm.aot.ops import TABLE
from executorch.backends.qualcomm.qnn_preprocess import QnnBackend
from executorch.backends.qualcomm.serialization.compile_specs import options_in
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchOptions
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.float_boundaries import make_boundaries_float
from executorch.exir.backend.lowering.mode_steps import (
    delegated_with,
    only_copies,
    without_conversions,
)
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.backend.lowering.quantized_steps import own_dequantized_inputs
from executorch.exir.backend.lowering.user_lists import UserLists, by_node, by_operator


def _skipped(ids: Iterable[str] | None, operators: Iterable[str] | None) -> UserLists:
    lists = [
        ("skip_node_id_set", by_node, ids),
        ("skip_node_op_set", by_operator, operators),
    ]
    return UserLists(blocked=lists)


def _why_not(node: Node, constants: Constants, options: QnnExecuTorchOptions) -> str:
    """The first reason of the table, or the SDK's."""
    reason = TABLE.why_not(node, constants)
    return reason or door_for(options).why_refused(graph_of_call(node, constants), options)


class QnnOperatorSupport(OperatorSupportBase):
    """Whether a call is taken, for torch's partitioners, which ask of one at a time."""

    def __init__(
        self,
        edge_program: ExportedProgram,
        compiler_specs: Sequence[CompileSpec],
        skip_node_id_set: set[str] | None = None,
        skip_node_op_set: set[str] | None = None,
        is_qnn_partitioner: bool = True,
        phase: str = "QnnPartitioner",
    ) -> None:
        self._options = options_in(compiler_specs)
        self._constants = constants_of(edge_program)
        self._lists = _skipped(skip_node_id_set, skip_node_op_set)

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        is_call = node.op == "call_function" and not self._lists.why_not(node)
        return is_call and not _why_not(node, self._constants, self._options)


class QnnPartitioner(TablePartitioner):
    """`skip_node_id_set`: names of nodes, and `skip_node_op_set`: operators such as "aten.add.Tensor", that stay on the
    CPU. `skip_mutable_buffer`: of what programs write themselves nothing is taken, which is so in any case as yet."""

    table = TABLE
    backend_id = QnnBackend.__name__
    tag = "qnn_"

    def __init__(
        self,
        compiler_specs: Sequence[CompileSpec],
        skip_node_id_set: set[str] | None = None,
        skip_node_op_set: set[str] | None = None,
        skip_mutable_buffer: bool = False,
    ) -> None:
        self.qnn_options = options_in(compiler_specs)
        lists = _skipped(skip_node_id_set, skip_node_op_set)
        super().__init__(compiler_specs, user_lists=lists)

    def prepare(self, exported_program: ExportedProgram) -> None:
        door_for(self.qnn_options)
        own_dequantized_inputs(exported_program)
        super().prepare(exported_program)

    def finish(self, tagged_program: ExportedProgram) -> None:
        make_boundaries_float(tagged_program)

    def analyze(self, program: ExportedProgram) -> Constants:
        door_for(self.qnn_options)
        self._values = constants_of(program)
        return self._values

    def claim(self, node: Node, program: ExportedProgram, constants: Constants) -> list[Node] | str:
        reason = _why_not(node, constants, self.qnn_options)
        return reason or delegated_with(self.table.step_of(node, constants), constants)

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        """A delegate that moves nothing and computes nothing."""
        copies = only_copies(without_conversions(nodes, self._values))
        return "nothing is computed" if copies else ""
