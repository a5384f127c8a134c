# SPDX-License-Identifier: BSD-3-Clause
"""The quantizer, as documents import it."""

from executorch.backends.apple.coreml.quantizer.coreml_quantizer import CoreMLQuantizer

__all__ = ["CoreMLQuantizer"]
