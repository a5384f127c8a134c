# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Each user of a constant gets a constant of its own, over the same tensor, so that partitions can own theirs.

before: %w = placeholder; f(%w); g(%w)           after: %w, %w_copy_0 = placeholder; f(%w); g(%w_copy_0)
"""

from __future__ import annotations

import dataclasses

from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature

from executorch.exir.graph_facts import DATA_KINDS


def duplicate_constant_node(exported_program: ExportedProgram, candidate_node: str) -> set[str]:
    """The names of the new placeholders; works in place. A node that is no constant, or that one node reads, stays."""
    graph = exported_program.graph
    signature = exported_program.graph_signature
    node = next(each for each in graph.nodes if each.name == candidate_node)
    place = next(
        (i for i, spec in enumerate(signature.input_specs) if spec.arg.name == node.name), None
    )
    if place is None or signature.input_specs[place].kind not in DATA_KINDS:
        return set()
    spec, copies = signature.input_specs[place], []
    for number, user in enumerate([user for user in node.users if user.op != "output"][1:]):
        with graph.inserting_after(node):
            copy = graph.create_node("placeholder", f"{node.name}_copy_{number}")
        copy.meta = dict(node.meta)
        user.replace_input_with(node, copy)
        target = f"{spec.target}_copy_{number}"
        owner = exported_program.state_dict
        owner = owner if spec.target in owner else exported_program.constants
        owner[target] = owner[spec.target]
        arg = dataclasses.replace(spec.arg, name=copy.name)
        copies.insert(0, dataclasses.replace(spec, arg=arg, target=target))
    specs = [*signature.input_specs[: place + 1], *copies, *signature.input_specs[place + 1 :]]
    exported_program._graph_signature = ExportGraphSignature(specs, list(signature.output_specs))
    exported_program.graph_module.recompile()
    return {each.arg.name for each in copies}
