# SPDX-License-Identifier: BSD-3-Clause
"""The documented path of executorch.devtools.memory_trace."""

from executorch.devtools.memory_trace import generate_memory_trace

__all__ = ["generate_memory_trace"]
