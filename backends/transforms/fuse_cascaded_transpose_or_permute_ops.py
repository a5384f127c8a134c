# SPDX-License-Identifier: BSD-3-Clause
"""Permutes after each other become one, also with views between that only add or drop dimensions of size 1.

before: permute_copy(permute_copy(%x, a), b)
after:  permute_copy(%x, a o b), or %x when that changes nothing
before: permute_copy(view_copy(permute_copy(%x, a), s), b)
after:  view_copy(%x, t) when no data moves, else view_copy(permute_copy(%x, c), t)
"""

from __future__ import annotations

from torch.fx import Node

from executorch.backends.transforms.edits import call_before, replace, shape_of
from executorch.backends.transforms.permute_pass_utils import (
    RemoveOrReplacePassInterface,
    permutation_of,
)
from executorch.backends.transforms.unit_dims import dims_through_view, keeps_data_order, same_sizes
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload

_PERMUTE = exir_ops.edge.aten.permute_copy.default
_VIEW = exir_ops.edge.aten.view_copy.default


class FuseCascadedTransposeOrPermuteOps(RemoveOrReplacePassInterface):
    transpose_or_permute_target = {_PERMUTE, exir_ops.edge.aten.transpose_copy.int}

    @property
    def targets(self) -> list[EdgeOpOverload]:
        return list(self.transpose_or_permute_target)

    def maybe_remove_or_replace(self, node: Node) -> bool:
        views, first = [], node.args[0]
        while first.target == _VIEW:
            views.append(first)
            first = first.args[0]
        if first.target not in self.transpose_or_permute_target:
            return False
        return self._join_over_views(node, views, first) if views else self._join(node, first)

    def _join(self, node: Node, first: Node) -> bool:
        order = permutation_of(first)
        both = [order[dim] for dim in permutation_of(node)]
        if both == sorted(both):
            replace(node, first.args[0])
        else:
            replace(node, call_before(node, _PERMUTE, (first.args[0], both)))
        return True

    def _join_over_views(self, node: Node, views: list[Node], first: Node) -> bool:
        """`views`: the last one first."""
        source, second = first.args[0], permutation_of(node)
        dims = dims_through_view(shape_of(first), shape_of(views[0]))
        if dims is None:
            return False
        order = [permutation_of(first)[dim] for dim in (dims[d] for d in second) if dim is not None]
        order += [dim for dim in range(len(shape_of(source))) if dim not in order]  # those dropped
        sizes = [views[0].args[1][dim] for dim in second]
        if keeps_data_order(shape_of(source), order):
            same = same_sizes(shape_of(source), shape_of(node))
            replace(node, source if same else call_before(node, _VIEW, (source, sizes)))
            return True
        if any(len(each.users) > 1 for each in (first, *views)):
            return False  # the permute stays for others: a second one would be more work
        moved = call_before(node, _PERMUTE, (source, order))
        replace(node, call_before(node, _VIEW, (moved, sizes)))
        return True
