# SPDX-License-Identifier: BSD-3-Clause
"""The documented place of what aot/enumerated_shapes.py has."""  # compat

from executorch.backends.apple.coreml.aot.enumerated_shapes import EnumeratedShapes

_SymbolicShapeToEnumeratedShapeMap = EnumeratedShapes
