# SPDX-License-Identifier: BSD-3-Clause
"""The ahead-of-time half, as documents import it."""

from executorch.backends.apple.coreml.compiler.coreml_preprocess import CoreMLBackend

__all__ = ["CoreMLBackend"]
