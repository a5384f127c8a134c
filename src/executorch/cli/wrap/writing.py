# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch wrap` does: reads the program, asks the language for its text, writes the file."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

from executorch.cli.wrap.languages import language
from executorch.cli.wrap.names import Traits
from executorch.cli.wrap.program import Program, Value, read

MARK = "Made by `executorch wrap"


def write(options: argparse.Namespace) -> int:
    chosen = language(options.lang)
    program = read(options.program, chosen.TRAITS.words, options.name, options.method)
    program = replace(program, package=options.package)
    check(options, program, chosen.TRAITS)
    path = options.output or Path(chosen.file_name(program))
    head = f"{chosen.TRAITS.comment} {MARK} {program.file} --lang {options.lang}`, which writes it anew.\n"
    texts = {path: chosen.class_text(program)}
    if options.main:
        texts[options.main] = chosen.main_text(program, path.stem)
    for each in texts:
        if each.exists() and MARK not in each.read_text(errors="replace"):
            raise ValueError(
                f"{each} is there and was not made by this command: choose another file by -o or --main"
            )
    for each, text in texts.items():
        each.write_text(head + text)
        print(f"wrote {each}")
    return 0


def check(options: argparse.Namespace, program: Program, traits: Traits) -> None:
    """ValueError for names that are none, and for what the language lacks."""
    word = r"[A-Za-z][A-Za-z0-9]*"
    taken = {*traits.words.types, *traits.words.keywords}
    if not re.fullmatch(word, program.class_name) or program.class_name in taken:
        raise ValueError(
            f"--name: expected letters and digits, and no name that the class uses, found {options.name!r}"
        )
    if options.package and not traits.has_packages:
        raise ValueError(
            f"--package: expected a language whose classes have one, found {options.lang}"
        )
    if options.package and not re.fullmatch(rf"{word}(\.{word})*", options.package):
        raise ValueError(
            f"--package: expected a name such as com.example, found {options.package!r}"
        )
    for method in program.methods:
        for role, value in (
            *(("input", each) for each in method.needed),
            *(("output", each) for each in method.outputs),
        ):
            if lack := _lack(value, role == "input", traits):
                raise ValueError(
                    f"{options.program}: method {method.name}, {role} {value.title}: {options.lang} has no {lack}; "
                    "--method takes the other methods"
                )


def _lack(value: Value, is_input: bool, traits: Traits) -> str:
    if is_input and value.kind in traits.no_inputs:
        return f"inputs of kind {value.kind}"
    if not value.is_tensor:
        return ""
    if value.dtype not in traits.dtypes:
        return f"elements of {value.dtype}"
    if is_input and not traits.has_layouts and not value.is_row_major:
        return f"tensors whose dim order is {', '.join(map(str, value.declared.dim_order))}"
    return ""
