# SPDX-License-Identifier: BSD-3-Clause
"""Finds what computes on quantized values: the one recogniser of dequantize, operator, quantize.

%d = dequantize(%x); %c = conv(%d, dequantize(%w)); %r = relu(%c); %q = quantize(%r)
QuantizedStep(head=%c, last=%r, inputs={%d: as %x is stored, ...}, outputs={%q: as %q is})

and of inputs that are quantized while running, whose dequantize ends a Chain."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
    quantizes_back,
)
from executorch.exir.graph_facts import op_name


@dataclass(frozen=True)
class QuantizedStep:
    """`head` computes; `last` is the float that comes out: the same, or of what goes along with it, such as an
    activation. `inputs`: what is said of operands, by the call that dequantizes; `outputs`: of the result, by the call
    that quantizes it. Empty where nothing does."""

    head: Node
    last: Node
    inputs: Mapping[Node, Quantization]
    outputs: Mapping[Node, Quantization]

    @property
    def result(self) -> Node | None:
        """The call that quantizes what comes out, where nobody reads it as a float."""
        return next(iter(self.outputs)) if len(self.outputs) == len(self.last.users) == 1 else None


def quantized_step(head: Node, last: Node | None = None) -> QuantizedStep:
    """What stands around a call."""
    last = head if last is None else last
    inputs = {node: quantization_of(node) for node in head.all_input_nodes if is_dequantize(node)}
    users = [node for node in last.users if is_quantize(node) and node.args[0] is last]
    outputs = {node: quantization_of(node) for node in users}
    return QuantizedStep(head, last, inputs, outputs)


def fold_redundant_pairs(graph_module: GraphModule) -> bool:
    """A value that is dequantized and quantized back is taken as it is, but for outputs, whose names the program has.
    Whether there was one.

    before: %d = dequantize(%x, 0.1, 3); %q = quantize(%d, 0.1, 3); f(%q)       after: f(%x)"""
    outputs = set(graph_module.graph.output_node().all_input_nodes)
    nodes = list(graph_module.graph.nodes)
    found = [node for node in nodes if node not in outputs and quantizes_back(node)]
    for quantize in found:
        dequantize = quantize.args[0]
        quantize.replace_all_uses_with(dequantize.args[0])
        quantize.graph.erase_node(quantize)
        if not dequantize.users:
            dequantize.graph.erase_node(dequantize)
    graph_module.recompile()
    return bool(found)


def own_dequantized_inputs(program: ExportedProgram) -> None:
    """Every reader of what is dequantized with known numbers gets a dequantize of its own, and readers of what is
    quantized alike the same quantize: then groups of calls share no boundary.

    before: %q1 = quantize(%x); %q2 = quantize(%x); %d = dequantize(%q1); add(%d, %d2); mul(%d, %d3)
    after:  %q1 = quantize(%x); %d = dequantize(%q1); %e = dequantize(%q1); add(%d, %d2); mul(%e, %d3)"""
    for node in list(program.graph.nodes):
        alike: list[Node] = []
        for user in list(node.users):
            if not is_quantize(user) or user.args[0] is not node:
                continue
            first = next((each for each in alike if each.args[1:] == user.args[1:]), None)
            if first is None or op_name(first) != op_name(user):
                alike.append(user)
            else:
                user.replace_all_uses_with(first)
                program.graph.erase_node(user)
    copy_for_each_reader(program, _is_known_dequantize)


def _is_known_dequantize(node: Node) -> bool:
    qparams = quantization_of(node) if is_dequantize(node) else None
    return qparams is not None and qparams.is_static


def copy_for_each_reader(program: ExportedProgram, is_copied: Callable[[Node], bool]) -> None:
    """Every reader of such a call, but the first, gets a copy of its own; what such calls read of each other, too. What
    chooses parameters and what quantizes by them are one reader."""
    for node in reversed(list(program.graph.nodes)):
        if not is_copied(node):
            continue
        copies: dict[Node, Node] = {}
        for user in list(node.users):
            reader = _chooser(user) or user
            if reader not in copies:
                with program.graph.inserting_after(node):
                    copies[reader] = program.graph.node_copy(node) if copies else node
            if copies[reader] is not node:
                user.replace_input_with(node, copies[reader])
    program.graph_module.recompile()


# ---- Inputs that are quantized while running ----

_QD = "quantized_decomposed"
# The dequantize of a chain -> its quantize and what chooses the parameters.
_CHAINS = {
    f"{_QD}.dequantize_per_tensor.tensor": (
        f"{_QD}.quantize_per_tensor.tensor",
        f"{_QD}.choose_qparams.tensor",
    ),
    f"{_QD}.dequantize_per_token.default": (
        f"{_QD}.quantize_per_token.default",
        f"{_QD}.choose_qparams_per_token_asymmetric.default",
    ),
    "torchao.dequantize_affine.default": (
        "torchao.quantize_affine.default",
        "torchao.choose_qparams_affine.default",
    ),
}
_CHOOSERS = frozenset(chooser for _, chooser in _CHAINS.values())
CHAIN_OPS = frozenset(name for chain in _CHAINS.values() for name in chain) | _CHAINS.keys()


def _chooser(node: Node) -> Node | None:
    """What chooses the parameters by which a call quantizes."""
    items = [each for each in node.all_input_nodes[1:] if each.target is operator.getitem]
    makers = {each.args[0] for each in items if op_name(each.args[0]) in _CHOOSERS}
    return makers.pop() if len(makers) == 1 else None


@dataclass(frozen=True)
class Chain:
    """Calls that quantize `source` to int8 with what each run finds; `nodes` in graph order, the dequantize last."""

    source: Node
    nodes: tuple[Node, ...]

    @property
    def is_by_row(self) -> bool:
        """Whether no parameters are shared by parts of several rows: blocks of torchao's calls may be anything."""
        *_, stored, _ = self.nodes
        if op_name(stored) != "torchao.quantize_affine.default":
            return True
        return quantization_of(stored).group_size == self.source.meta["val"].shape[-1]


def chain_of(node: Node) -> Chain | None:
    """The chain that ends in `node`."""
    names = _CHAINS.get(op_name(node))
    stored = node.args[0] if names else None
    if not isinstance(stored, Node) or op_name(stored) != names[0]:
        return None
    source, items = stored.args[0], stored.all_input_nodes[1:]
    makers = {each.args[0] for each in items if each.target is operator.getitem}
    if len(items) != 2 or len(makers) != 1:
        return None
    (maker,) = makers
    if op_name(maker) != names[1] or maker.args[0] is not source:
        return None
    if torch.int8 not in stored.args:
        return None
    return Chain(source, (maker, *items, stored, node))
