# SPDX-License-Identifier: BSD-3-Clause
"""Runs the model that the export command would write, in eager mode.

usage: python -m examples.models.llama.runner.eager -c consolidated.00.pth -p params.json -t tokenizer.model -kv \
    --prompt "Hello"
"""

from __future__ import annotations

import argparse

import torch

from executorch.examples.models.llama.export_llama_lib import _prepare_for_llama_export
from executorch.extension.llm.export.config.flags import build_args_parser as export_args_parser
from executorch.extension.llm.export.config.llm_config import LlmConfig
from executorch.extension.llm.model.generation import LlamaRunner


class EagerLlamaRunner(LlamaRunner):
    """The model of a config, rewritten as it asks."""

    def __init__(self, llm_config: LlmConfig, tokenizer_config_path: str | None = None) -> None:
        manager = _prepare_for_llama_export(llm_config)
        self.model = manager.model.eval()
        args = self.model.params
        super().__init__(
            tokenizer_path=llm_config.base.tokenizer_path,
            tokenizer_config_path=tokenizer_config_path,
            max_seq_len=args.max_seq_len,
            max_batch_size=1,
            use_kv_cache=args.use_kv_cache,
            vocab_size=args.vocab_size,
        )

    def forward(self, tokens: torch.Tensor, input_pos: torch.Tensor | None = None) -> torch.Tensor:
        options = None if input_pos is None else {"input_pos": input_pos}
        with torch.no_grad():
            return self.model(tokens, options)


def build_args_parser() -> argparse.ArgumentParser:
    """The export command's flags, and those of a text."""
    parser = export_args_parser()
    parser.add_argument("--prompt", default="Hello", help="the text that goes on")
    parser.add_argument("--temperature", type=float, default=0, help="0 takes the likeliest token")
    parser.add_argument("--show_tokens", action="store_true", help="print the tokens' numbers, too")
    parser.add_argument("--chat", action="store_true", help="answer what is typed")
    parser.add_argument("--tokenizer_config_path", help="beside a tokenizer.json")
    return parser


def execute_runner(runner_class: type[LlamaRunner]) -> None:
    """Makes a runner from the command line's config, and completes or chats."""
    options = build_args_parser().parse_args()
    config = LlmConfig.from_args(options)
    runner = runner_class(config, options.tokenizer_config_path)
    if options.chat:
        tokens = runner.chat_completion(config.export.max_seq_length, options.temperature)
    else:
        tokens = runner.text_completion(options.prompt, options.temperature, echo=True)
    if options.show_tokens:
        print(f"{len(tokens)} tokens: {tokens}")


def main() -> None:
    execute_runner(EagerLlamaRunner)


if __name__ == "__main__":
    main()
