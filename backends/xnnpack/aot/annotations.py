# SPDX-License-Identifier: BSD-3-Clause
"""Annotations of rows of ops.py that say more than their kind: which calls of a captured graph are 8-bit."""

from __future__ import annotations

from torch.fx import Node

from executorch.backends.xnnpack.aot.conditions import is_over_image
from executorch.backends.xnnpack.aot.conv3d import interleaves_depth
from executorch.exir.backend.lowering.annotation import Annotation, Kind
from executorch.exir.graph_facts import num_dynamic_sizes, op_name

_TRANSPOSED_3D = "aten.conv_transpose3d.input"
_OVER_3D = ("aten.conv3d.default", _TRANSPOSED_3D)
_POOLS = ("aten.adaptive_avg_pool2d.default", "aten.adaptive_avg_pool3d.default")


def _is_taken(convolution: Node) -> bool:
    """Over three dimensions some have no row: in groups, of dynamic sizes, transposed ones that do not interleave."""
    if op_name(convolution) not in _OVER_3D:
        return True
    # bias, stride, padding, another, groups, dilation of a transposed one
    defaults = (None, [1], [0], [0], 1, [1])
    given = (*convolution.args, *defaults[len(convolution.args) - 2 :])
    source, weight = given[:2]
    if given[6] != 1 or num_dynamic_sizes(convolution) or num_dynamic_sizes(source):
        return False
    if op_name(convolution) != _TRANSPOSED_3D:
        return True
    return interleaves_depth(convolution, weight, given[3], given[7])


def _has_no_groups(convolution: Node) -> bool:
    """XNNPACK has float results of 8-bit inputs for those."""
    groups = convolution.args[6] if len(convolution.args) > 6 else 1
    return groups == 1


def _is_over_image(mean: Node) -> bool:
    """Over height and width alone. Means have a range of their own: it is narrower than that of the pixels."""
    if op_name(mean) in _POOLS:
        return all(size == 1 for size in mean.meta["val"].shape[2:])
    return is_over_image(mean)


CONVOLUTION = Annotation(
    Kind.GEMM,
    _is_taken,
    dynamic=("aten.conv2d.default", "aten.conv_transpose2d.input"),
    dynamic_when=_has_no_groups,
)
LINEAR = Annotation(Kind.GEMM, dynamic=("aten.linear.default",))
MEAN = Annotation(Kind.ARITHMETIC, _is_over_image)
CONCATENATION = Annotation(Kind.SHARED, starts=True)
