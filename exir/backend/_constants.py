# SPDX-License-Identifier: BSD-3-Clause
"""Tags for the data that tagged calls read, so that their delegates own it."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.backend._partitions import TAG, written_buffers
from executorch.exir.graph_facts import data_specs


def tag_constant_data(edge_program: ExportedProgram) -> None:
    """Tags parameters, constants and buffers nobody writes that some tagged call reads. Each partition that reads one
    gets it; the tensor itself is shared."""
    written = written_buffers(edge_program)
    for node, spec in data_specs(edge_program).items():
        if spec.target not in written:
            tag = next((user.meta[TAG] for user in node.users if TAG in user.meta), None)
            if tag is not None:
                node.meta[TAG] = tag


def tag_mutated_buffer(edge_program: ExportedProgram) -> None:
    """Tags buffers whose readers and whose new value all have one tag."""
    written = written_buffers(edge_program)
    for node, spec in data_specs(edge_program).items():
        if spec.target in written:
            readers = {user.meta.get(TAG) for user in node.users if user.op != "output"}
            tag = written[spec.target].meta.get(TAG)
            if tag is not None and readers <= {tag}:
                node.meta[TAG] = tag
