# SPDX-License-Identifier: BSD-3-Clause
"""The backend of Metal Performance Shaders, which is deprecated: Core ML's is in its place."""

from executorch.backends.apple.mps import deprecation

deprecation.warn("backend")
