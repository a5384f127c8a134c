# SPDX-License-Identifier: BSD-3-Clause
"""Chat with a language model in the terminal.

usage: python -m executorch.extension.llm.chat MODEL.pte [--tokenizer FILE] [--system TEXT] [--temperature 0.7] ...

Control-C ends an answer, /reset begins a new conversation, /quit or the end of input ends the program.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.extension.llm.chat", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("model", type=Path, help="the program (.pte)")
    parser.add_argument(
        "--tokenizer",
        type=Path,
        help="file, or the checkpoint's folder; default: tokenizer.json, tokenizer.model or tekken.json beside "
        "the program",
    )
    parser.add_argument("--data", type=Path, help="the program's data file (.ptd)")
    parser.add_argument("--system", help="what the conversation begins with, as its system")
    parser.add_argument(
        "--temperature", type=float, default=0.7, help="0: always the best token; up to 2"
    )
    parser.add_argument("--top-p", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0: the clock's")
    parser.add_argument("--max-new-tokens", type=int, default=-1, help="of each answer")
    parser.add_argument(
        "--allow-chatml-fallback", action="store_true", help="where no chat template is found"
    )
    return parser


def find_tokenizer(model: Path) -> Path:
    if not model.is_file():
        raise FileNotFoundError(f"there is no program {model}: export one with export_llm")
    names = ("tokenizer.json", "tekken.json", "tokenizer.model", "tokenizer.bin")
    for name in names:
        if (path := model.parent / name).is_file():
            return path
    raise FileNotFoundError(
        f"no tokenizer beside {model} ({', '.join(names)}): name it with --tokenizer"
    )


def check_program(model: Path) -> None:
    """What else is missing does not matter before there is a program."""
    if not model.is_file():
        raise FileNotFoundError(
            f"there is no program {model}: python -m executorch.extension.llm.export.export_llm makes one"
        )


def chat(options: argparse.Namespace, lines: Iterable[str], out: TextIO) -> None:
    """Answers each line, until there are no more."""
    from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner
    from executorch.extension.llm.runner.chat_template import ChatTemplate
    from executorch.extension.llm.runner.conversation import answer

    check_program(options.model)
    tokenizer = options.tokenizer or find_tokenizer(options.model)
    template = ChatTemplate.beside(tokenizer, options.allow_chatml_fallback)
    runner = TextLLMRunner(options.model, tokenizer, options.data)
    runner.load()
    system = [{"role": "system", "content": options.system}] if options.system else []
    messages = list(system)
    seed = options.seed

    def show(text: str) -> None:
        out.write(text)
        out.flush()

    for line in lines:
        text = line.strip()
        if text == "/quit":
            return
        if text == "/reset":
            messages = list(system)
        if text in ("", "/reset"):
            continue
        messages.append({"role": "user", "content": text})
        config = GenerationConfig(
            silent=True,  # nothing but the answer on the terminal
            temperature=options.temperature,
            top_p=options.top_p,
            max_new_tokens=options.max_new_tokens,
            seed=seed,
        )
        seed = 0
        said: list[str] = []

        def show_and_note(piece: str, said: list[str] = said) -> None:
            said.append(piece)
            show(piece)

        try:
            done = answer(runner, runner.encode(template.render(messages)), config, show_and_note)
            if done.reason == "length" and options.max_new_tokens == -1:
                show("\n[the context is full: /reset begins a new conversation]")
        except KeyboardInterrupt:
            show(" [interrupted]")
        except RuntimeError as error:
            messages.pop()
            show(f"[{error}]\n")
            continue
        show("\n")
        messages.append({"role": "assistant", "content": "".join(said)})


def _typed() -> Iterable[str]:
    while True:
        try:
            yield input("> ")
        except EOFError:
            return
        except KeyboardInterrupt:
            print()


def main() -> None:
    options = _parser().parse_args()
    try:
        chat(options, _typed() if sys.stdin.isatty() else sys.stdin, sys.stdout)
    except (RuntimeError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
