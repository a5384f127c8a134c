# SPDX-License-Identifier: BSD-3-Clause
"""Exports a language model as a YAML file and overrides say.

usage: python -m executorch.extension.llm.export.export_llm [--config FILE.yaml] [--eval TEXT] [group.key=value ...]
e.g.   python -m executorch.extension.llm.export.export_llm base.model_class=smollm2 base.checkpoint=model.gguf \
           model.use_kv_cache=True backend.xnnpack.enabled=True
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from executorch.extension.llm.export.config.llm_config import LlmConfig
from executorch.extension.llm.export.config.reading import all_keys, read


def _keys_text() -> str:
    default = LlmConfig()
    lines = []
    for key, _ in all_keys():
        value: Any = default
        for part in key.split("."):
            value = getattr(value, part, None)
        lines.append(f"  {key} ({value})")
    return "options (default):\n" + "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export_llm",
        description="Exports a language model to a .pte file.",
        epilog=_keys_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", help="a YAML file of options")
    parser.add_argument(
        "--eval", help="a text: prints its perplexity before and after quantization"
    )
    return parser


def parse_config_arg() -> tuple[str | None, list[str]]:
    """The value of `--config` (None without one) and all other arguments of the command line."""
    options, rest = _parser().parse_known_args()
    return options.config, rest + ([] if options.eval is None else ["--eval", options.eval])


def pop_config_arg() -> str | None:
    """Takes `--config FILE` off the command line, for parsers that come after."""
    config, rest = parse_config_arg()
    sys.argv = [sys.argv[0], *rest]
    return config


def hydra_main(llm_config: LlmConfig, eval_text: str | None = None) -> None:
    # the compiler loads when there is something to compile
    from executorch.extension.llm.export.pipeline import export_llama

    export_llama(llm_config, eval_text)


def main() -> None:
    """Ends with a message, and code 1, where options or a checkpoint are wrong."""
    options, overrides = _parser().parse_known_args()
    unknown = [text for text in overrides if text.startswith("-")]
    try:
        if unknown:
            raise ValueError(f"unknown flag {unknown[0]!r}: options are given as group.key=value")
        hydra_main(read(options.config, overrides), options.eval)
    except (ValueError, TypeError, OSError) as error:
        sys.exit(f"export_llm: error: {error}")


if __name__ == "__main__":
    main()
