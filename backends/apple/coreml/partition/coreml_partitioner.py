# SPDX-License-Identifier: BSD-3-Clause
"""`CoreMLPartitioner`: what coremltools converts, in the largest pieces that can run in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.apple.coreml.aot import specs, states
from executorch.backends.apple.coreml.aot.compiler import COREML
from executorch.backends.apple.coreml.aot.ops import TABLE, preserved_ops
from executorch.backends.apple.coreml.compiler.coreml_preprocess import CoreMLBackend
from executorch.exir.backend._partitions import TAG, written_buffers
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner
from executorch.exir.backend.lowering.op_table import Constants
from executorch.exir.backend.lowering.user_lists import UserLists, by_operator
from executorch.exir.backend.partitioner import PartitionResult
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import data_specs, op_name


class CoreMLPartitioner(ExternalPartitioner):
    """`skip_ops_for_coreml_delegation`: operators that stay on the CPU, such as "aten.mm.default". `compile_specs`: of
    CoreMLBackend.generate_compile_specs. `take_over_mutable_buffer`: buffers that the model writes become Core ML's
    states (iOS 18), where all that reads them is in one delegate; else delegates are given them and give them back.
    `take_over_constant_data`: delegates own the weights; else they are inputs. `lower_full_graph`: what cannot be
    delegated is an error."""

    table = TABLE
    backend_id = CoreMLBackend.__name__
    compiler = COREML
    joins_all = True  # each delegate is a prediction of its own

    def __init__(
        self,
        *,
        skip_ops_for_coreml_delegation: list[str] | None = None,
        compile_specs: list[CompileSpec] | None = None,
        take_over_mutable_buffer: bool | None = True,
        lower_full_graph: bool = False,
        take_over_constant_data: bool = True,
    ) -> None:
        skipped = ("skip_ops_for_coreml_delegation", by_operator, skip_ops_for_coreml_delegation)
        super().__init__(compile_specs or [], user_lists=UserLists(blocked=[skipped]))
        self.skip_ops_for_coreml_delegation = skip_ops_for_coreml_delegation or []
        self.take_over_mutable_buffer = take_over_mutable_buffer
        self.lower_full_graph = lower_full_graph
        self.take_over_constant_data = take_over_constant_data
        self._check_arguments()

    def _check_arguments(self) -> None:
        shapes = specs.enumerated_shapes(self.delegation_spec.compile_specs)
        if not self.lower_full_graph:
            assert shapes is None, (
                "lower_full_graph must be True in the CoreMLPartitioner when using an enumerated shape compile spec"
            )
            return
        begin = "When lower_full_graph=True, you "
        assert not self.skip_ops_for_coreml_delegation, (
            f"{begin}cannot set skip_ops_for_coreml_delegation"
        )
        assert self.take_over_constant_data, f"{begin}must set take_over_constant_data=True"
        assert self.take_over_mutable_buffer, f"{begin}must set take_over_mutable_buffer=True"

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        return preserved_ops(ep, specs.min_deployment_target(self.delegation_spec.compile_specs))

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        self._states = states.possible(exported_program, self.delegation_spec.compile_specs)
        if self.take_over_mutable_buffer:
            for reason in dict.fromkeys(filter(None, self._states.values())):
                self.logger.warning("Core ML: %s", reason)
        return super().partition(exported_program)

    def analyze(self, program: ExportedProgram) -> Constants:
        self._states = states.possible(program, self.delegation_spec.compile_specs)
        return super().analyze(program)

    def owns(self, program: ExportedProgram, data: Node, inside: set[Node]) -> bool:
        if data not in self._states:
            return self.take_over_constant_data and super().owns(program, data, inside)
        if not self.take_over_mutable_buffer or self._states[data]:
            return False
        value = written_buffers(program)[data_specs(program)[data].target]
        readers = {user for user in data.users if user.op != "output"}
        return value in inside and readers <= inside

    def tag_data(self, program: ExportedProgram) -> None:
        by_tag: dict[str, set[Node]] = {}
        for node in program.graph.nodes:
            if TAG in node.meta:
                by_tag.setdefault(node.meta[TAG], set()).add(node)
        for node in data_specs(program):
            tags = [tag for tag, inside in by_tag.items() if self.owns(program, node, inside)]
            if tags:
                node.meta[TAG] = tags[0]

    def reject(self, nodes: Iterable[Node], reason: str) -> None:
        nodes = list(nodes)
        super().reject(nodes, reason)
        if self.lower_full_graph:
            raise FullGraphRefused(
                ExportErrorType.NOT_SUPPORTED,
                f"CoreML does not support the op {op_name(nodes[0])}, but you have set lower_full_graph=True in the "
                f"CoreMLPartitioner. {reason}. Without lower_full_graph, the op runs on the CPU. Node: {nodes[0].name}",
            )


class FullGraphRefused(ExportError, NotImplementedError):
    """A call that Core ML does not take, in a program of which all was to be delegated."""
