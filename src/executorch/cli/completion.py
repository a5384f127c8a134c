# SPDX-License-Identifier: BSD-3-Clause
"""Completion of commands and options: a shell asks `executorch --complete WORD...` for what may stand last."""

from __future__ import annotations

from collections.abc import Sequence

from executorch.cli.table import BY_NAME, COMMANDS

_BASH = """_executorch() {
  local IFS=$'\\n'
  COMPREPLY=($(executorch --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _executorch executorch"""
SCRIPTS = {
    "bash": _BASH,
    "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{_BASH}",
    "fish": "complete -c executorch -a '(executorch --complete (commandline -opc)[2..] (commandline -ct))'",
}


def script(given: Sequence[str]) -> str:
    """For a shell's start file: `eval "$(executorch --completion bash)"`."""
    if len(given) != 1 or given[0] not in SCRIPTS:
        raise ValueError(
            f"expected one of {', '.join(SCRIPTS)}, found {' '.join(given) or 'nothing'}"
        )
    return SCRIPTS[given[0]]


def candidates(words: Sequence[str]) -> list[str]:
    """What the last of `words` may become; nothing where a file is meant, which shells know."""
    *before, last = words or [""]
    if not before:
        return [command.name for command in COMMANDS if command.name.startswith(last)]
    command = BY_NAME.get(before[0])
    if command is None:
        return []
    options = command.parser()._option_string_actions
    if before[1:] and (asked := options.get(before[-1])) is not None and asked.choices:
        return [each for each in map(str, asked.choices) if each.startswith(last)]
    return [name for name in options if name.startswith(last)] if last.startswith("-") else []
