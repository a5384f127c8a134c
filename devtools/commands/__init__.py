# SPDX-License-Identifier: BSD-3-Clause
"""The commands of `python -m executorch.devtools`: one row of COMMANDS and two modules each, of the same name.

The one in `arguments` has a docstring (the command's help, with an example) and `add_arguments(parser)`, and imports
nothing that takes long; the one here has `report(arguments) -> Report`, which raises OSError, ValueError or
ExportError, with a sentence, for what it cannot work on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

COMMANDS = {
    "bench": "how long a program takes, warm and cold; two programs in turns",
    "bisect": "a model beside its program: causes of other numbers, and the first operator that differs, by line",
    "check": "will a program load there: operators, dtypes, backends, memory, versions, external data",
    "diff": "what differs between two program files, in operators and in bytes",
    "doctor": "what stops a program, slows it or takes its memory, with lines of Python and next steps",
    "explain": "who owns which bytes of a program file",
    "self_test": "test cases in a program file, which executor_runner --self_test runs on the device",
    "view": "the graph as a page: modules, backends, sizes, memory, times; two files beside each other",
}
_MODULES = {"self_test": "self_tests"}  # where it is not of the same name
PROGRAM = "python -m executorch.devtools"
FAILED = 2  # the command could not do its work; 1: it did, and found something


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: that of the report, or FAILED with a sentence on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in COMMANDS:
        return _main_help(given)
    prog = f"{PROGRAM} {given[0]}"
    return run(given[0], parser(given[0], prog).parse_args(given[1:]), prog)


def parser(name: str, prog: str) -> argparse.ArgumentParser:
    """Of a command, which calls itself `prog`."""
    module = _module(name, "arguments.")
    made = argparse.ArgumentParser(
        prog=prog,
        description=(module.__doc__ or "").replace(f"{PROGRAM} {name}", prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(made)
    made.add_argument("--json", action="store_true", help="JSON instead of text")
    made.add_argument(
        "--html",
        type=Path,
        metavar="PAGE",
        help="also a page that needs nothing else, to be seen in a browser",
    )
    return made


def run(name: str, options: argparse.Namespace, prog: str) -> int:
    """What main() gives."""
    from executorch.exir.error import ExportError

    try:
        report = _module(name).report(options)
        if options.html is not None:
            from executorch.devtools.commands.output.page import page

            options.html.write_text(
                report.page or page(report, f"executorch {name}"), encoding="utf-8"
            )
    except (OSError, ValueError, ExportError) as problem:
        # A problem of the runtime may have several lines; what has code to paste keeps them.
        as_text = getattr(problem, "as_text", None)
        text = as_text() if as_text is not None else " ".join(str(problem).split())
        print(f"{prog}: {text}", file=sys.stderr)
        return FAILED
    try:
        print(report.as_json() if options.json else report.as_text())
    except BrokenPipeError:  # `... | head`
        sys.stderr.close()
    return report.status


def _module(name: str, place: str = "") -> ModuleType:
    return import_module(f"executorch.devtools.commands.{place}{_MODULES.get(name, name)}")


def _main_help(given: list[str]) -> int:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name.ljust(width)}  {summary}" for name, summary in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="What a program file holds, and what became of a model.",
        epilog=f"commands:\n{rows}\n\n`{PROGRAM} <command> --help` says more and has an example.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="command", help="see below")
    parser.parse_args(given or ["--help"])
    return FAILED
