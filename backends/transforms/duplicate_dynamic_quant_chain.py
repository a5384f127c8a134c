# SPDX-License-Identifier: BSD-3-Clause
"""A pass that gives every reader of a value that is quantized with what each run finds a chain of its own.

before: %p = choose_qparams(%x); %q = quantize(%x, %p); %d = dequantize(%q, %p); linear(%d), linear(%d)
after:  each linear reads a chain of its own, so that it can become part of one delegate with it"""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.backend.lowering.quantized_steps import Chain, chain_of


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
