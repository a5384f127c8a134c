# SPDX-License-Identifier: BSD-3-Clause
"""Windows of average pooling, as its calls say them."""

from __future__ import annotations

from dataclasses import dataclass

from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.graph_facts import op_name

_DEFAULTS = ([], 0, False, True)


@dataclass(frozen=True)
class Windows:
    """`padding` counts as elements where `counts_padding`; `has_rest`: sizes are rounded up."""

    kernel: list[int]
    stride: list[int]
    padding: list[int]
    has_rest: bool
    counts_padding: bool

    @staticmethod
    def of(node: Node) -> Windows:
        """Of a call of avg_pool1d, 2d or 3d."""
        kernel, *given = node.args[1:6]
        stride, padding, has_rest, counts = (*given, *_DEFAULTS[len(given) :])
        return Windows(
            _listed(kernel), _listed(stride or kernel), _listed(padding), has_rest, counts
        )


def _listed(value: int | list[int]) -> list[int]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _ends_inside(node: Node, constants: Constants) -> bool:
    """PyTorch divides what is summed in a window by its elements as far as the padding goes. OpenVINO 2026.4 counts
    beyond, where there is padding."""
    found = Windows.of(node)
    if not (found.has_rest and found.counts_padding and any(found.padding)):
        return True
    count = int(op_name(node).removeprefix("aten.avg_pool")[0])
    sizes, results = (each.meta["val"].shape[-count:] for each in (node.args[0], node))
    kernel, stride, padding = (
        each * count if len(each) == 1 else each
        for each in (found.kernel, found.stride, found.padding)
    )
    return all(
        statically_known_true((result - 1) * step + width <= size + 2 * pad)
        for size, result, step, width, pad in zip(
            sizes, results, stride, kernel, padding, strict=True
        )
    )


ENDS_INSIDE = Condition(
    _ends_inside, "windows that end inside of the padding are expected where padding counts"
)
