# SPDX-License-Identifier: BSD-3-Clause
# compat
from executorch.extension.llm.quantization.exportable import (
    Q4_K_GROUP_SIZE,
    Q5_K_GROUP_SIZE,
    Q6_K_GROUP_SIZE,
    QK_K,
    ExportableGGUFTensor,
    iter_gguf,
)

__all__ = [
    "ExportableGGUFTensor",
    "Q4_K_GROUP_SIZE",
    "Q5_K_GROUP_SIZE",
    "Q6_K_GROUP_SIZE",
    "QK_K",
    "iter_gguf",
]
