# SPDX-License-Identifier: BSD-3-Clause
# compat
from executorch.extension.llm.quantization.exportable import (
    Convert,
    _is_quantized,
    fuse_along_output,
    identity,
    maybe_cast,
    to_default,
    to_exportable,
)

__all__ = [
    "Convert",
    "_is_quantized",
    "fuse_along_output",
    "identity",
    "maybe_cast",
    "to_default",
    "to_exportable",
]
