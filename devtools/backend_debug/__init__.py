# SPDX-License-Identifier: BSD-3-Clause
"""What delegation did to a model."""

from executorch.devtools.backend_debug.delegation_info import (
    DelegationBreakdown,
    DelegationInfo,
    get_delegation_info,
    print_delegation_info,
)

__all__ = [
    "DelegationBreakdown",
    "DelegationInfo",
    "get_delegation_info",
    "print_delegation_info",
]
