# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK backend: float32 on CPUs."""

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.xnnpack_preprocess import XnnpackBackend

__all__ = ["XnnpackBackend", "XnnpackPartitioner"]
