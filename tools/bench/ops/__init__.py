# SPDX-License-Identifier: BSD-3-Clause
"""The operators of the default kernel library beside eager PyTorch: rows by family, measurement, page."""

from __future__ import annotations

import torch

from tools.bench.ops import convolution, copies, elementwise, matmul, pooling_and_resize, reduction
from tools.bench.ops.case import Case

_FAMILIES = (matmul, convolution, elementwise, reduction, pooling_and_resize, copies)

# Operators without a row, and why.
NOT_MEASURED = {
    "aten::copy_": "the out form is measured",
    "aten::index_put_": "the out form is measured",
    "aten::empty.out": "does nothing",
    "aten::sort.values_stable": "has a portable kernel only",
    "aten::view_as_complex_copy.out": "a copy of bytes",
    "aten::scalar_tensor.out": "one element, whatever its arguments",
    "dim_order_ops::_clone_dim_order.out": "the kernel of aten::clone.out",
    "dim_order_ops::_empty_dim_order.out": "does nothing",
    "dim_order_ops::_to_dim_order_copy.out": "the kernel of aten::_to_copy.out",
    "et_copy::_d2h_copy.out": "a copy of bytes",
    "et_copy::_h2d_copy.out": "a copy of bytes",
}


def cases() -> list[Case]:
    """All rows, the same at every call."""
    torch.manual_seed(0)
    return [case for family in _FAMILIES for case in family.cases()]
