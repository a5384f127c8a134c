# SPDX-License-Identifier: BSD-3-Clause
"""before: view_copy(view_copy(%x, a), b)     after: view_copy(%x, b)"""

from __future__ import annotations

from torch.fx import Node

from executorch.backends.transforms.edits import replace, shape_of
from executorch.backends.transforms.permute_pass_utils import RemoveOrReplacePassInterface
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload


class FuseCascadedViewOps(RemoveOrReplacePassInterface):
    """A view that gives back the first shape goes."""

    @property
    def targets(self) -> list[EdgeOpOverload]:
        return [exir_ops.edge.aten.view_copy.default]

    def maybe_remove_or_replace(self, node: Node) -> bool:
        source = node.args[0]
        if source.target not in self.targets:
            return False
        first = source.args[0]
        if shape_of(first) == shape_of(node):
            replace(node, first)
        else:
            node.args = (first, *node.args[1:])
        return True
