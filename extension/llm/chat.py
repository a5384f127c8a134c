# SPDX-License-Identifier: BSD-3-Clause
"""Chat with a language model in the terminal: `executorch chat`, or python -m executorch.extension.llm.chat.

MODEL is a program (.pte), a GGUF file, or a folder of Hugging Face; what is no program yet is exported once and kept.
Control-C ends an answer, /reset begins a new conversation, /quit or the end of input ends the program.

    executorch chat SmolLM2-135M-Instruct.Q4_1.gguf -p "What is the capital of France?"
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from executorch.extension.llm.runner.conversation import Answer


def parser(prog: str = "python -m executorch.extension.llm.chat") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="see above")
    parser.add_argument("-p", "--prompt", metavar="TEXT", help="answer this, and stop")
    parser.add_argument(
        "--json-schema", type=Path, metavar="FILE", help="answers are JSON of this schema"
    )
    add_export_option(parser)
    parser.add_argument(
        "--tokenizer",
        type=Path,
        help="file, or the checkpoint's folder; default: tokenizer.json, tokenizer.model or tekken.json beside "
        "the program",
    )
    parser.add_argument("--data", type=Path, help="the program's data file (.ptd)")
    parser.add_argument("--system", help="what the conversation begins with, as its system")
    parser.add_argument(
        "--temperature",
        type=float,
        help="0: always the best token; up to 2; default: the checkpoint's, or 0.7",
    )
    parser.add_argument("--top-p", type=float, help="default: the checkpoint's, or 0.9")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0: the clock's")
    parser.add_argument("--max-new-tokens", type=int, default=-1, help="of each answer")
    parser.add_argument(
        "--allow-chatml-fallback", action="store_true", help="where no chat template is found"
    )
    return parser


def add_export_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        *("-x", "--export-option"),
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of export_llm, for a checkpoint, such as quantization.qmode=8da4w",
    )


def check_program(model: Path) -> None:
    """What else is missing does not matter before there is a program."""
    if not model.is_file():
        raise FileNotFoundError(
            f"there is no program {model}: python -m executorch.extension.llm.export.export_llm makes one"
        )


def chat(options: argparse.Namespace, lines: Iterable[str], out: TextIO) -> None:
    """Answers each line, until there are no more."""
    from executorch.extension.llm.export.kept import program_of
    from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner
    from executorch.extension.llm.runner.chat_template import ChatTemplate
    from executorch.extension.llm.runner.conversation import answer

    if options.tokenizer:
        check_program(options.model)
        model, tokenizer = options.model, options.tokenizer
    else:
        program = program_of(options.model, options.export_option)
        model, tokenizer = program.path, program.tokenizer
    template = ChatTemplate.beside(tokenizer, options.allow_chatml_fallback)
    runner = TextLLMRunner(model, tokenizer, options.data)
    runner.load()
    sampling = defaults(tokenizer, options)
    if options.json_schema:
        sampling |= {"grammar": options.json_schema.read_text(), "grammar_type": "json_schema"}
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
            **sampling,
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
        else:
            if options.prompt or sys.stderr.isatty():
                note(speed(done))
        show("\n")
        messages.append({"role": "assistant", "content": "".join(said)})


def note(text: str) -> None:
    """Beside the conversation."""
    print(f"\n[{text}]", end="", file=sys.stderr, flush=True)


def speed(done: Answer) -> str:
    """Of the answer's tokens after the first, which comes of the prompt."""
    rate = f"{done.tokens_per_second:.1f} tokens/s, " if done.tokens_per_second else ""
    computed = done.prompt_tokens - done.reused_tokens
    return (
        f"{done.completion_tokens} tokens, {rate}after {computed} of {done.prompt_tokens} of the prompt in "
        f"{done.prompt_seconds:.2f} s"
    )


# What of generation_config.json an answer takes, and what the runner allows.
_SAMPLING: dict[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (1e-9, 1),
    "top_k": (0, 2**31 - 1),
    "min_p": (0, 1),
    "repetition_penalty": (0.01, 100),
}


def checkpoint_sampling(tokenizer: Path) -> dict[str, float]:
    """How answers are sampled by generation_config.json beside the tokenizer, as far as it says."""
    folder = tokenizer if tokenizer.is_dir() else tokenizer.parent
    file = folder / "generation_config.json"
    config = json.loads(file.read_text()) if file.is_file() else {}
    return {
        name: config[name]
        for name, (low, high) in _SAMPLING.items()
        if isinstance(config.get(name), int | float) and low <= config[name] <= high
    }


def defaults(tokenizer: Path, options: argparse.Namespace) -> dict[str, float]:
    """What the user asked for, else what the checkpoint says, else what suits small models."""
    given = {"temperature": options.temperature, "top_p": options.top_p}
    asked = {name: value for name, value in given.items() if value is not None}
    return {"temperature": 0.7, "top_p": 0.9, **checkpoint_sampling(tokenizer), **asked}


def _typed() -> Iterable[str]:
    while True:
        try:
            yield input("> ")
        except EOFError:
            return
        except KeyboardInterrupt:
            print()


def run(options: argparse.Namespace) -> int:
    """RuntimeError, OSError or ValueError, with a sentence, for what cannot be done."""
    lines = [options.prompt] if options.prompt else _typed() if sys.stdin.isatty() else sys.stdin
    chat(options, lines, sys.stdout)
    return 0


def main() -> None:
    try:
        run(parser().parse_args())
    except (RuntimeError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
