# SPDX-License-Identifier: BSD-3-Clause
# compat
"""PyTorch's unions of schema classes under the name that this compiler's users import."""

from torch._export.serde.union import _Union, _UnionTag

__all__ = ["_Union", "_UnionTag"]
