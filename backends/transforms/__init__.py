# SPDX-License-Identifier: BSD-3-Clause
"""Passes over edge programs that more than one backend may want, each in a module of its name."""

from executorch.backends.transforms.addmm_mm_to_linear import (
    apply_addmm_mm_to_linear_transform,
    get_shape,
)

__all__ = ["apply_addmm_mm_to_linear_transform", "get_shape"]
