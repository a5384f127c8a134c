# SPDX-License-Identifier: BSD-3-Clause
"""The partitioner, as documents import it."""

from executorch.backends.apple.coreml.partition.coreml_partitioner import CoreMLPartitioner

__all__ = ["CoreMLPartitioner"]
