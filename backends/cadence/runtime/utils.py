# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Names of distances.py."""

from executorch.backends.cadence.runtime.distances import (
    max_abs_diff,
    max_rel_diff,
    normalized_rms,
    rms,
)

__all__ = ["max_abs_diff", "max_rel_diff", "normalized_rms", "rms"]
