# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The documented place of what aot/enumerated_shapes.py has."""

from executorch.backends.apple.coreml.aot.enumerated_shapes import EnumeratedShapes

_SymbolicShapeToEnumeratedShapeMap = EnumeratedShapes
