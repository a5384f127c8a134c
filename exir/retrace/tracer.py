# SPDX-License-Identifier: BSD-3-Clause
"""Walks a torch.export graph once and writes the functional edge graph: decomposed operators, no writes, no
views. What the walk does not model (writes through views, unusual higher-order operators) raises NeedsFullTrace;
the caller then lets torch functionalise the program first."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule, Node

from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.graph_module import graph_places, is_loop
from executorch.exir.operator.custom_writes import (
    AUTO_FUNCTIONALIZED,
    bound_arguments,
    functional_arguments,
    writes_beside_results,
    written_arguments,
)
from executorch.exir.retrace.builder import DebugHandles, EdgeGraphBuilder
from executorch.exir.retrace.op_rules import OpRules, Rule, functional_form, is_view
from executorch.exir.retrace.template import AliasesUnknown, NeedsFullTrace, Template, map_values
from executorch.exir.sym_util import surely_equal
from executorch.exir.tensor import dim_order_of

aten = torch.ops.aten
_HOP = torch._ops.HigherOrderOperator
_SYM_TYPES = (torch.SymInt, torch.SymFloat, torch.SymBool)
Env = dict[Node, Any]


@dataclass
class TraceOptions:
    """What a whole call of to_edge shares."""

    fake_mode: FakeTensorMode
    rules: OpRules
    skip_dim_order: bool = False
    keep: Callable[[Node], bool] = lambda node: (
        False
    )  # nodes that stay whole whatever the tables say
    templates: dict[Any, Template] = field(default_factory=dict)
    debug_handles: DebugHandles = field(default_factory=DebugHandles)
    is_last_attempt: bool = (
        False  # keep what cannot be modelled, for a backend or for the lowering diagnostics
    )


class GraphTracer:
    """Traces one graph (a method, or a branch of one) into a new graph."""

    def __init__(
        self,
        options: TraceOptions,
        graph: Graph | None = None,
        lift_scalar: Callable[..., Node] | None = None,
    ) -> None:
        self._options = options
        self.graph = graph if graph is not None else Graph()
        self.submodules: dict[str, GraphModule] = {}
        self.written: dict[Node, Node] = {}  # source placeholder -> node of its new value
        self._builder = EdgeGraphBuilder(
            self.graph,
            options.fake_mode,
            options.rules,
            options.templates,
            lift_scalar,
            options.skip_dim_order,
            options.debug_handles,
        )
        self._branches = 0
        self._order: dict[Node, int] = {}
        self._by_storage: dict[Any, list[Node]] = defaultdict(list)

    def placeholder(self, source: Node) -> Node:
        node = self.graph.placeholder(source.name)
        node.meta = dict(source.meta)
        self._builder.symbols.observe(node, node.meta.get("val"))
        return node

    def run(self, source: GraphModule, env: Env) -> Any:
        """Traces all calls of `source`; `env` holds its placeholders' values. Returns the output's values."""
        for place, node in enumerate(source.graph.nodes):
            self._order[node] = place
        for node in env:
            self._note_storage(node)
        for node in source.graph.nodes:
            if node.op == "output":
                return map_values(node.args[0], Node, env.__getitem__)
            if node.op == "call_function":
                env[node] = self._call(node, source, env)
                self._note_storage(node)
            elif node.op == "get_attr":
                env[node] = node
            elif node.op != "placeholder":
                raise NeedsFullTrace(f"a {node.op} node")
        return None

    def _call(self, node: Node, source: GraphModule, env: Env) -> Any:
        target = node.target
        if target is operator.getitem:
            return env[node.args[0]][node.args[1]]
        value = node.meta.get("val")
        if isinstance(value, _SYM_TYPES) and not isinstance(target, _HOP):
            return self._scalar(node, env)
        if isinstance(target, torch._ops.OpOverload):
            return self._operator(node, env)
        if isinstance(target, _HOP):
            return self._higher_order(node, source, env)
        raise NeedsFullTrace(f"call of {target}")

    def _scalar(self, node: Node, env: Env) -> Any:
        """Arithmetic on sizes is written again where it is used; only what reads data is a node of its own."""
        args = map_values(node.args, Node, env.__getitem__)
        if node.target in (aten.item.default, aten._local_scalar_dense.default):
            self._builder.inherit(node)
            target = aten._local_scalar_dense.default
            return self._builder.append(target, args, {}, node.meta["val"])
        if isinstance(node.meta["val"], torch.SymBool) or not _is_known_arithmetic(node.target):
            self._builder.inherit(node)
            return self._builder.append(node.target, args, {}, node.meta["val"])
        return self._builder.symbols.node_for(node.meta["val"])

    def _operator(self, node: Node, env: Env) -> Any:
        self._builder.inherit(node)
        op = node.target
        whole = self._options.keep(node)
        rule = Rule.LEAF if whole else self._options.rules.of(op)
        if rule is Rule.DROP:
            return None
        args = map_values(node.args, Node, env.__getitem__)
        kwargs = {k: map_values(v, Node, env.__getitem__) for k, v in node.kwargs.items()}
        if rule is Rule.MUTATE:
            return self._mutation(node, args, kwargs, env)
        if rule is Rule.LEAF and _has_new_symbols(node):
            return self._builder.leaf(op, args, kwargs, node.meta["val"])
        is_row = op is aten.linear.default and args[0].meta["val"].dim() == 1
        if is_row and rule is Rule.LEAF:
            return self._linear_of_a_row(args)
        if op is aten.batch_norm.default and args[5]:
            raise NeedsFullTrace("batch_norm in training mode writes its running statistics")
        result = self._builder.call(op, args, kwargs, whole)
        if _has_new_symbols(node):
            self._builder.name_sizes(result, node.meta["val"])
        return result

    def _linear_of_a_row(self, args: tuple[Any, ...]) -> Node:
        """Upstream's kernel takes matrices only."""
        call = self._builder.call
        row = call(aten.unsqueeze.default, (args[0], 0), {}, False)
        result = call(aten.linear.default, (row, *args[1:]), {}, True)
        return call(aten.squeeze.dim, (result, 0), {}, False)

    def _mutation(self, node: Node, args: Any, kwargs: dict[str, Any], env: Env) -> Any:
        """x.add_(y): computes add(x, y); from here on every name of x's memory means the new value."""
        if writes_beside_results(node.target):
            return self._write_beside_results(node, args, kwargs, env)
        functional = functional_form(node.target)
        target = node.args[0] if node.args else None
        if functional is None or not isinstance(target, Node):
            raise NeedsFullTrace(f"{node.target} has no functional form")
        _check_aliases_are_known(node, target)
        names = self._names_of_written(target, node)
        result = self._builder.call(functional, args, kwargs, False)
        before = target.meta["val"]
        if result.meta["val"].shape != before.shape:
            result = self._builder.call(
                aten.expand.default, (result, list(before.shape)), {}, False
            )
        if result.meta["val"].dtype != before.dtype:
            dtype = {"dtype": before.dtype}
            result = self._builder.call(aten._to_copy.default, (result,), dtype, False)
        self._rename(names, result, env)
        return result

    def _rename(self, names: list[Node], value: Node, env: Env) -> None:
        for name in names:
            env[name] = value
            if name.op == "placeholder":
                self.written[name] = value

    def _write_beside_results(self, node: Node, args: Any, kwargs: dict[str, Any], env: Env) -> Any:
        """update_cache(x, cache): a call that also yields the new value, which all names of cache mean from then on."""
        op, returned = node.target, node.meta["val"]
        sources = bound_arguments(op, node.args, node.kwargs)
        written = [sources[name] for name in written_arguments(op)]
        if len({_storage(target) for target in written}) < len(written):
            raise NeedsFullTrace(f"{node} writes one tensor as several arguments")
        names = []
        for target in written:
            if _hides_its_base(target):
                raise AliasesUnknown("the program's fake values do not show views")
            names.append(self._names_of_written(target, node))
        results = list(returned) if isinstance(returned, list | tuple) else [returned]
        results = results[: len(op._schema.returns)]
        with self._options.fake_mode:
            values = (*results, *(torch.empty_like(target.meta["val"]) for target in written))
        arguments = functional_arguments(op, bound_arguments(op, args, kwargs))
        items = self._items(AUTO_FUNCTIONALIZED, (op,), arguments, values)
        for group, value in zip(names, items[len(results) :], strict=True):
            self._rename(group, value, env)
        return items[0] if len(results) == 1 else items[: len(results)]

    def _names_of_written(self, target: Node, at: Node) -> list[Node]:
        """All nodes that show exactly the memory of `target`; refuses when others still look at parts of it."""
        names = []
        for other in self._by_storage[_storage(target)]:
            if _same_geometry(other.meta["val"], target.meta["val"]):
                names.append(other)
            elif other.op == "placeholder" or self._is_used_after(other, at):
                raise NeedsFullTrace(f"{at} writes memory that {other} shows in another shape")
        return names

    def _is_used_after(self, node: Node, at: Node) -> bool:
        now = self._order[at]
        return any(self._order.get(user, now + 1) > now for user in node.users)

    def _note_storage(self, node: Node) -> None:
        if _is_tensor(node):
            self._by_storage[_storage(node)].append(node)

    def own_copy(self, node: Node, origin: Any = None) -> Node:
        """A copy of `node`'s value in memory of its own. `origin`: the node of the source that it stands for."""
        value = node.meta["val"]
        if self._options.skip_dim_order:
            is_clone = isinstance(origin, Node) and origin.target is aten.clone.default
            op, kwargs = aten.clone.default, dict(origin.kwargs) if is_clone else {}
        else:
            op = torch.ops.dim_order_ops._clone_dim_order.default
            kwargs = {"dim_order": list(dim_order_of(value))}
        return self._builder.append(edge_op_of(op), (node,), kwargs, value)

    def _higher_order(self, node: Node, source: GraphModule, env: Env) -> Any:
        name = node.target.name()
        if name == "wrap_with_set_grad_enabled":
            return self._inline(node, source, env, node.args[1], node.args[2:])
        if name == "cond":
            return self._cond(node, source, env)
        if is_loop(node):
            return self._loop(node, source, env)
        if name == "executorch_call_delegate":
            return self._delegate(node, source, env)
        if self._options.is_last_attempt:
            return self._whole(node, source, env)
        raise NeedsFullTrace(f"higher-order operator {name}")

    def _inline(
        self, node: Node, source: GraphModule, env: Env, module: Node, operands: Any
    ) -> Any:
        body = getattr(source, module.target)
        inner: Env = {}
        placeholders = [n for n in body.graph.nodes if n.op == "placeholder"]
        for formal, actual in zip(placeholders, operands, strict=True):
            inner[formal] = env[actual] if isinstance(actual, Node) else actual
        if any(_writes(n) for n in body.graph.nodes):
            raise NeedsFullTrace("a write inside a no_grad block")
        return self.run(body, inner)

    def _cond(self, node: Node, source: GraphModule, env: Env) -> Any:
        predicate, true_branch, false_branch, operands = node.args
        self._builder.inherit(node)
        branches = [self._branch(source, branch) for branch in (true_branch, false_branch)]
        args = (
            map_values(predicate, Node, env.__getitem__),
            *branches,
            list(map_values(operands, Node, env.__getitem__)),
        )
        return self._items(node.target, args, {}, node.meta["val"])

    def _loop(self, node: Node, source: GraphModule, env: Env) -> Any:
        self._builder.inherit(node)
        graphs = graph_places(node)
        args = tuple(
            self._branch(source, arg) if place in graphs else map_values(arg, Node, env.__getitem__)
            for place, arg in enumerate(node.args)
        )
        return self._items(node.target, args, {}, node.meta["val"])

    def _whole(self, node: Node, source: GraphModule, env: Env) -> Any:
        """The call as it is, with the graphs that it calls."""

        def value_of(arg: Node) -> Any:
            if arg.op != "get_attr":
                return env[arg]
            self.submodules[arg.target] = getattr(source, arg.target)
            return self._builder.attribute(arg.target)

        self._builder.inherit(node)
        args = map_values(node.args, Node, value_of)
        kwargs = {name: map_values(value, Node, value_of) for name, value in node.kwargs.items()}
        if isinstance(node.meta["val"], list | tuple):
            return self._items(node.target, args, kwargs, node.meta["val"])
        return self._builder.append(node.target, args, kwargs, node.meta["val"])

    def _items(self, target: Any, args: Any, kwargs: dict[str, Any], values: Any) -> list[Any]:
        """The call, and a node for each value that it yields."""
        call = self._builder.append(target, args, kwargs, values)
        return [
            self._builder.append(operator.getitem, (call, item), {}, value)
            for item, value in enumerate(values)
        ]

    def _delegate(self, node: Node, source: GraphModule, env: Env) -> Any:
        """A module lowered before the export is called as it is."""
        name = node.args[0].target
        self.submodules[name] = getattr(source, name)
        self._builder.inherit(node)
        args = (self._builder.attribute(name), *map_values(node.args[1:], Node, env.__getitem__))
        value = node.meta["val"]
        call = self._builder.append(node.target, args, {}, value)
        if not isinstance(value, list | tuple):
            return call
        return [
            self._builder.append(operator.getitem, (call, item), {}, part)
            for item, part in enumerate(value)
        ]

    def _branch(self, source: GraphModule, attribute: Node) -> Node:
        body = getattr(source, attribute.target)
        tracer = GraphTracer(self._options)
        env: Env = {n: tracer.placeholder(n) for n in body.graph.nodes if n.op == "placeholder"}
        outputs = tracer.run(body, env)
        if tracer.written:
            raise NeedsFullTrace("a write to an operand inside a branch")
        single = not isinstance(outputs, list | tuple)  # the condition of a loop
        distinct = _distinct(tracer, (outputs,) if single else tuple(outputs))
        tracer.graph.output(distinct[0] if single else distinct)
        name = f"submodule_{self._branches}"
        self._branches += 1
        remove_dead_calls(tracer.graph)
        self.submodules[name] = GraphModule(dict(tracer.submodules), tracer.graph)
        return self._builder.attribute(name)


