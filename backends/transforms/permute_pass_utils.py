# SPDX-License-Identifier: BSD-3-Clause
"""What passes over permutes and views share: arguments by name, dimensions, and three bases of passes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeVar

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import compute_value, finished, replace
from executorch.exir.dialects.edge._ops import EdgeOpOverload, EdgeOpOverloadPacket
from executorch.exir.graph_facts import op_name, torch_op
from executorch.exir.pass_base import ExportPass

T = TypeVar("T")


def get_edge_overload_packet(edge_op: EdgeOpOverload) -> EdgeOpOverloadPacket:
    """`exir_ops.edge.aten.add` of `exir_ops.edge.aten.add.Tensor`."""
    from executorch.exir.dialects._ops import ops as exir_ops

    library, _, name = edge_op._schema.name.partition("::")
    return getattr(getattr(exir_ops.edge, library), name)


def get_shape(graph_module: GraphModule, node: Node) -> torch.Size | None:
    """Sizes of a node's value, also of a tensor that the module holds; None when it has none."""
    value = node.meta.get("val")
    if value is None and node.op == "get_attr":
        value = getattr(graph_module, node.target, None)
    return getattr(value, "shape", None)


def get_transposed_dims(node: Node, dims: list[int] | None = None) -> list[int]:
    """`dims` (those of the value when None) as a transpose_copy orders them."""
    rank = node.meta["val"].dim()
    result = list(range(rank)) if dims is None else list(dims)
    first, second = node.args[1] % rank, node.args[2] % rank
    result[first], result[second] = result[second], result[first]
    return result


def get_permuted_dims(node: Node, dims: list[int] | None = None) -> list[int]:
    """`dims` (those of the value when None) as a permute_copy orders them."""
    rank = node.meta["val"].dim()
    source = list(range(rank)) if dims is None else list(dims)
    return [source[dim % rank] for dim in node.args[1]]


def permutation_of(node: Node) -> list[int] | None:
    """The order that a permute or transpose makes of dimensions; None for anything else."""
    if op_name(node) in ("aten.permute_copy.default", "aten.permute.default"):
        return get_permuted_dims(node)
    if op_name(node) in ("aten.transpose_copy.int", "aten.transpose.int"):
        return get_transposed_dims(node)
    return None


def _schema_argument(node: Node, name: str) -> tuple[int, Any]:
    arguments = torch_op(node.target)._schema.arguments
    for place, argument in enumerate(arguments):
        if argument.name == name:
            return place, argument
    known = ", ".join(argument.name for argument in arguments)
    raise ValueError(f"{node.target} has no argument {name!r}; it has {known}")


def get_arg(node: Node, kwarg_name: str, expected_type: type[T] = object) -> T:
    """The argument of that name in the schema, wherever it stands, or its default."""
    place, argument = _schema_argument(node, kwarg_name)
    if kwarg_name in node.kwargs:
        value = node.kwargs[kwarg_name]
    elif place < len(node.args) and not argument.kwarg_only:
        value = node.args[place]
    elif argument.has_default_value():
        value = argument.default_value
    else:
        raise ValueError(f"{node.name} has no value for {kwarg_name!r}, which has no default")
    if (
        expected_type is not object
        and isinstance(expected_type, type)
        and not isinstance(value, expected_type)
    ):
        raise TypeError(
            f"{kwarg_name} of {node.name} is {value!r}; expected {expected_type.__name__}"
        )
    return value


def set_arg(node: Node, kwarg_name: str, value: Any) -> None:
    """Sets the argument of that name in the schema, where it stands."""
    place, argument = _schema_argument(node, kwarg_name)
    if place < len(node.args) and not argument.kwarg_only:
        node.update_arg(place, value)
    else:
        node.update_kwarg(kwarg_name, value)


