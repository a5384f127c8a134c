# SPDX-License-Identifier: BSD-3-Clause
# compat
"""`ConvertToLinearPass`: matmuls with transposed weights become linear (backends/transforms/addmm_mm_to_linear.py)."""

from __future__ import annotations

import torch

from executorch.backends.transforms.addmm_mm_to_linear import AddmmToLinearTransform
from executorch.exir.dialects._ops import ops as exir_ops


class ConvertToLinearPass(AddmmToLinearTransform):
    linear_modules = [torch.nn.Linear, torch.nn.functional.linear]
    targets = [exir_ops.edge.aten.mm.default, exir_ops.edge.aten.addmm.default]
