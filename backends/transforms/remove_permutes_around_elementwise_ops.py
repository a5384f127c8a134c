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

from executorch.backends.transforms import unit_dims
from executorch.backends.transforms.edits import (
    call_before,
    compute_value,
    finished,
    in_dialect_of,
    is_constant,
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
        _ATEN.view_copy.default, _ATEN.unsqueeze_copy.default, _ATEN.squeeze_copy.dim,
        _QD.quantize_per_tensor.default, _QD.dequantize_per_tensor.default,
    }
)  # fmt: skip
_REDUCTIONS = ("aten.mean.dim", "aten.sum.dim_IntList")


class RemovePermutesAroundElementwiseOps(ExportPass):
    """Dimensions named by cat, slice_copy and reductions become those before the permute; constants that calls of a
    group read are permuted back, which is done once, when constants are folded. Views in a group may add and drop
    dimensions of size 1."""

    @dataclass
    class Subgraph:
        """Calls that work in the permuted order, what they read in it, and the permutes around them."""

        start_permute: list[int]
        nodes: set[Node] = field(default_factory=set)
        entries: set[Node] = field(default_factory=set)
        exits: set[Node] = field(default_factory=set)
        constants: set[tuple[Node, Node]] = field(default_factory=set)  # (constant, its reader)
        # The order of dimensions of what a call reads, and of its value: each one's place if nothing were permuted.
        read: dict[Node, list[int]] = field(default_factory=dict)
        made: dict[Node, list[int]] = field(default_factory=dict)

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

    def visit(
        self, node: Node, subgraph: Subgraph, processed_nodes: set[Node],
        current_end_permute: list[int] | None = None, current_start_permute: list[int] | None = None,
    ) -> bool:  # fmt: skip
        """Adds `node` and all that hangs together with it; False when that is not closed by permutes. `node` reads
        values in the order `current_start_permute`, the subgraph's if None; what is given of ends must undo it."""
        start = current_start_permute or subgraph.start_permute
        if current_end_permute and [start[dim] for dim in current_end_permute] != sorted(start):
            return False
        open_nodes = [(node, start, True)]
        while open_nodes:
            one, order, is_read = open_nodes.pop()
            if one in subgraph.nodes:
                known = subgraph.read if is_read else subgraph.made
                good = known[one] == order
            else:
                good = one not in processed_nodes and self._add(one, order, is_read, subgraph)
                processed_nodes |= subgraph.nodes & {one}
                good = good and self._look_around(one, subgraph, open_nodes)
            if not good:
                return False
        return not unit_dims.grows_unit_dim(subgraph.nodes)

    def _add(self, node: Node, order: list[int], is_read: bool, subgraph: Subgraph) -> bool:
        """Finds the orders on both sides of a call."""
        if not self.is_node_permutable(node):
            return False
        other: list[int] | None = order
        is_view = op_name(node) in unit_dims.VIEWS
        if is_view:
            dims = unit_dims.dims_through_call(node, backwards=not is_read)
            other = None if dims is None else unit_dims.order_behind_view(order, dims)
        rank = len(shape_of(node.args[0] if is_view and is_read else node))
        if other is None or len(order) != rank:
            return False
        subgraph.nodes.add(node)
        subgraph.read[node], subgraph.made[node] = (order, other) if is_read else (other, order)
        return True

    def _look_around(
        self, node: Node, subgraph: Subgraph, open_nodes: list[tuple[Node, list[int], bool]]
    ) -> bool:
        made, read = subgraph.made[node], subgraph.read[node]
        for user in node.users:
            if unit_dims.restores_order(self.get_permutation(user), made, shape_of(node)):
                subgraph.exits.add(user)
            else:
                open_nodes.append((user, made, True))
        for source in node.all_input_nodes:
            if self.get_permutation(source) == read:
                subgraph.entries.add(source)
            elif is_constant(source):
                subgraph.constants.add((source, node))
                if len(shape_of(source)) not in (0, len(read)):
                    return False
            elif isinstance(source.meta["val"], torch.Tensor):  # no size that a view asks for
                open_nodes.append((source, read, False))
        return True

    def is_node_permutable(self, node: Node) -> bool:
        if node.op != "call_function" or node.target not in self.permutable_ops:
            return False
        return op_name(node) not in _REDUCTIONS or (
            bool(get_arg(node, "keepdim")) and bool(get_arg(node, "dim"))
        )

    def permute_subgraph(self, subgraph: Subgraph) -> bool:
        for constant, reader in subgraph.constants:
            order = subgraph.read[reader]
            if len(shape_of(constant)) == len(order):
                back = [order.index(dim) for dim in range(len(order))]
                permute = in_dialect_of(reader, torch.ops.aten.permute_copy.default)
                made = call_before(reader, permute, (constant, back))
                reader.replace_input_with(constant, made)
        for node in (n for n in next(iter(subgraph.nodes)).graph.nodes if n in subgraph.nodes):
            for entry in subgraph.entries & set(node.all_input_nodes):
                node.replace_input_with(entry, entry.args[0])
            name = op_name(node)
            if name in _UPDATES:
                order = (subgraph.made if name in _OF_RESULT else subgraph.read)[node]
                _UPDATES[name](self, node, order)
            compute_value(node)
        for leaving in subgraph.exits:
            source = leaving.args[0]
            if not unit_dims.same_sizes(shape_of(source), shape_of(leaving)):
                view = in_dialect_of(leaving, torch.ops.aten.view_copy.default)
                source = call_before(
                    leaving, view, (source, unit_dims.sizes_for_view(shape_of(leaving)))
                )
            replace(leaving, source)
        return True

    def update_cat(self, node: Node, start_permute: list[int]) -> None:
        set_arg(node, "dim", start_permute[get_arg(node, "dim")])

    def update_mean_dim(self, node: Node, start_permute: list[int]) -> None:
        set_arg(node, "dim", [start_permute[dim] for dim in get_arg(node, "dim")])

    def update_slice_copy(self, node: Node, start_permute: list[int]) -> None:
        set_arg(node, "dim", start_permute[get_arg(node, "dim")])

    def update_view_copy(self, node: Node, start_permute: list[int]) -> None:
        """`start_permute`: the order of the value. Sizes may be nodes."""
        sizes = get_arg(node, "size")
        places = (start_permute.index(dim) for dim in range(len(sizes)))
        set_arg(node, "size", [sizes[place] for place in places])

    def get_permutation(self, permute_node: Node) -> list[int] | None:
        """Of a permute_copy; None for anything else."""
        name = op_name(permute_node)
        return permutation_of(permute_node) if name == "aten.permute_copy.default" else None


_Pass = RemovePermutesAroundElementwiseOps
_UPDATES: dict[str, Callable[[_Pass, Node, list[int]], None]] = {
    "aten.cat.default": _Pass.update_cat,
    **dict.fromkeys(
        ("aten.slice_copy.Tensor", "aten.squeeze_copy.dim", "aten.unsqueeze_copy.default"),
        _Pass.update_slice_copy,
    ),
    **dict.fromkeys(_REDUCTIONS, _Pass.update_mean_dim),
    "aten.view_copy.default": _Pass.update_view_copy,
}
_OF_RESULT = ("aten.view_copy.default", "aten.unsqueeze_copy.default")  # name its dimensions
