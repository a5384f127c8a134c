# SPDX-License-Identifier: BSD-3-Clause
"""Warnings for users of the backend."""

from __future__ import annotations

import warnings


def warn(what: str) -> None:
    """`what`: the part that is used, such as backend. Of whoever imports or makes it."""
    warnings.warn(
        f"The MPS {what} is deprecated and will be removed in ExecuTorch 1.4. Use the CoreML backend instead: "
        "executorch.backends.apple.coreml, CoreMLPartitioner.",
        FutureWarning,
        stacklevel=3,
    )
