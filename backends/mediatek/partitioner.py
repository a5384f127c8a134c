# SPDX-License-Identifier: BSD-3-Clause
"""`NeuropilotPartitioner`: what MediaTek's converter says that it takes, in the largest pieces that its compiler does
not refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.nn import Module

from executorch.backends.mediatek.compiler import (
    COMPILER,
    check_specs,
    is_supported,
)
from executorch.backends.mediatek.preprocess import NeuropilotBackend
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner
from executorch.exir.backend.lowering.op_table import CONTIGUOUS, STATIC, Constants, OpTable, Row
from executorch.exir.backend.lowering.user_lists import UserLists, by_node, by_operator
from executorch.exir.backend.partitioner import PartitionResult
from executorch.exir.graph_facts import called_op, op_name
from executorch.exir.retrace.undelegated import decompose_calls

_aten = torch.ops.aten
_LINEAR = _aten.linear.default
_CAST = "aten._to_copy.default"


class _Asked(OpTable[Row]):
    """Has no rows: the converter is asked."""

    def why_not(self, node: Node, constants: Constants) -> str:
        is_taken = op_name(node) != _CAST and is_supported(node)
        return self.tensors_why_not(node) or (
            "" if is_taken else "MediaTek's converter does not take it"
        )


def _skipped(types: Iterable[str] | None, names: Iterable[str] | None) -> UserLists:
    lists = [("op_types_to_skip", by_operator, types), ("op_names_to_skip", by_node, names)]
    return UserLists(blocked=lists)


class NeuropilotOperatorsSupport(OperatorSupportBase):
    """Whether a call is taken, for torch's partitioners, which ask of one at a time."""

    def __init__(
        self, op_types_to_skip: set | None = None, op_names_to_skip: set | None = None
    ) -> None:
        self._lists = _skipped(op_types_to_skip, op_names_to_skip)

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        is_call = node.op == "call_function" and not self._lists.why_not(node)
        return is_call and not NeuropilotPartitioner.table.why_not(node, ())


class NeuropilotPartitioner(ExternalPartitioner):
    """`op_types_to_skip`: operators, such as "aten.relu.default", and `op_names_to_skip`: names of nodes, that stay on
    the CPU. Compile specs: "platform-config", a platform, and what the compiler is told beside it. Sizes that vary stay
    there, too: a compiled model has those that it was compiled for, and its runtime fills up what is smaller."""

    table = _Asked({}, of_tensors=(STATIC, CONTIGUOUS))
    backend_id = NeuropilotBackend.__name__
    compiler = COMPILER
    joins_all = True

    def __init__(
        self,
        compile_spec: Sequence[CompileSpec],
        op_types_to_skip: set | None = None,
        op_names_to_skip: set | None = None,
    ) -> None:
        super().__init__(compile_spec, user_lists=_skipped(op_types_to_skip, op_names_to_skip))

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        resizes = _aten.upsample_bilinear2d, _aten.upsample_nearest2d
        kept = [form for each in resizes for form in (each.default, each.vec)]
        return [_aten.pixel_shuffle.default, *kept, _aten._safe_softmax.default], None

    def prepare(self, exported_program: ExportedProgram) -> None:
        """A converter that knows no linear layers may know what they are decomposed into."""
        self.compiler.require()
        calls = exported_program.graph.nodes
        layers = [node for node in calls if called_op(node) is _LINEAR]
        if not all(map(is_supported, layers)):
            module = exported_program.graph_module
            decompose_calls(exported_program, module, {_LINEAR}, decompose=frozenset({_LINEAR}))
        super().prepare(exported_program)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        check_specs(self.delegation_spec.compile_specs)
        return super().partition(exported_program)

    def analyze(self, program: ExportedProgram) -> Constants:
        """Each call is asked for."""
        self.compiler.require()
        return super().analyze(program)


def default_partitioner() -> NeuropilotPartitioner:
    """For Dimensity 9300."""
    return NeuropilotPartitioner([CompileSpec("platform-config", b"mt6989")])
