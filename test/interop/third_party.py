# SPDX-License-Identifier: BSD-3-Clause
"""Passes and partitioners as somebody else writes them against the documented interface: this file imports nothing
but torch and `executorch`, and runs with any package of that name.

usage: python third_party.py result.json
"""

import json
import operator
import sys
from collections import Counter
from pathlib import Path
from typing import Any, final

import torch
from torch.export import ExportedProgram, export
from torch.fx import GraphModule, subgraph_rewriter
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.operator_support import OperatorSupportBase, any_chain

from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.canonical_partitioners.pattern_op_partitioner import (
    generate_pattern_op_partitions,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from executorch.exir.dialects._ops import bind_pattern_to_op
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes import MemoryPlanningPass

edge_aten = exir_ops.edge.aten


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("w", torch.arange(12, dtype=torch.float32).reshape(3, 4) / 7)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = torch.relu(torch.mm(x, self.w) + y)
        return torch.tanh(z * y) + torch.sigmoid(z)


X = torch.linspace(-1, 1, 6).reshape(2, 3)
Y = torch.linspace(1, -2, 8).reshape(2, 4)


# ---- An interpreter pass: one call becomes two, with meta handed on ----


class TanhBySigmoid(ExportPass):
    """tanh(x) = sigmoid(x + x) + sigmoid(x + x) - 1, without numbers: s - (1 - s) = s - sigmoid(-2x)."""

    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
        if op != edge_aten.tanh.default:
            return super().call_operator(op, args, kwargs, meta)
        doubled = super().call_operator(edge_aten.add.Tensor, (args[0], args[0]), {}, meta)
        positive = super().call_operator(edge_aten.sigmoid.default, (doubled,), {}, meta)
        negated = super().call_operator(edge_aten.neg.default, (doubled,), {}, meta)
        negative = super().call_operator(edge_aten.sigmoid.default, (negated,), {}, meta)
        return super().call_operator(edge_aten.sub.Tensor, (positive, negative), {}, meta)


# ---- A pattern rewriter with a backend operator ----

library = torch.library.Library("third_party", "DEF")


@bind_pattern_to_op(library, "add_relu(Tensor a, Tensor b) -> Tensor")
def add_relu(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.relu.default(torch.ops.aten.add.Tensor(a, b))


def chain_of(first: Any, *then: Any) -> GraphModule:
    """A graph of two inputs for the first operator, whose result goes through the others."""
    graph = torch.fx.Graph()
    value = graph.call_function(first, (graph.placeholder("a"), graph.placeholder("b")))
    for op in then:
        value = graph.call_function(op, (value,))
    graph.output(value)
    return GraphModule(torch.nn.Module(), graph)


class FuseAddRelu(ExportPass):
    def call(self, graph_module: GraphModule) -> PassResult:
        fused = exir_ops.edge.third_party.add_relu.default
        subgraph_rewriter.replace_pattern(
            graph_module, chain_of(edge_aten.add.Tensor, edge_aten.relu.default), chain_of(fused)
        )
        return super().call(graph_module)  # gives the new node its fake value


# ---- A partitioner by capability, with its backend; and one by patterns ----


@final
class ThirdPartyBackend(BackendDetails):
    """The blob tells what it was given."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        nodes = edge_program.graph.nodes
        calls = [str(node.target._op) for node in nodes if node.op == "call_function"]
        record = {
            "calls": calls,
            "inputs": len(edge_program.graph_signature.user_inputs),
            "owned": sorted(edge_program.graph_signature.buffers),
            "specs": {spec.key: spec.value.decode() for spec in compile_specs},
        }
        return PreprocessResult(processed_bytes=json.dumps(record).encode())


class Pointwise(OperatorSupportBase):
    def is_node_supported(self, submodules: Any, node: torch.fx.Node) -> bool:
        wanted = [edge_aten.mul.Tensor, edge_aten.tanh.default, edge_aten.add.Tensor]
        return node.op == "call_function" and node.target in wanted


class Products(OperatorSupportBase):
    def is_node_supported(self, submodules: Any, node: torch.fx.Node) -> bool:
        return node.op == "call_function" and node.target == edge_aten.mm.default


class ByCapability(Partitioner):
    def __init__(self) -> None:
        super().__init__()
        self.delegation_spec = DelegationSpec(
            ThirdPartyBackend.__name__, [CompileSpec("speed", b"fast")]
        )

    def propose(self, program: ExportedProgram) -> list[Any]:
        return CapabilityBasedPartitioner(
            program.graph_module,
            any_chain(Pointwise(), Products()),
            allows_single_node_partition=True,
        ).propose_partitions()

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags = {}
        for partition in self.propose(exported_program):
            tag = f"third_party_{partition.id}"
            tags[tag] = self.delegation_spec
            for node in partition.nodes:
                node.meta["delegation_tag"] = tag
        tag_constant_data(exported_program)
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)


class ByPattern(ByCapability):
    def propose(self, program: ExportedProgram) -> list[Any]:
        class Pattern(torch.nn.Module):
            def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
                return torch.relu(a + b)

        graph = to_edge(export(Pattern(), (Y, Y + 1))).exported_program().graph_module.graph
        return generate_pattern_op_partitions(
            program.graph_module, patterns=[graph], op_support=Products()
        )


# ---- A memory plan of one's own ----


class ReluElsewhere(MemoryPlanningPass):
    def run(self, graph_module: GraphModule, graph_signature: Any = None) -> PassResult:
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and node.target == torch.ops.aten.relu.out:
                node.meta["spec"].mem_id = 2
        return super().run(graph_module, graph_signature)


def calls(program: ExportedProgram) -> dict[str, int]:
    names = Counter(
        str(getattr(node.target, "_op", node.target))
        for node in program.graph.nodes
        if node.op == "call_function" and node.target is not operator.getitem
    )
    return dict(sorted(names.items()))


def transformed(one: ExportPass) -> dict[str, Any]:
    manager = to_edge(export(Net(), (X, Y))).transform([one])
    program = manager.exported_program()
    return {"calls": calls(program), "value": program.module()(X, Y).tolist()}


def lowered(partitioner: Partitioner) -> dict[str, Any]:
    manager = to_edge_transform_and_lower(export(Net(), (X, Y)), partitioner=[partitioner])
    edge = manager.exported_program()
    result = {"calls": calls(edge), "value": edge.module()(X, Y).tolist()}
    program = manager.to_executorch().executorch_program
    blobs = [bytes(each.data).decode() for each in program.backend_delegate_data]
    return {**result, "blobs": sorted(blobs)}


def planned(one: MemoryPlanningPass) -> dict[str, Any]:
    config = ExecutorchBackendConfig(memory_planning_pass=one)
    manager = to_edge(export(Net(), (X, Y))).to_executorch(config)
    sizes = manager.executorch_program.execution_plan[0].non_const_buffer_sizes
    return {"arenas": len(sizes), "of relu": sizes[2]}


RESULTS = {
    "an interpreter pass": lambda: transformed(TanhBySigmoid()),
    "a pattern rewriter": lambda: transformed(FuseAddRelu()),
    "a partitioner by capability": lambda: lowered(ByCapability()),
    "a partitioner by patterns": lambda: lowered(ByPattern()),
    "a memory plan": lambda: planned(ReluElsewhere()),
}


if __name__ == "__main__":
    results = {name: make() for name, make in RESULTS.items()}
    Path(sys.argv[1]).write_text(json.dumps(results))
