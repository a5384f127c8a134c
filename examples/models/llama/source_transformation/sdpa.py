# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports the attention of extension.llm.transform.sdpa."""

from executorch.extension.llm.transform.sdpa import (
    QuantizedSDPA,
    SDPACustom,
    SDPASimple,
    replace_sdpa_with_custom_op,
    replace_sdpa_with_quantized_sdpa,
    replace_sdpa_with_simple_sdpa,
)

__all__ = [
    "QuantizedSDPA",
    "SDPACustom",
    "SDPASimple",
    "replace_sdpa_with_custom_op",
    "replace_sdpa_with_quantized_sdpa",
    "replace_sdpa_with_simple_sdpa",
]
