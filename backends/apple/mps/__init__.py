# SPDX-License-Identifier: BSD-3-Clause
"""The backend of Metal Performance Shaders, which is deprecated: Core ML's is in its place."""

from typing import TYPE_CHECKING

from executorch._lazy import lazy_names
from executorch.backends.apple.mps import deprecation

if TYPE_CHECKING:
    from executorch.backends.apple.mps.mps_preprocess import MPSBackend

__all__ = ["MPSBackend"]
__getattr__, __dir__ = lazy_names(__name__, {"MPSBackend": "mps_preprocess"})

deprecation.warn("backend")
