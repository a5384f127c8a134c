# SPDX-License-Identifier: BSD-3-Clause
"""The decoder under the names that other code imports; it lives in extension/llm."""

from executorch.examples.models.llama.model import Llama2Model

__all__ = ["Llama2Model"]
