# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK backend: floats and 8-bit values on CPUs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
