# SPDX-License-Identifier: BSD-3-Clause
"""Tags for the data that tagged calls read, so that their delegates own it."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend._partitions import DATA_KINDS, TAG, written_buffers


def tag_constant_data(edge_program: ExportedProgram) -> None:
    """Tags parameters, constants and buffers nobody writes that some tagged call reads. Each partition that reads one
    gets it; the tensor itself is shared."""
    written = written_buffers(edge_program)
    for node, target in _data(edge_program):
        if target not in written:
            tag = next((user.meta[TAG] for user in node.users if TAG in user.meta), None)
            if tag is not None:
                node.meta[TAG] = tag


def tag_mutated_buffer(edge_program: ExportedProgram) -> None:
    """Tags buffers whose readers and whose new value all have one tag."""
    written = written_buffers(edge_program)
    for node, target in _data(edge_program):
        if target in written:
            readers = {user.meta.get(TAG) for user in node.users if user.op != "output"}
            tag = written[target].meta.get(TAG)
            if tag is not None and readers <= {tag}:
                node.meta[TAG] = tag


def _data(program: ExportedProgram) -> list[tuple[Node, str]]:
    specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
    return [
        (node, specs[node.name].target)
        for node in program.graph.find_nodes(op="placeholder")
        if specs[node.name].kind in DATA_KINDS
    ]


def is_shape_dynamic(node: Node) -> bool:
    """True when the node's value has a size that is known at run time only."""
    shape = getattr(node.meta.get("val"), "shape", ())
    return any(isinstance(size, torch.SymInt) for size in shape)
