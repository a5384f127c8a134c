# SPDX-License-Identifier: BSD-3-Clause
"""What users import; nothing is loaded before it is asked for."""

from executorch._lazy import lazy_names

__all__ = ["VgfBackend", "VgfCompileSpec", "VgfPartitioner"]

_HOMES = {
    "VgfBackend": "backend",
    "VgfCompileSpec": "compile_spec",
    "VgfPartitioner": "partitioner",
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
