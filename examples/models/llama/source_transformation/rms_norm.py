# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports the rewrite of norms of extension.llm.transform.sdpa."""

from executorch.extension.llm.transform.sdpa import replace_rms_norm_with_native_rms_norm

__all__ = ["replace_rms_norm_with_native_rms_norm"]
