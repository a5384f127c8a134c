# SPDX-License-Identifier: BSD-3-Clause
"""In which layouts rows of ops.py run: what each reads of its operands, and gives. The plain one and channels last, for
values of three to five dimensions; all others have one."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import Node

from executorch.backends.xnnpack.aot.conditions import is_over_image
from executorch.backends.xnnpack.aot.graph_builder import order_of
from executorch.backends.xnnpack.aot.lower import is_same_in_both_layouts, keeps_channels
from executorch.backends.xnnpack.aot.steps import Mode, Step
from executorch.backends.xnnpack.aot.value_types import value_of
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Candidates,
    LayoutCandidate,
    alike,
    plain,
)
from executorch.exir.backend.lowering.payload.writer import num_bytes


def channels_last(step: Step, operands: Sequence[Node]) -> Candidates:
    """A mean over an image may give a row of channels."""
    has_channels = order_of(value_of(step.head).dim(), NHWC) is not None
    return {NHWC: LayoutCandidate((NHWC,) * len(operands), NHWC if has_channels else PLAIN)}


def either(step: Step, operands: Sequence[Node]) -> Candidates:
    """What computes element by element, or moves. Operands of fewer dimensions line up with plain ones only."""
    rank = value_of(step.head).dim()
    if order_of(rank, NHWC) is None or any(value_of(each).dim() != rank for each in operands):
        return plain(step, operands)
    layouts = (NHWC, PLAIN) if rank > 3 else (PLAIN, NHWC)  # the first where both cost the same
    return alike(operands, *layouts)


def softmax(step: Step, operands: Sequence[Node]) -> Candidates:
    """Along channels, where they are last then, and are not anyway."""
    rank, dim = value_of(step.head).dim(), step.head.args[1]
    is_across = order_of(rank, NHWC) is not None and dim % rank == 1 != rank - 1
    return (channels_last if is_across else plain)(step, operands)


def mean(step: Step, operands: Sequence[Node]) -> Candidates:
    """Over an image channels last, over NCDHW in either layout but for 8-bit values."""
    if not is_over_image(step.head):
        return plain(step, operands)
    candidates = channels_last(step, operands)
    if len(step.head.args[0].meta["val"].shape) == 5 and step.mode is not Mode.STATIC:
        candidates = {**candidates, **plain(step, operands)}
    return candidates


def permute(step: Step, operands: Sequence[Node]) -> Candidates:
    """From channels last to plain, and back, the memory stays: the result has the other name."""
    rank = value_of(step.head).dim()
    perm = [dim % rank for dim in step.head.args[1]]
    to_plain, to_last = (perm == order_of(rank, each) for each in (NHWC, PLAIN))
    candidates = {}
    if to_plain:
        candidates[NHWC] = LayoutCandidate((NHWC,), PLAIN)
    if to_last:
        candidates[PLAIN if to_plain else NHWC] = LayoutCandidate((PLAIN,), NHWC)
    moved = {PLAIN: LayoutCandidate((PLAIN,), PLAIN, cost=num_bytes(step.head))}
    return candidates if len(candidates) == 2 else {**candidates, **moved}


def reshape(step: Step, operands: Sequence[Node]) -> Candidates:
    """Positions of channels last stay so: rows and columns become places in a row, or come of them."""
    source = step.head.args[0]
    candidates = plain(step, operands)
    if is_same_in_both_layouts(source):
        candidates = {PLAIN: LayoutCandidate((None,) * len(operands), PLAIN)}
    if keeps_channels(source, step.head):
        candidates = {**alike(operands, NHWC), **candidates}
    return candidates