class HierarchicalInplacePassInterface(ExportPass):
    """Edits the graph and the graphs of branches and loops in place, in `_apply_flat_inplace`."""

    @abstractmethod
    def _apply_flat_inplace(self, graph_module: GraphModule) -> bool:
        """Of one graph; whether it changed."""

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for module in graph_module.modules():
            if isinstance(module, GraphModule) and self._apply_flat_inplace(module):
                finished(module, True)
                modified = True
        return PassResult(graph_module, modified)


class RemoveOrReplacePassInterface(HierarchicalInplacePassInterface):
    """Looks at every call of `targets` once."""

    @property
    @abstractmethod
    def targets(self) -> list[EdgeOpOverload]:
        """Operators."""

    @abstractmethod
    def maybe_remove_or_replace(self, node: Node) -> bool:
        """Changes the graph around `node`, or not; whether it did."""

    def _apply_flat_inplace(self, graph_module: GraphModule) -> bool:
        changed = False
        for node in list(graph_module.graph.nodes):
            if node.op == "call_function" and node.target in self.targets and node.users:
                changed |= self.maybe_remove_or_replace(node)
        return changed


class FuseOpPairsAcrossBranchesPass(ExportPass):
    """Takes pairs of calls away that undo each other, with calls between that do not mind, on all branches."""

    def check_ok_to_fuse(self, producer: Node, consumers: list[Node]) -> bool:
        """Whether `producer` and all its `consumers` may go."""
        return bool(consumers)

    def can_fuse_for_chain(
        self, producer: Node, consumer: Node, consumer_op_packets: set[EdgeOpOverloadPacket]
    ) -> bool:
        is_edge = isinstance(consumer.target, EdgeOpOverload)
        return is_edge and get_edge_overload_packet(consumer.target) in consumer_op_packets

    def get_fuse_candidates(
        self,
        producer: Node,
        consumer_op_packets: set[EdgeOpOverloadPacket],
        bypass_ops: set[EdgeOpOverload],
    ) -> list[Node]:
        """The consumers at the end of all branches; none when a branch ends otherwise."""
        found, open_nodes = [], list(producer.users)
        while open_nodes:
            user = open_nodes.pop(0)
            if user.op == "call_function" and user.target in bypass_ops:
                open_nodes += user.users
            elif self.can_fuse_for_chain(producer, user, consumer_op_packets):
                found.append(user)
            else:
                return []
        return found

    def find_and_fuse(
        self,
        graph_module: GraphModule,
        producer_op_packets: set[EdgeOpOverloadPacket],
        consumer_op_packets: set[EdgeOpOverloadPacket],
        bypass_ops: set[EdgeOpOverload],
    ) -> bool:
        modified = False
        for node in list(graph_module.graph.nodes):
            if not isinstance(node.target, EdgeOpOverload) or not node.users:
                continue
            if get_edge_overload_packet(node.target) not in producer_op_packets:
                continue
            consumers = self.get_fuse_candidates(node, consumer_op_packets, bypass_ops)
            if consumers and self.check_ok_to_fuse(node, consumers):
                self.fuse(node, consumers, graph_module)
                modified = True
        if modified:
            finished(graph_module, True)
        return modified

    def get_fused_node(self, producer: Node, consumer: Node, graph_module: GraphModule) -> Node:
        """What is read instead of `consumer`; what it reads, unless a subclass says otherwise."""
        return consumer.args[0]

    def fuse(self, node: Node, removal_candidates: list[Node], graph_module: GraphModule) -> None:
        between = _between(node, removal_candidates)
        replace(node, node.args[0])
        for each in between:
            compute_value(each)
        for consumer in removal_candidates:
            replace(consumer, self.get_fused_node(node, consumer, graph_module))


def _between(producer: Node, consumers: list[Node]) -> list[Node]:
    found, open_nodes = [], list(producer.users)
    while open_nodes:
        user = open_nodes.pop(0)
        if user not in consumers and user not in found:
            found.append(user)
            open_nodes += user.users
    return found