def _distinct(tracer: GraphTracer, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """A branch that returns an operand unchanged returns a copy: outputs of a branch own their memory."""
    return tuple(
        tracer.own_copy(value) if isinstance(value, Node) and value.op == "placeholder" else value
        for value in outputs
    )


def remove_dead_calls(graph: Graph) -> None:
    """Removes unused calls; the graph has no side effects by now."""
    for node in reversed(graph.nodes):
        if node.op in ("call_function", "get_attr") and not node.users:
            graph.erase_node(node)


def _check_aliases_are_known(node: Node, target: Node) -> None:
    """A write gives back the memory it wrote. Where the fake values do not show that (a program loaded from a file),
    they do not show which values are views of which, either."""
    if _is_tensor(node) and _storage(node) != _storage(target):
        raise AliasesUnknown("the program's fake values do not show which memory they share")


def _hides_its_base(node: Node) -> bool:
    """A view whose fake value does not share its base's memory, as in a program loaded from a file."""
    is_known_view = (
        isinstance(node.target, torch._ops.OpOverload)
        and is_view(node.target)
        and isinstance(node.args[0], Node)
    )
    return is_known_view and _storage(node) != _storage(node.args[0])


def _is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _storage(node: Node) -> int:
    return node.meta["val"].untyped_storage()._cdata


def _same_geometry(a: torch.Tensor, b: torch.Tensor) -> bool:
    return (
        a.dtype == b.dtype
        and a.dim() == b.dim()
        and all(surely_equal(x, y) for x, y in zip(a.shape, b.shape, strict=True))
        and all(surely_equal(x, y) for x, y in zip(a.stride(), b.stride(), strict=True))
        and surely_equal(a.storage_offset(), b.storage_offset())
    )


def _has_new_symbols(node: Node) -> bool:
    """True for nodes whose result has sizes that depend on data: running them again would make new symbols."""
    return bool(node.meta.get("unbacked_bindings"))


def _writes(node: Node) -> bool:
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable


def _is_known_arithmetic(target: Any) -> bool:
    return target in (
        operator.add,
        operator.sub,
        operator.mul,
        operator.floordiv,
        operator.mod,
        operator.neg,
        torch.sym_max,
        torch.sym_min,
        aten.sym_size.int,
        aten.sym_numel.default,
    )
