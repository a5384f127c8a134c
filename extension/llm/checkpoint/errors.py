# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a checkpoint."""

from __future__ import annotations


class CheckpointError(ValueError):
    """A file that cannot be read, or tensors that are not the model's; says which file and which tensor."""
