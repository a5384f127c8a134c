# SPDX-License-Identifier: BSD-3-Clause
# compat
from executorch.extension.llm.quantization.exportable import ExportableInt4Tensor

__all__ = ["ExportableInt4Tensor"]
