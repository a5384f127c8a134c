# SPDX-License-Identifier: BSD-3-Clause
"""The older command line of `examples.models.llama.export_llama`."""

from __future__ import annotations

import argparse
from typing import Any

from executorch.extension.llm.export.config.flag_table import BOTH_KERNELS, FLAGS
from executorch.extension.llm.export.config.keys import type_of
from executorch.extension.llm.export.config.llm_config import LlmConfig


def _options(key: str) -> dict[str, Any]:
    kind = type_of(key.rstrip("!"), LlmConfig)
    if kind is bool:
        return {"action": "store_true", "default": None}
    if kind is int:
        return {"type": int}
    if kind == list[str]:
        return {"nargs": "+"}
    if kind == list[int]:
        return {"type": lambda text: [int(part) for part in text.strip("[]").split(",")]}
    return {}


def build_args_parser() -> argparse.ArgumentParser:
    """Flags that are not given stay None; the config's defaults hold for them."""
    parser = argparse.ArgumentParser(
        prog="export_llama", description="Exports a language model to a .pte file."
    )
    for flags, key in FLAGS:
        dest = max(flags, key=len).lstrip("-").replace("-", "_")
        parser.add_argument(*flags, dest=dest, help=key.rstrip("!"), **_options(key))
    parser.add_argument(
        "--use-torchao-kernels",
        dest=BOTH_KERNELS,
        action="store_true",
        help="both of backend.torchao",
    )
    return parser
