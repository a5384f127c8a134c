# SPDX-License-Identifier: BSD-3-Clause
"""The commands of `executorch`, in the order of its help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from executorch.devtools.commands import COMMANDS as DEVTOOLS

MODELS, LANGUAGE, PROGRAMS, BOARDS, PROJECTS = (
    "from a model to a program",
    "language models",
    "look at a program",
    "microcontrollers",
    "projects of your own",
)


@dataclass(frozen=True)
class Command:
    """`module` has parser(prog) -> ArgumentParser and run(options) -> exit status, and may have check(options), which
    raises for what cannot work before PyTorch is imported; `devtools`: a command of
    `python -m executorch.devtools` instead. Without `needs_torch` it starts in a fraction of a second, unless an option
    of `torch_options` is given."""

    name: str
    group: str
    summary: str
    module: str = ""
    devtools: str = ""
    needs_torch: bool = True
    torch_options: tuple[str, ...] = ()

    def starts_light(self, given: Sequence[str]) -> bool:
        asked = {word.partition("=")[0] for word in given}
        return not self.needs_torch and asked.isdisjoint(self.torch_options)

    @property
    def prog(self) -> str:
        return f"executorch {self.name}"

    def parser(self) -> argparse.ArgumentParser:
        if self.devtools:
            return import_module("executorch.devtools.commands").parser(self.devtools, self.prog)
        return import_module(self.module).parser(self.prog)

    def check(self, options: argparse.Namespace) -> int:
        module = None if self.devtools else import_module(self.module)
        if hasattr(module, "check"):
            module.check(options)
        return 0

    def run(self, options: argparse.Namespace) -> int:
        if self.devtools:
            return import_module("executorch.devtools.commands").run(
                self.devtools, options, self.prog
            )
        return import_module(self.module).run(options)


def _devtools(name: str, key: str = "", needs_torch: bool = True) -> Command:
    key = key or name
    return Command(name, PROGRAMS, DEVTOOLS[key], "", key, needs_torch, ("--etrecord",))


COMMANDS = (
    Command(
        "export", MODELS, "a model as a .pte file, quantized on request", "executorch.cli.export"
    ),
    Command("run", MODELS, "run a .pte file on inputs", "executorch.cli.run", needs_torch=False),
    Command("eval", MODELS, "how good a model or a program is on data", "executorch.cli.eval"),
    Command(
        "wrap",
        MODELS,
        "a typed class for a .pte file, in your language",
        "executorch.cli.wrap",
        needs_torch=False,
    ),
    Command(
        "chat",
        LANGUAGE,
        "chat with a language model: a .pte, a GGUF file, a folder of Hugging Face",
        "executorch.extension.llm.chat",
    ),
    Command(
        "serve",
        LANGUAGE,
        "the same by OpenAI's routes, with a page",
        "executorch.extension.llm.server.__main__",
    ),
    _devtools("doctor"),
    _devtools("bench", needs_torch=False),
    _devtools("bisect"),
    _devtools("check", needs_torch=False),
    _devtools("explain", needs_torch=False),
    _devtools("diff", needs_torch=False),
    _devtools("view"),
    _devtools("self-test", "self_test"),
    Command(
        "c",
        BOARDS,
        "a program as C++ source, or as a project for a microcontroller",
        "executorch.cli.c",
        needs_torch=False,
    ),
    Command(
        "new-backend",
        PROJECTS,
        "a delegate: compiler in Python, runtime in C++, tests",
        "executorch.cli.new_backend",
        needs_torch=False,
    ),
    Command(
        "new-operator",
        PROJECTS,
        "an operator: PyTorch's half, the kernel in C++, tests",
        "executorch.cli.new_operator",
        needs_torch=False,
    ),
)
BY_NAME = {command.name: command for command in COMMANDS}
