# SPDX-License-Identifier: BSD-3-Clause
"""Chat with a language model in the terminal: `executorch chat`, or python -m executorch.extension.llm.chat.

MODEL is a program (.pte), a GGUF file, or a folder of Hugging Face; what is no program yet is exported once and kept.
Control-C ends an answer, /reset begins a new conversation, /quit or the end of input ends the program.

    executorch chat SmolLM2-135M-Instruct.Q4_1.gguf -p "What is the capital of France?"
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from executorch.extension.llm.runner.conversation import Answer


SAMPLING = {
    "temperature": (float, "0: always the best token; up to 2"),
    "top_k": (int, "only the k best tokens; 0: any"),
    "top_p": (float, "only the best tokens up to this sum of probabilities; 1: any"),
    "min_p": (float, "only tokens at least so many times as probable as the best; 0: any"),
    "repetition_penalty": (float, "above 1: what was said before is less likely"),
}


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
    for name, (kind, message) in SAMPLING.items():
        flag = "--" + name.replace("_", "-")
        parser.add_argument(
            flag, type=kind, help=f"{message}; default: the checkpoint's, or llama.cpp's"
        )
    parser.add_argument("--seed", type=int, help="of the random numbers; default: the clock's")
    parser.add_argument("--max-new-tokens", type=int, default=-1, help="of each answer")
    parser.add_argument(
        "--repeats",
        type=int,
        default=4,
        help="an answer ends when it says the same so many times on end, of 128 tokens or more; 0: never; default 4",
    )
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


def chat(options: argparse.Namespace, lines: Iterable[str], out: TextIO) -> None:
    """Answers each line, until there are no more."""
    talk = Talk(options, out)
    for line in lines:
        text = line.strip()
        if text == "/quit":
            return
        if text == "/reset":
            talk.reset()
        elif text:
            talk.say(text)


class Talk:
    """A conversation, written to `out`. Turns that no longer fit in the context with room for an answer are left out,
    the oldest first; an answer that repeats itself is stopped."""

    _ROOM = 4  # a share of the context: room for an answer

    def __init__(self, options: argparse.Namespace, out: TextIO) -> None:
        from executorch.extension.llm.export.program_cache import program_of
        from executorch.extension.llm.runner import TextLLMRunner
        from executorch.extension.llm.runner.chat_template import ChatTemplate

        self._options, self._out, self._seed = options, out, options.seed
        program = program_of(options.model, options.export_option, tokenizer=options.tokenizer)
        self._template = ChatTemplate.beside(program.tokenizer, options.allow_chatml_fallback)
        self._runner = TextLLMRunner(program.path, program.tokenizer, options.data)
        self._runner.load()
        self._sampling: dict[str, Any] = defaults(program.tokenizer, options)
        if options.json_schema:
            schema = options.json_schema.read_text()
            self._sampling |= {"grammar": schema, "grammar_type": "json_schema"}
        self.reset()

    def reset(self) -> None:
        system = self._options.system
        self._messages = [{"role": "system", "content": system}] if system else []

    def say(self, text: str) -> None:
        from executorch.extension.llm.runner.conversation import latest

        before = self._messages
        asked = [*before, {"role": "user", "content": text}]
        self._messages = latest(asked, self._fits)
        if len(self._messages) < len(asked):
            self._show("[the context is full: the oldest turns are left out]\n")
        try:
            message = self._answer()
        except RuntimeError as error:
            self._messages = before
            self._show(f"[{error}]\n")
            return
        self._show("\n")
        self._messages.append({"role": "assistant", "content": message})

    def _answer(self) -> str:
        from executorch.extension.llm.runner import GenerationConfig
        from executorch.extension.llm.runner.conversation import answer

        config = GenerationConfig(
            silent=True,  # nothing but the answer on the terminal
            max_new_tokens=self._options.max_new_tokens,
            seed=self._seed,
            **self._sampling,
        )
        self._seed = None
        message: list[str] = []

        def show(piece: str) -> None:
            message.append(piece)
            self._show(piece)

        ids = self._ids(self._messages)
        try:
            done = answer(self._runner, ids, config, show, repeats=self._options.repeats)
        except KeyboardInterrupt:
            self._show(" [interrupted]")
        else:
            if done.reason == "repetition":
                self._show(_LOOP)
            elif done.reason == "length" and self._options.max_new_tokens == -1:
                self._show(_FULL)
            if self._options.prompt or sys.stderr.isatty():
                note(speed(done))
        return "".join(message)

    def _ids(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        return self._runner.encode(self._template.render(messages))

    def _fits(self, messages: Sequence[Mapping[str, Any]]) -> bool:
        length = self._runner.metadata["get_max_context_len"]
        room = length // self._ROOM
        if self._options.max_new_tokens > 0:
            room = min(room, self._options.max_new_tokens)
        return len(self._ids(messages)) + room <= length

    def _show(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


_LOOP = "\n[the answer repeats itself, and was ended: see --repeats, --repetition-penalty]"
_FULL = "\n[the context is full: the answer ends here]"


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


# As llama.cpp's chat, where neither the user nor the checkpoint says.
_OTHERWISE = {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05}


def checkpoint_sampling(tokenizer: Path) -> dict[str, float]:
    """How answers are sampled by generation_config.json beside the tokenizer, as far as it says."""
    from executorch.extension.llm.runner import sampling_of

    folder = tokenizer if tokenizer.is_dir() else tokenizer.parent
    file = folder / "generation_config.json"
    return sampling_of(file.read_text()) if file.is_file() else {}


def defaults(tokenizer: Path, options: argparse.Namespace) -> dict[str, float]:
    """What the user asked for, else what the checkpoint says, else what llama.cpp's chat has."""
    given = {name: getattr(options, name) for name in SAMPLING}
    asked = {name: value for name, value in given.items() if value is not None}
    return {**_OTHERWISE, **checkpoint_sampling(tokenizer), **asked}


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
