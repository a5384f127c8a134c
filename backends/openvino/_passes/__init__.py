# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Passes over edge programs under their documented names; OpenvinoBackend needs none."""

from executorch.backends.openvino._passes.decompose_floor_divide_pass import (
    DecomposeFloorDividePass,
)

__all__ = ["DecomposeFloorDividePass"]
