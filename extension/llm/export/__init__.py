# SPDX-License-Identifier: BSD-3-Clause
"""From a checkpoint to a program: `export_llm` is the command, `LLMEdgeManager` its stages for models of one's own."""

from typing import Any


def __getattr__(name: str) -> Any:
    """`LLMEdgeManager` brings the compiler, which the command's options do without."""
    if name == "LLMEdgeManager":
        from executorch.extension.llm.export.builder import LLMEdgeManager

        return LLMEdgeManager
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
