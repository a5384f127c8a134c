# SPDX-License-Identifier: BSD-3-Clause
"""A permute that moves only dimensions of size 1 moves no data.

before: permute_copy(%x of [1, 3, 4], [1, 0, 2])     after: view_copy(%x, [3, 1, 4])
"""

from __future__ import annotations

from torch.fx import Node

from executorch.backends.transforms.edits import call_before, replace, shape_of
from executorch.backends.transforms.permute_pass_utils import (
    RemoveOrReplacePassInterface,
    permutation_of,
)
from executorch.backends.transforms.unit_dims import keeps_data_order
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload


class ReplaceNopTransposeOrPermuteWithViewPass(RemoveOrReplacePassInterface):
    @property
    def targets(self) -> list[EdgeOpOverload]:
        return [exir_ops.edge.aten.transpose_copy.int, exir_ops.edge.aten.permute_copy.default]

    def maybe_remove_or_replace(self, node: Node) -> bool:
        source = node.args[0]
        if not keeps_data_order(shape_of(source), permutation_of(node)):
            return False
        view = exir_ops.edge.aten.view_copy.default
        replace(node, call_before(node, view, (source, shape_of(node))))
        return True
