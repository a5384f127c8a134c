# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK has slices; a call that gives all parts at once would cut a delegate in two.

before: %p = split_with_sizes_copy(%x, [4, 4], 1); %a = getitem(%p, 0); %b = getitem(%p, 1)
after:  %a = slice_copy(%x, 1, 0, 4); %b = slice_copy(%x, 1, 4, 8)

Only beside a call that a row takes: gates of recurrent cells, halves of gated units, heads of a joint projection."""

from __future__ import annotations

import itertools

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.transforms.edits import replace
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import op_name

SPLIT = "aten.split_with_sizes_copy.default"


def slice_parts(program: ExportedProgram, table: OpTable) -> None:
    for node in list(program.graph.nodes):
        if op_name(node) == SPLIT and _is_static(node) and _is_beside_a_row(node, table):
            _slice(node)
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()


def _is_static(split: Node) -> bool:
    return all(isinstance(size, int) for size in split.args[1])


def _is_beside_a_row(split: Node, table: OpTable) -> bool:
    readers = (reader for part in split.users for reader in part.users)
    return any(op_name(each) in table for each in (split.args[0], *readers))


def _slice(split: Node) -> None:
    source, sizes = split.args[:2]
    dim = split.args[2] if len(split.args) > 2 else 0
    starts = [0, *itertools.accumulate(sizes)]
    for part in list(split.users):
        start, end = starts[part.args[1] :][:2]
        cut = exir_ops.edge.aten.slice_copy.Tensor
        with split.graph.inserting_before(split):
            made = split.graph.call_function(cut, (source, dim, start, end))
        made.meta = {**split.meta, "val": part.meta["val"]}
        replace(part, made)
