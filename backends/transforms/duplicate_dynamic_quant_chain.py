# SPDX-License-Identifier: BSD-3-Clause
"""Chains of calls that quantize a value with what each run finds, and a pass that gives every reader its own.

before: %p = choose_qparams(%x); %q = quantize(%x, %p); %d = dequantize(%q, %p); linear(%d), linear(%d)
after:  each linear reads a chain of its own, so that it can become part of one delegate with it"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.graph_facts import op_name

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
CHAIN_OPS = frozenset(name for chain in _CHAINS.values() for name in chain) | _CHAINS.keys()


@dataclass(frozen=True)
class Chain:
    """Calls that quantize `source` to int8; `nodes` in graph order, the dequantize last."""

    source: Node
    nodes: tuple[Node, ...]


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


class DuplicateDynamicQuantChainPass(PassBase):
    """Works on captured and on edge programs, in place. Chains that end in nothing else are left as they are."""

    def call(self, graph_module: GraphModule) -> PassResult:
        changed = False
        taken: set[Node] = set()
        for node in list(graph_module.graph.nodes):
            chain = chain_of(node)
            for user in list(node.users) if chain is not None else []:
                if taken.isdisjoint(chain.nodes):
                    taken.update(chain.nodes)
                    continue
                user.replace_input_with(node, _copy(chain))
                changed = True
            if chain is not None and not node.users:
                graph_module.graph.erase_node(node)
        if changed:
            graph_module.recompile()
        return PassResult(graph_module, changed)


def _copy(chain: Chain) -> Node:
    """The dequantize of a copy, which stands before the original's readers."""
    graph = chain.nodes[0].graph
    copies: dict[Node, Node] = {}
    with graph.inserting_after(chain.nodes[-1]):
        for node in reversed(chain.nodes):  # each is inserted directly behind the original
            copies[node] = graph.node_copy(node, lambda source: source)
    for copy in copies.values():
        for node, made in copies.items():
            copy.replace_input_with(node, made)
    return copies[chain.nodes[-1]]
