# SPDX-License-Identifier: BSD-3-Clause
"""Partitioners of a few lines each: by operator, all nodes, with data, and whole operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase, any_chain, chain

from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.test.backend_with_compiler_demo import BackendWithCompilerDemo, why_not
from executorch.exir.backend.test.executor_backend import ExecutorBackend
from executorch.exir.backend.utils import tag_constant_data
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_module import get_control_flow_submodules


class _Targets(OperatorSupportBase):
    targets: tuple = ()

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function" and node.target in self.targets


class AddOperatorSupport(_Targets):
    targets = (ops.edge.aten.add.Tensor,)


class MatmulOperatorSupport(_Targets):
    targets = (ops.edge.aten.mm.default,)


class CompilerDemoSupport(OperatorSupportBase):
    """What BackendWithCompilerDemo compiles."""

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function" and not why_not(node)


class AllOperatorSupport(OperatorSupportBase):
    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function"


def _tag(
    module: GraphModule, support: OperatorSupportBase, spec: DelegationSpec, first: int = 0
) -> dict[str, DelegationSpec]:
    """Tags the largest groups of supported nodes in `module` and its branches."""
    tags = {}
    proposed = CapabilityBasedPartitioner(
        module, support, allows_single_node_partition=True
    ).propose_partitions()
    for number, partition in enumerate(proposed, first):
        tag = f"tag{number}"
        tags[tag] = spec
        for node in partition.nodes:
            node.meta["delegation_tag"] = tag
    for _, child, _ in get_control_flow_submodules(module):
        tags |= _tag(child, support, spec, first + len(tags))
    return tags


class AddMulPartitionerDemo(Partitioner):
    """Additions and matmuls that it takes, in branches, too, go to BackendWithCompilerDemo."""

    def __init__(self) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(
            BackendWithCompilerDemo.__name__, [CompileSpec("max_value", bytes([4]))]
        )

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        wanted = any_chain(AddOperatorSupport(), MatmulOperatorSupport())
        support = chain(wanted, CompilerDemoSupport())
        tags = _tag(exported_program.graph_module, support, self.delegation_spec)
        return PartitionResult(exported_program, tags)


class AddAttributePartitionerDemo(Partitioner):
    """Additions together with the data they read."""

    def __init__(self) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(ExecutorBackend.__name__, [])

    def partition(self, edge_exported_program: ExportedProgram) -> PartitionResult:
        tags = _tag(edge_exported_program.graph_module, AddOperatorSupport(), self.delegation_spec)
        tag_constant_data(edge_exported_program)
        return PartitionResult(edge_exported_program, tags)


class AllNodesPartitionerDemo(Partitioner):
    """Everything, data included, as one delegate."""

    def __init__(self) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(ExecutorBackend.__name__, [])

    def partition(self, edge_exported_program: ExportedProgram) -> PartitionResult:
        tags = _tag(edge_exported_program.graph_module, AllOperatorSupport(), self.delegation_spec)
        tag_constant_data(edge_exported_program)
        return PartitionResult(edge_exported_program, tags)


class NonDecompTestPartitioner(Partitioner):
    """Linear and attention as whole operators, one delegate per node."""

    def __init__(self) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(ExecutorBackend.__name__, [])
        self.wanted = [
            torch.ops.aten.linear.default,
            torch.ops.aten.scaled_dot_product_attention.default,
        ]

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        """A linear only with a bias; attention always."""

        def accepts(node: Node) -> bool:
            return node.target is not torch.ops.aten.linear.default or len(node.args) == 3

        return self.wanted, accepts

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags = {}
        for node in exported_program.graph.nodes:
            if node.op == "call_function" and getattr(node.target, "_op", None) in self.wanted:
                tag = f"tag{len(tags)}"
                node.meta["delegation_tag"] = tag
                tags[tag] = self.delegation_spec
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)
