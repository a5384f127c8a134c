# SPDX-License-Identifier: BSD-3-Clause
"""Which convolutions over three dimensions go to XNNPACK. There NCDHW lies channels last; the optimized kernel takes it
as it is."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator

from torch.fx import Node

from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE
from executorch.backends.xnnpack.aot.steps import CONVOLUTION
from executorch.backends.xnnpack.aot.value_types import value_of
from executorch.exir.backend.lowering.steps import BATCH_NORM
from executorch.exir.graph_facts import op_name

_MANY_CHANNELS = 16
_MAX_OF_WINOGRAD = 1 << 14  # weights of one tap of an image: transformed, 1 MiB
# What keeps the layout of its operands.
_PASSED = frozenset(
    {BATCH_NORM, "aten.relu.default", "aten.hardtanh.default", "aten.leaky_relu.default"}
    | {"aten.add.Tensor", "aten.cat.default", "aten.max_pool3d_with_indices.default"}
)


def is_3d(node: Node) -> bool:
    return value_of(node).dim() == 5


def of_three(values: list[int]) -> list[int]:
    """By depth, height and width, of which all may be given as one."""
    return list(values) * 3 if len(values) == 1 else list(values)


def interleaves_depth(result: Node, weight: Node, stride: list[int], dilation: list[int]) -> bool:
    """Whether, of a transposed convolution, each place of a result within a stride has taps and the same number of
    slices."""
    taps, made = weight.meta["val"].shape[2], result.meta["val"].shape[2]
    return dilation[0] == 1 and made % stride[0] == 0 and taps >= stride[0]


def has_short_form(kernel: list[int], stride: list[int], weights: int) -> bool:
    """Whether floats take fewer products than taps, by Winograd: of height and width, and weights of a tap."""
    return kernel == [3, 3] and stride == [1, 1] and weights <= _MAX_OF_WINOGRAD


def is_small_conv3d(convolution: Node) -> bool:
    """In float, one that does not pay and is not beside one that does. Alone, of 114 drawn layers the 16 of many
    channels took 0.97 of the optimized kernel's time in the middle, the others 1.9 (two threads, AVX-512); of networks
    of such layers, those with the short way 0.7, others 1.0, and 1.2 where memory is slow."""
    if not is_3d(convolution) or op_name(convolution.args[0]) == DEQUANTIZE:
        return False
    if _pays(convolution):
        return False
    depth, *image = convolution.args[1].meta["val"].shape[2:]
    copies = depth > 1 and max(image) > 1
    few = convolution.meta["val"].shape[1] < _MANY_CHANNELS
    return (copies and few) or not any(map(_pays, _beside(convolution)))


def _pays(convolution: Node) -> bool:
    """Whether it pays to turn NCDHW to channels last and back, and to copy its slices."""
    first, second, depth, *image = convolution.args[1].meta["val"].shape
    if convolution.args[8] != 1 or min(first, second) < _MANY_CHANNELS:
        return False
    copies_nothing = 1 in (depth, math.prod(image)) and depth * math.prod(image) > 1
    return copies_nothing or has_short_form(
        image, of_three(convolution.args[3])[1:], first * second * depth
    )


def _beside(convolution: Node) -> Iterator[Node]:
    """Others that it reads or is read by, with what keeps a layout between."""
    seen, waiting = {convolution}, [convolution]
    while waiting:
        node = waiting.pop()
        for other in (*node.all_input_nodes, *node.users):
            if other in seen:
                continue
            seen.add(other)
            if op_name(other) == CONVOLUTION and is_3d(other):
                yield other
            elif op_name(other) in _PASSED or other.target is operator.getitem:
                waiting.append(other)
