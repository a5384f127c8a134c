# SPDX-License-Identifier: BSD-3-Clause
"""The commands of `executorch`, in the order of its help."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib import import_module

from executorch.devtools.commands import COMMANDS as DEVTOOLS

MODELS, LANGUAGE, PROGRAMS, BOARDS = (
    "from a model to a program",
    "language models",
    "look at a program",
    "microcontrollers",
)


@dataclass(frozen=True)
class Command:
    """`module` has parser(prog) -> ArgumentParser and run(options) -> exit status; `devtools`: a command of
    `python -m executorch.devtools` instead."""

    name: str
    group: str
    summary: str
    module: str = ""
    devtools: str = ""

    @property
    def prog(self) -> str:
        return f"executorch {self.name}"

    def parser(self) -> argparse.ArgumentParser:
        if self.devtools:
            return import_module("executorch.devtools.commands").parser(self.devtools, self.prog)
        return import_module(self.module).parser(self.prog)

    def run(self, options: argparse.Namespace) -> int:
        if self.devtools:
            return import_module("executorch.devtools.commands").run(
                self.devtools, options, self.prog
            )
        return import_module(self.module).run(options)


def _devtools(name: str, key: str = "") -> Command:
    key = key or name
    return Command(name, PROGRAMS, DEVTOOLS[key], devtools=key)


COMMANDS = (
    Command(
        "export", MODELS, "a model as a .pte file, quantized on request", "executorch.cli.export"
    ),
    Command("run", MODELS, "run a .pte file on inputs", "executorch.cli.run"),
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
        "executorch.examples.llm_server.__main__",
    ),
    _devtools("doctor"),
    _devtools("bench"),
    _devtools("bisect"),
    _devtools("check"),
    _devtools("explain"),
    _devtools("diff"),
    _devtools("self-test", "self_test"),
    Command(
        "c", BOARDS, "a program as C++ source for microcontrollers", "executorch.codegen.c.__main__"
    ),
)
BY_NAME = {command.name: command for command in COMMANDS}
