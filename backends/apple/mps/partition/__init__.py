# SPDX-License-Identifier: BSD-3-Clause
"""The partitioner, as documents import it."""

from executorch.backends.apple.mps.partition.mps_partitioner import MPSPartitioner

__all__ = ["MPSPartitioner"]
