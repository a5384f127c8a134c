# SPDX-License-Identifier: BSD-3-Clause
"""before: permute_copy(permute_copy(%x, a), b)     after: permute_copy(%x, a o b), or %x when that changes nothing"""

from __future__ import annotations

from torch.fx import Node

from executorch.backends.transforms.edits import call_before, replace
from executorch.backends.transforms.permute_pass_utils import (
    RemoveOrReplacePassInterface,
    permutation_of,
)
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload

_PERMUTE = exir_ops.edge.aten.permute_copy.default


class FuseCascadedTransposeOrPermuteOps(RemoveOrReplacePassInterface):
    transpose_or_permute_target = {_PERMUTE, exir_ops.edge.aten.transpose_copy.int}

    @property
    def targets(self) -> list[EdgeOpOverload]:
        return list(self.transpose_or_permute_target)

    def maybe_remove_or_replace(self, node: Node) -> bool:
        source = node.args[0]
        if source.target not in self.transpose_or_permute_target:
            return False
        first, second = permutation_of(source), permutation_of(node)
        both = [first[dim] for dim in second]
        if both == sorted(both):
            replace(node, source.args[0])
        else:
            replace(node, call_before(node, _PERMUTE, (source.args[0], both)))
        return True
