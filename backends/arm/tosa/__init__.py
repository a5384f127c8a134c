# SPDX-License-Identifier: BSD-3-Clause
"""TOSA: the form in which Arm's compilers take networks."""

from executorch.backends.arm.tosa.specification import TosaSpecification

__all__ = ["TosaSpecification"]
