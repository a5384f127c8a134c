# SPDX-License-Identifier: BSD-3-Clause
"""New values of buffers (and of inputs that are written) go back where they came from, at the end.

before: return (%new_b, %y)                      after: %c = aten.copy_(%b, %new_b); return (%c, %y)
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, OutputSpec, TensorArgument
from torch.fx import GraphModule, Node

from executorch.exir.graph_facts import WRITE_BACK, written_placeholders
from executorch.exir.memory_lifetimes import writes_its_first_argument

_ORIGIN = ("debug_handle", "stack_trace", "nn_module_stack")


def insert_write_back_for_buffers_pass(
    ep: ExportedProgram,
) -> tuple[GraphModule, ExportGraphSignature]:
    """Works in place on ep's graph; the returned signature names the copies as the mutations."""
    graph_module = ep.graph_module
    signature = ep.graph_signature
    placeholders = {node.name: node for node in graph_module.graph.find_nodes(op="placeholder")}
    home_of = written_placeholders(signature)
    output = next(iter(reversed(graph_module.graph.nodes)))
    kept, specs = [], []
    for place, (spec, value) in enumerate(zip(signature.output_specs, output.args[0], strict=True)):
        if spec.kind not in WRITE_BACK:
            kept.append(value)
            specs.append(spec)
            continue
        home = placeholders.get(home_of[place])
        if home is None:
            raise RuntimeError(
                f"Could not find the input {spec.target} that output {spec.arg.name} writes; the inputs are "
                f"{', '.join(placeholders)}"
            )
        written_in_place = _lies_in(value) is home
        copy = value if written_in_place else _copy_back(graph_module, home, value, output)
        kept.append(copy)
        specs.append(OutputSpec(spec.kind, TensorArgument(copy.name), spec.target))
    output.args = (tuple(kept),)
    return graph_module, ExportGraphSignature(list(signature.input_specs), specs)


def _lies_in(value: Node) -> Node:
    """The node whose memory operators that write their first argument have given on to `value`."""
    while writes_its_first_argument(value):
        value = value.args[0]
    return value


def _copy_back(graph_module: GraphModule, home: Node, value: Node, output: Node) -> Node:
    with graph_module.graph.inserting_before(output):
        copy = graph_module.graph.call_function(torch.ops.aten.copy_.default, (home, value))
    copy.meta["val"] = home.meta["val"]
    copy.meta["spec"] = home.meta.get("spec")
    copy.meta |= {key: value.meta[key] for key in _ORIGIN if key in value.meta}
    return copy
