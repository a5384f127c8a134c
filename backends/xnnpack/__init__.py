# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK backend: floats and 8-bit values on CPUs."""

from typing import TYPE_CHECKING

from executorch._lazy import lazy_names

if TYPE_CHECKING:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
        XnnpackDynamicallyQuantizedPartitioner,
        XnnpackPartitioner,
    )
    from executorch.backends.xnnpack.utils.configs import (
        get_xnnpack_edge_compile_config,
        get_xnnpack_executorch_backend_config,
    )
    from executorch.backends.xnnpack.xnnpack_preprocess import XnnpackBackend

# Imported when they are asked for: who reads a payload needs none of them.
_HOMES = {
    "XnnpackBackend": "xnnpack_preprocess",
    "XnnpackDynamicallyQuantizedPartitioner": "partition.xnnpack_partitioner",
    "XnnpackPartitioner": "partition.xnnpack_partitioner",
    "get_xnnpack_edge_compile_config": "utils.configs",
    "get_xnnpack_executorch_backend_config": "utils.configs",
}
__all__ = [
    "XnnpackBackend",
    "XnnpackDynamicallyQuantizedPartitioner",
    "XnnpackPartitioner",
    "get_xnnpack_edge_compile_config",
    "get_xnnpack_executorch_backend_config",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
