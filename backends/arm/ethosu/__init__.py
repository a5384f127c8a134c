# SPDX-License-Identifier: BSD-3-Clause
"""What users import; nothing is loaded before it is asked for."""

from executorch._lazy import lazy_names

__all__ = ["EthosUBackend", "EthosUCompileSpec", "EthosUPartitioner"]

_HOMES = {
    "EthosUBackend": "backend",
    "EthosUCompileSpec": "compile_spec",
    "EthosUPartitioner": "partitioner",
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
