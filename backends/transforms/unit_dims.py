# SPDX-License-Identifier: BSD-3-Clause
"""Dimensions of size 1 under permutes and views: moving, adding or dropping them moves no data."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from executorch.backends.transforms.edits import shape_of
from executorch.backends.transforms.permute_pass_utils import get_arg
from executorch.exir.graph_facts import op_name

VIEWS = ("aten.view_copy.default", "aten.unsqueeze_copy.default", "aten.squeeze_copy.dim")


def is_one(size: Any) -> bool:
    """False for a size that may vary, without a guard that fixes it."""
    return isinstance(size, int) and size == 1


def same_sizes(first: list[Any], second: list[Any]) -> bool:
    """Whether the sizes are known to be the same."""
    return len(first) == len(second) and all(
        statically_known_true(a == b) for a, b in zip(first, second)
    )


def keeps_data_order(shape: list[Any], order: list[int]) -> bool:
    """Whether dimensions other than those of size 1 keep their order."""
    kept = [dim for dim in order if not is_one(shape[dim])]
    return kept == sorted(kept)


def sizes_for_view(shape: list[Any]) -> list[int] | None:
    """What a view writes to get `shape`; None where more than one size may vary."""
    sizes = [size if isinstance(size, int) else -1 for size in shape]
    return sizes if sizes.count(-1) <= 1 else None


def dims_through_view(before: list[Any], after: list[Any]) -> list[int | None] | None:
    """For each dimension behind a view which one it was, None for a new one. None for a view that does anything else
    than add and drop dimensions of size 1.

    Of several ones in a row the first are the same: [2, 1, 1, 3] seen as [2, 1, 3] is [0, 1, 3].
    """
    kept = [dim for dim, size in enumerate(before) if not is_one(size)]
    there = [dim for dim, size in enumerate(after) if not is_one(size)]
    if not same_sizes([before[dim] for dim in kept], [after[dim] for dim in there]):
        return None
    pairs = list(zip(kept, there))
    found: list[int | None] = []
    starts = [(-1, -1), *pairs]
    ends = [*pairs, (len(before), len(after))]
    for (last_a, last_b), (a, b) in zip(starts, ends):
        ones = range(last_a + 1, a)
        found += [ones[i] if i < len(ones) else None for i in range(b - last_b - 1)]
        found += [a] if b < len(after) else []
    return found


def dims_through_call(node: Node, backwards: bool) -> list[int | None] | None:
    """`dims_through_view` of one of VIEWS; backwards: for each dimension that it reads which one of its value it is."""
    before, after = shape_of(node.args[0]), shape_of(node)
    if backwards:
        before, after = after, before
    if op_name(node) == "aten.view_copy.default" or len(before) == len(after):
        return dims_through_view(before, after)
    longer = max(len(before), len(after))
    place, rest = node.args[1] % longer, list(range(longer - 1))
    if len(before) < len(after):
        return [*rest[:place], None, *rest[place:]]
    return [dim for dim in range(longer) if dim != place]


def order_behind_view(order: list[int], dims: list[int | None]) -> list[int]:
    """A permuted value's order of dimensions behind a view that `dims` describes: each dimension's place if nothing
    were permuted. A new one stands before what follows it, or last."""
    keys: list[tuple[int, int, int]] = []
    following = len(order)
    for place in reversed(range(len(dims))):
        dim = dims[place]
        if dim is not None:
            following = order[dim]
        keys.append((following, int(dim is not None), place))
    ranked = sorted(keys)
    return [ranked.index(key) for key in reversed(keys)]


def restores_order(permutation: list[int] | None, made: list[int], shape: list[Any]) -> bool:
    """Whether a permute puts back what is in the order `made`, as far as data goes."""
    if permutation is None or len(permutation) != len(made):
        return False
    order = [made[dim] for dim in permutation]
    if order == sorted(order):
        return True
    unpermuted = [shape[made.index(dim)] for dim in range(len(made))]
    return sizes_for_view(shape) is not None and keeps_data_order(unpermuted, order)


def grows_unit_dim(nodes: Collection[Node]) -> bool:
    """A dimension of size 1 that a view adds or drops may stand anywhere, until a cat makes it longer."""
    cats = [node for node in nodes if op_name(node) == "aten.cat.default"]
    if not any(op_name(node) in VIEWS for node in nodes):
        return False
    return any(
        all(is_one(shape_of(part)[get_arg(cat, "dim")]) for part in cat.args[0]) for cat in cats
    )
