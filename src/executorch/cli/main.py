# SPDX-License-Identifier: BSD-3-Clause
"""`executorch <command>`, and `python -m executorch <command>`."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from itertools import groupby

from executorch import _light
from executorch._quiet import quieten
from executorch.cli.table import BY_NAME, COMMANDS

PROGRAM = "executorch"
DONE, FOUND, FAILED = 0, 1, 2
STATUSES = """exit status: 0 done; 1 done, and found something wrong (check, bisect, export and run with a comparison);
2 could not do its work, with a sentence on stderr"""


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help", "help"):
        print(overview())
        return DONE
    if given[0] in ("-V", "--version"):
        from executorch.cli.version import version

        print(version())
        return DONE
    if given[0] == "--completion":
        from executorch.cli.completion import script

        return _report(given[0], lambda: print(script(given[1:])) or DONE)
    if given[0] == "--complete":
        from executorch.cli.completion import candidates

        _light.is_on = True
        print("\n".join(candidates(given[1:])))
        return DONE
    if given[0] in ("--cflags", "--libs", "--cmakedir"):
        from executorch.cli.flags import printed

        return _report(given[0], lambda: print(printed(given)) or DONE)
    command = BY_NAME.get(given[0])
    if command is None:
        return _unknown(given[0])
    _light.is_on = True  # --help, and options that are wrong, need no PyTorch
    try:
        options = command.parser().parse_args(given[1:])
        if status := _report(command.name, lambda: command.check(options)):
            return status
    finally:
        _light.is_on = False
    quieten()
    if command.starts_light(given[1:]):
        _light.is_on = True
    else:
        _light.end()
    return _report(command.name, lambda: command.run(options))


def _report(name: str, work) -> int:
    """The status of the work; a problem that it can name is one sentence."""
    try:
        return work()
    except BrokenPipeError:  # `... | head`
        sys.stderr.close()
        return DONE
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except Exception as problem:
        if not _is_reported(problem):
            raise
        print(f"{PROGRAM} {name}: {_sentence(problem)}", file=sys.stderr)
        return FAILED


def _sentence(problem: Exception) -> str:
    """In one line, but for what has code to paste."""
    as_text = getattr(problem, "as_text", None)
    return as_text() if as_text is not None else " ".join(str(problem).split())


def _is_reported(problem: Exception) -> bool:
    """Whether its text is for the user: everything else is a fault of ours, and keeps its trace."""
    kinds = ("ExportError", "ExecuTorchError", "ProgramError")
    named = any(kind.__name__ in kinds for kind in type(problem).__mro__)
    return named or isinstance(problem, OSError | ValueError | ImportError)


def _unknown(name: str) -> int:
    near = difflib.get_close_matches(name, BY_NAME, 1)
    hint = f"did you mean {near[0]}?" if near else f"see `{PROGRAM} --help`"
    print(f"{PROGRAM}: there is no command {name!r}; {hint}", file=sys.stderr)
    return FAILED


def overview() -> str:
    width = max(len(command.name) for command in COMMANDS)
    lines = [
        f"usage: {PROGRAM} <command> [options]",
        "",
        "From a PyTorch model to a file that a small C++ runtime runs on phones, laptops and microcontrollers.",
    ]
    for group, commands in groupby(COMMANDS, key=lambda command: command.group):
        lines += ["", f"{group}:"]
        lines += [f"  {command.name.ljust(width)}  {command.summary}" for command in commands]
    lines += [
        "",
        "also:",
        "  --version            the package, and what its runtime has: backends, kernels, processor",
        "  --cflags, --libs     what the compiler of a C++ program needs; --cmakedir: where find_package looks",
        "  --completion SHELL   a script that completes commands and options: bash, zsh or fish",
        "",
        STATUSES,
        "",
        f"example: {PROGRAM} export mv2 --backend xnnpack && {PROGRAM} run mv2.pte",
        f"`{PROGRAM} <command> --help` says more and has an example.",
    ]
    return "\n".join(lines)


def command_parser(prog: str, doc: str | None) -> argparse.ArgumentParser:
    """With the module's docstring, whose last paragraph is an example, as it stands."""
    return argparse.ArgumentParser(
        prog=prog, description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


if __name__ == "__main__":
    sys.exit(main())
