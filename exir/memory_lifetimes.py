# SPDX-License-Identifier: BSD-3-Clause
"""Which tensors of a method need a place in memory, and from which step to which they need it.

Steps count the nodes in the order of execution, branches of torch.cond and bodies of loops included
where they stand.
Several specs may stand for one storage: a view and its base, an item of a multi-output call, the
operand and the placeholder of a branch, what both branches yield. One of them, the root, is
planned; the others take over its place."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.export.graph_signature import ExportGraphSignature, InputKind
from torch.fx import GraphModule, Node

from executorch.exir import memory
from executorch.exir.graph_facts import called_op, changing_data
from executorch.exir.graph_module import is_loop, loop_of
from executorch.exir.tensor import TensorSpec

_BRANCHING = "cond"


def specs_of(node: Node) -> list[TensorSpec]:
    """The specs of what a node yields, flattened; none for scalars."""
    return list(_flatten(node.meta.get("spec")))


def _flatten(spec: Any) -> Iterator[TensorSpec]:
    if isinstance(spec, TensorSpec):
        yield spec
    elif isinstance(spec, list | tuple):
        for item in spec:
            yield from _flatten(item)


def writes_its_first_argument(node: Node) -> bool:
    """True for a call such as add_, whose result is the tensor that it was given first."""
    op = called_op(node)
    if op is None or not node.args or not isinstance(node.args[0], Node):
        return False
    alias = op._schema.arguments[0].alias_info
    return alias is not None and alias.is_write


def higher_order_name(node: Node) -> str | None:
    """The name of the higher-order operator that a node calls, such as "cond"."""
    target = node.target
    return target.name() if isinstance(target, torch._ops.HigherOrderOperator) else None


def is_cond(node: Node) -> bool:
    return higher_order_name(node) == _BRANCHING


def branches_of(node: Node) -> tuple[GraphModule, GraphModule]:
    """The true and the false branch of a cond node."""
    owner = node.graph.owning_module
    true_branch, false_branch = (
        operator.attrgetter(attribute.target)(owner) for attribute in node.args[1:3]
    )
    return true_branch, false_branch


class StorageMap:
    """Follows storages through a method while it is walked once."""

    def __init__(self) -> None:
        self.roots: list[TensorSpec] = []  # need a place, in order of their first step
        self.viewed: set[TensorSpec] = set()  # roots seen through another spec
        self.last_step = 0
        self._root: dict[TensorSpec, TensorSpec] = {}
        self._held: dict[
            TensorSpec, list[TensorSpec]
        ] = {}  # what lives at least as long as the key

    def walk(self, module: GraphModule) -> None:
        for node in module.graph.nodes:
            self._visit(node)

    def root(self, spec: TensorSpec) -> TensorSpec:
        while spec in self._root:
            spec = self._root[spec]
        return spec

    def aliases(self) -> list[tuple[TensorSpec, TensorSpec]]:
        """(spec, its root) for each spec that is no root."""
        return [(spec, self.root(spec)) for spec in self._root]

    def touch(self, spec: TensorSpec, step: int) -> None:
        """The content of `spec` is needed at `step`."""
        root = self.root(spec)
        first, last = root.lifetime
        root.lifetime = [
            step if first is None else min(first, step),
            step if last is None else max(last, step),
        ]
        for held in self._held.get(root, ()):
            self.touch(held, step)

    def _visit(self, node: Node) -> None:
        step = self.last_step
        self.last_step += 1
        for source in node.all_input_nodes:
            for spec in specs_of(source):
                self.touch(spec, step)
        if node.op == "placeholder":
            self._own(node, 0)
        elif node.op == "call_function":
            self._visit_call(node, step)

    def _visit_call(self, node: Node, step: int) -> None:
        target = node.target
        if target is memory.alloc:
            self._own(node, step)
        elif target is memory.view:
            self._alias(node.meta["spec"], node.args[0].meta["spec"])
        elif target is operator.getitem:
            self._alias_item(node)
        elif is_cond(node):
            self._visit_cond(node)
        elif is_loop(node):
            self._visit_loop(node, step)
        elif isinstance(target, torch._ops.HigherOrderOperator):
            self._own(node, step)
        else:
            self._alias_results(node)

    def _own(self, node: Node, step: int) -> None:
        for spec in specs_of(node):
            if not spec.const and spec not in self._root:
                self._add_root(spec, step)

    def _add_root(self, spec: TensorSpec, step: int) -> None:
        if spec.lifetime[0] is None:
            self.roots.append(spec)
        self.touch(spec, step)

    def _alias(self, spec: Any, base: Any) -> None:
        if isinstance(spec, TensorSpec) and isinstance(base, TensorSpec) and spec is not base:
            root = self.root(base)
            if root is not spec:
                self._root[spec] = root
                self.viewed.add(root)

    def _alias_item(self, node: Node) -> None:
        specs = specs_of(node.args[0])
        spec = node.meta.get("spec")
        source = node.args[0].meta.get("spec")
        if isinstance(source, list | tuple):
            self._alias(spec, source[node.args[1]])
        elif specs:
            self._alias(spec, specs[0])

    def _alias_results(self, node: Node) -> None:
        """What an operator yields is what it was given to write to; of an out variant, the out arguments."""
        op = called_op(node)
        if op is None:
            return
        arguments = op._schema.arguments
        has_outs = any(argument.is_out for argument in arguments)
        written = [
            spec
            for position, argument in enumerate(arguments)
            if argument.alias_info is not None
            and argument.alias_info.is_write
            and argument.is_out == has_outs
            for spec in _specs_of_argument(node, position, argument.name)
        ]
        for spec, target in zip(specs_of(node), written, strict=False):
            self._alias(spec, target)

    def _visit_cond(self, node: Node) -> None:
        """Both branches one after the other; what they yield lives on as what the node yields."""
        start = self.last_step
        yielded = []
        for branch in branches_of(node):
            placeholders = branch.graph.find_nodes(op="placeholder")
            for placeholder, operand in zip(placeholders, node.args[3], strict=True):
                if isinstance(operand, Node):
                    self._alias(placeholder.meta.get("spec"), operand.meta.get("spec"))
            self.walk(branch)
            yielded.append([_spec_or_none(value) for value in _output_arguments(branch)])
        results = node.meta.get("spec")
        results = results if isinstance(results, list | tuple) else [results]
        for result, if_true, if_false in zip(results, *yielded, strict=True):
            if isinstance(result, TensorSpec):
                self._join(result, if_true, if_false, start)

    def _visit_loop(self, node: Node, step: int) -> None:
        """The results live from the start; what the body reads from outside, and what it yields, to its end."""
        self._own(node, step)
        loop, results = loop_of(node), specs_of(node)
        carried = results[: len(loop.carried)]
        outside = [_spec_or_none(value) for value in loop.extra]
        for graph in (loop.condition, loop.body):
            if graph is None:
                continue
            placeholders = graph.graph.find_nodes(op="placeholder")
            seen = [*carried, *(None for _ in loop.sliced if graph is loop.body), *outside]
            for placeholder, spec in zip(placeholders, seen, strict=True):
                if spec is None:
                    self._own(placeholder, step)
                else:
                    self._alias(placeholder.meta.get("spec"), spec)
            self.walk(graph)
        kept = [*results, *outside, *(_spec_or_none(value) for value in loop.sliced)]
        kept += [_spec_or_none(value) for value in _output_arguments(loop.body)]
        for spec in kept:
            if spec is not None and not spec.const:
                self.touch(spec, self.last_step - 1)

    def _join(
        self,
        result: TensorSpec,
        if_true: TensorSpec | None,
        if_false: TensorSpec | None,
        start: int,
    ) -> None:
        """Lets the three share one place when nothing else holds the two; only one branch runs."""
        held = [self.root(spec) for spec in (if_true, if_false) if spec is not None]
        free = [self._starts_after(spec, start) and spec not in self.viewed for spec in held]
        if len(held) == 2 and all(free) and held[0] is not held[1]:
            large, small = sorted(held, key=lambda spec: -spec.nbytes())
            self.roots.remove(small)
            self._root[small] = large
            for step in small.lifetime:
                self.touch(large, step)
            self.viewed.add(large)
            if result.nbytes() <= large.nbytes():
                self._root[result] = large
                return
        self._held[result] = held
        self._add_root(result, self.last_step - 1)

    def _starts_after(self, spec: TensorSpec, start: int) -> bool:
        first = spec.lifetime[0]
        return first is not None and first >= start and spec not in self._held and not spec.const


def _specs_of_argument(node: Node, position: int, name: str) -> list[TensorSpec]:
    value = node.args[position] if position < len(node.args) else node.kwargs.get(name)
    nodes = value if isinstance(value, list | tuple) else [value]
    return [spec for item in nodes if isinstance(item, Node) for spec in specs_of(item)]


def _output_arguments(module: GraphModule) -> list[Any]:
    (arguments,) = module.graph.output_node().args
    return list(arguments) if isinstance(arguments, list | tuple) else [arguments]


def _spec_or_none(value: Any) -> TensorSpec | None:
    spec = value.meta.get("spec") if isinstance(value, Node) else None
    return spec if isinstance(spec, TensorSpec) else None


def input_specs(
    module: GraphModule, signature: ExportGraphSignature | None
) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """(specs of the user's inputs, specs of buffers and parameters that change) of a method."""
    placeholders = module.graph.find_nodes(op="placeholder")
    if signature is None:
        return [spec for node in placeholders for spec in specs_of(node)], []
    mutable = changing_data(signature)
    user: list[TensorSpec] = []
    buffers: list[TensorSpec] = []
    for node, spec in zip(placeholders, signature.input_specs, strict=True):
        if spec.kind == InputKind.USER_INPUT:
            user.extend(specs_of(node))
        elif spec.target in mutable:
            buffers.extend(specs_of(node))
    return user, buffers


def output_specs(module: GraphModule) -> list[TensorSpec]:
    return [spec for node in module.graph.output_node().all_input_nodes for spec in specs_of(node)]


def forget_lifetimes(modules: Iterable[torch.nn.Module]) -> None:
    """Makes a method as if it had never been walked; chosen arenas (mem_id) stay."""
    for module in modules:
        if isinstance(module, GraphModule):
            for node in module.graph.nodes:
                for spec in specs_of(node):
                    spec.lifetime = [None, None]


def walk_method(module: GraphModule, signature: ExportGraphSignature | None) -> StorageMap:
    """Finds all lifetimes of a method anew: inputs live from the start, outputs to the end, mutable
    buffers always."""
    forget_lifetimes(module.modules())
    storages = StorageMap()
    storages.walk(module)
    _, buffers = input_specs(module, signature)
    for spec in [*output_specs(module), *buffers]:
        storages.touch(spec, storages.last_step)
    return storages
