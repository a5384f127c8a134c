# SPDX-License-Identifier: BSD-3-Clause
"""A permute before a view that adds or drops one dimension of size 1 comes after it, where another may undo it.

before: view_copy(permute_copy(%x of [2, 3, 4], [0, 2, 1]), [2, 1, 4, 3])
after:  permute_copy(view_copy(%x, [2, 1, 3, 4]), [0, 1, 3, 2])
"""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import call_before, replace, shape_of
from executorch.backends.transforms.permute_pass_utils import (
    RemoveOrReplacePassInterface,
    permutation_of,
)
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload

_aten = exir_ops.edge.aten
_ROUNDS = 4


class PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView(RemoveOrReplacePassInterface):
    @property
    def targets(self) -> list[EdgeOpOverload]:
        return [_aten.permute_copy.default, _aten.transpose_copy.int]

    def check_if_shapes_differ_in_single_dim_of_size_1(self, list1: list, list2: list) -> int:
        """Where the longer list has one 1 more; -1 when they differ otherwise."""
        longer, shorter = sorted((list(list1), list(list2)), key=len, reverse=True)
        if len(longer) != len(shorter) + 1:
            return -1
        for place, size in enumerate(longer):
            if size == 1 and [*longer[:place], *longer[place + 1 :]] == shorter:
                return place
        return -1

    def maybe_remove_or_replace(self, node: Node) -> bool:
        users = list(node.users)
        if len(users) != 1 or users[0].target != _aten.view_copy.default:
            return False
        view, source, order = users[0], node.args[0], permutation_of(node)
        before, after = shape_of(node), shape_of(view)
        place = self.check_if_shapes_differ_in_single_dim_of_size_1(before, after)
        if place < 0:
            return False
        if len(after) > len(before):
            # the new dimension stands at the same place of the source, where the permute leaves it
            new_order = [dim + (dim >= place) for dim in order]
            new_order.insert(place, place)
            shape = shape_of(source)
            shape.insert(place, 1)
        else:
            gone = order[place]
            new_order = [dim - (dim > gone) for dim in order if dim != gone]
            shape = [size for dim, size in enumerate(shape_of(source)) if dim != gone]
        made = call_before(view, _aten.view_copy.default, (source, shape))
        replace(view, call_before(view, _aten.permute_copy.default, (made, new_order)))
        return True

    def call(self, graph_module: GraphModule) -> PassResult:
        """At most four rounds: a permute may sink below several views."""
        modified = False
        for _ in range(_ROUNDS):
            if not super().call(graph_module).modified:
                break
            modified = True
        return PassResult(graph_module, modified)
