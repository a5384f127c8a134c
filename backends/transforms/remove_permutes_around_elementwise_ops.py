# SPDX-License-Identifier: BSD-3-Clause
"""Removes permutes that a group of calls has at all its inputs, and their inverses at all its outputs.

before: permute_copy(mul(permute_copy(%x, [0, 2, 3, 1]), %s), [0, 3, 1, 2])      after: mul(%x, %s)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import (
    call_before,
    compute_value,
    finished,
    in_dialect_of,
    replace,
    shape_of,
)
from executorch.backends.transforms.permute_pass_utils import get_arg, permutation_of, set_arg
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass

_ATEN, _QD = exir_ops.edge.aten, exir_ops.edge.quantized_decomposed
_PERMUTABLE = frozenset(
    {
        _ATEN.add.Tensor, _ATEN.mul.Tensor, _ATEN.sub.Tensor, _ATEN.hardtanh.default, _ATEN.clamp.default,
        _ATEN.cat.default, _ATEN.mean.dim, _ATEN.sum.dim_IntList, _ATEN.slice_copy.Tensor,
        _QD.quantize_per_tensor.default, _QD.dequantize_per_tensor.default,
    }
)  # fmt: skip
_REDUCTIONS = ("aten.mean.dim", "aten.sum.dim_IntList")


class RemovePermutesAroundElementwiseOps(ExportPass):
    """Dimensions named by cat, slice_copy and reductions become those before the permute; constants that calls of a
    group read are permuted back, which is done once, when constants are folded."""

    @dataclass
    class Subgraph:
        """Calls that work in the permuted order, what they read in it, and the permutes around them."""

        start_permute: list[int]
        nodes: set[Node] = field(default_factory=set)
        entries: set[Node] = field(default_factory=set)
        exits: set[Node] = field(default_factory=set)
        constants: set[tuple[Node, Node]] = field(default_factory=set)  # (constant, its reader)

    def __init__(self, extra_permutable_ops: set[EdgeOpOverload] | None = None) -> None:
        super().__init__()
        self.permutable_ops = _PERMUTABLE | (extra_permutable_ops or set())

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        seen: set[Node] = set()
        for node in list(graph_module.graph.nodes):
            permutation = self.get_permutation(node)
            if permutation is None or node in seen:
                continue
            for user in list(node.users):
                subgraph = self.Subgraph(permutation)
                if user not in seen and self.visit(user, subgraph, seen) and subgraph.exits:
                    modified = self.permute_subgraph(subgraph) or modified
        return finished(graph_module, modified)

    def visit(self, node: Node, subgraph: Subgraph, processed_nodes: set[Node]) -> bool:
        """Adds `node` and all that hangs together with it; False when that is not closed by permutes."""
        if node in subgraph.nodes:
            return True
        if node in processed_nodes or not self.is_node_permutable(node):
            return False
        subgraph.nodes.add(node)
        processed_nodes.add(node)
        back = [subgraph.start_permute.index(dim) for dim in range(len(subgraph.start_permute))]
        good = len(shape_of(node)) == len(back)
        for user in node.users:
            if self.get_permutation(user) == back:
                subgraph.exits.add(user)
            else:
                good = self.visit(user, subgraph, processed_nodes) and good
        for source in node.all_input_nodes:
            if self.get_permutation(source) == subgraph.start_permute:
                subgraph.entries.add(source)
            elif _is_constant(source):
                good = good and len(shape_of(source)) in (0, len(back))
                subgraph.constants.add((source, node))
            else:
                good = self.visit(source, subgraph, processed_nodes) and good
        return good

    def is_node_permutable(self, node: Node) -> bool:
        if node.op != "call_function" or node.target not in self.permutable_ops:
            return False
        return op_name(node) not in _REDUCTIONS or (
            bool(get_arg(node, "keepdim")) and bool(get_arg(node, "dim"))
        )

    def permute_subgraph(self, subgraph: Subgraph) -> bool:
        start = subgraph.start_permute
        back = [start.index(dim) for dim in range(len(start))]
        for constant, reader in subgraph.constants:
            if len(shape_of(constant)) == len(back):
                permute = in_dialect_of(reader, torch.ops.aten.permute_copy.default)
                made = call_before(reader, permute, (constant, back))
                reader.replace_input_with(constant, made)
        for node in (n for n in next(iter(subgraph.nodes)).graph.nodes if n in subgraph.nodes):
            for entry in subgraph.entries & set(node.all_input_nodes):
                node.replace_input_with(entry, entry.args[0])
            update = _UPDATES.get(op_name(node))
            if update is not None:
                update(self, node, start)
            compute_value(node)
        for leaving in subgraph.exits:
            replace(leaving, leaving.args[0])
        return True

    def update_cat(self, node: Node, start_permute: list[int]) -> None:
        set_arg(node, "dim", start_permute[get_arg(node, "dim")])

    def update_mean_dim(self, node: Node, start_permute: list[int]) -> None:
        set_arg(node, "dim", [start_permute[dim] for dim in get_arg(node, "dim")])

    def update_slice_copy(self, node: Node, start_permute: list[int]) -> None:
        set_arg(node, "dim", start_permute[get_arg(node, "dim")])

    def get_permutation(self, permute_node: Node) -> list[int] | None:
        """Of a permute_copy; None for anything else."""
        is_permute = op_name(permute_node) == "aten.permute_copy.default"
        return permutation_of(permute_node) if is_permute else None


_UPDATES: dict[str, Callable[[RemovePermutesAroundElementwiseOps, Node, list[int]], None]] = {
    "aten.cat.default": RemovePermutesAroundElementwiseOps.update_cat,
    "aten.slice_copy.Tensor": RemovePermutesAroundElementwiseOps.update_slice_copy,
    **dict.fromkeys(_REDUCTIONS, RemovePermutesAroundElementwiseOps.update_mean_dim),
}


def _is_constant(node: Node) -> bool:
    """Data of the program, or a full tensor: nothing that is computed."""
    names = ("p_", "b_", "c_", "_lifted_tensor_constant")
    is_data = node.op == "placeholder" and node.name.startswith(names)
    return node.op == "get_attr" or is_data or op_name(node) == "aten.full.default"
