# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Names of programs.py."""

from executorch.backends.cadence.aot.programs import (
    MemoryConfig,
    MemoryPlanningAlgoFailure,
    get_default_memory_config,
    get_ops_count,
    print_ops_info,
    save_bpte_program,
    save_pte_program,
)

__all__ = [
    "MemoryConfig",
    "MemoryPlanningAlgoFailure",
    "get_default_memory_config",
    "get_ops_count",
    "print_ops_info",
    "save_bpte_program",
    "save_pte_program",
]
