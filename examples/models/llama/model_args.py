# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.args."""

from executorch.extension.llm.model.args import ActFn, ModelArgs

__all__ = ["ActFn", "ModelArgs"]
