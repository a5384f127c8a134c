# SPDX-License-Identifier: BSD-3-Clause
"""Which data file a weight goes to: the model's own to one that several adapters share, an adapter's to another."""

from __future__ import annotations

from collections.abc import Callable

from torch.fx import Node

from executorch.extension.llm.export.config.llm_config import ExportConfig


def weight_tags(options: ExportConfig) -> Callable[[Node], str | None] | None:
    """From a constant's node to its file, without `.ptd`; None for what stays in the program, and where no file is
    asked for."""
    if not (options.foundation_weights_file or options.lora_weights_file):
        return None
    foundation, lora = (
        None if name is None else name.removesuffix(".ptd")
        for name in (options.foundation_weights_file, options.lora_weights_file)
    )
    return lambda node: lora if "lora" in node.name else foundation
