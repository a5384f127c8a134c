# SPDX-License-Identifier: BSD-3-Clause
"""What rewrites an edge program to operators of cortex_m."""

from executorch.backends.cortex_m.passes.cortex_m_pass_manager import (
    AtenToCortexMPass,
    CortexMPassManager,
    ReplaceQuantNodesPass,
)

__all__ = ["AtenToCortexMPass", "CortexMPassManager", "ReplaceQuantNodesPass"]
