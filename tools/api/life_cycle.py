# SPDX-License-Identifier: BSD-3-Clause
"""States of public names: rows of docs/api_life_cycle.md, marks in the sources, the record of Python's names.

python -m executorch.tools.api.life_cycle            # what the record lacks, and what has vanished
python -m executorch.tools.api.life_cycle --record   # adds the new ones; none is ever taken away
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from executorch.tools.site.reference.python import MODULES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/api_life_cycle.md"
RECORD = Path(__file__).resolve().with_name("public_names.txt")
FOLDERS = ("runtime", "kernels", "extension", "devtools", "backends", "exir", "export", "codegen")
DEPRECATED, EXPERIMENTAL, DELETED = "deprecated", "experimental", "deleted"
RELEASES = 2  # minor ones, from the mark to the end

Version = tuple[int, int]


@dataclass(frozen=True, order=True)
class Mark:
    where: str
    name: str
    state: str


@dataclass(frozen=True)
class Row:
    mark: Mark
    since: Version
    until: Version | None
    instead: str


def version(text: str) -> Version:
    """1.4 of 1.4 and of 1.4.1."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def rows(page: str) -> list[Row]:
    found = []
    for line in page.partition("## Names that are marked")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            name, where, state, since, until, instead = cells
            mark = Mark(where, name.strip("`"), state)
            found.append(Row(mark, version(since), version(until) if until else None, instead))
    return found


def problems(row: Row, current: Version) -> list[str]:
    """What a row promises too little of: sentences."""
    state, found = row.mark.state, []
    if state not in (DEPRECATED, EXPERIMENTAL, DELETED):
        found.append(f"a state {state}")
    if row.since > current:
        found.append("since a release that is still to come")
    if state == EXPERIMENTAL:
        return found
    least = (row.since[0], row.since[1] + RELEASES)
    if row.until is None or row.until < least:
        found.append(f"may go in {least[0]}.{least[1]} at the earliest")
    elif state == DELETED and current < row.until:
        found.append("deleted before its release")
    if not row.instead:
        found.append("does not say what to write instead")
    return found


ANY = re.compile(r"ET_(?:DEPRECATED|EXPERIMENTAL)|(?:@\w*\.?|[( ])(?:[dD]eprecated|experimental)\b")
# What follows a mark up to the name that it is of.
CPP = re.compile(
    r"\bET_(DEPRECATED|EXPERIMENTAL)\b(?P<text>[^;{(]*?)(?P<name>\w+)\s*(?:[({;]|:(?!:))"
)
KOTLIN = re.compile(
    r"@Deprecated\b[^\n]*\n(?:\s*@[^\n]*\n)*[^\n(=]*?(?:fun|class|val|var|\s)\s*(?P<name>\w+)\s*[(:={]"
)
OBJECTIVE_C = re.compile(
    r"__attribute__\(\([^\n]*deprecated\(\"(?P<text>[^\"]*)\"\)\)\)\s*@\w+\s+(?P<name>\w+)"
)
SWIFT = re.compile(
    r"@available\(\*, deprecated(?P<text>[^\n]*)\)\s*(?:@\w+\s+)*"
    r"(?:\w+ )*?(?:func|class|var|init|struct)\s+(?P<name>\w+)"
)


def marks_in(where: str, text: str) -> Iterator[Mark]:
    """Of a source file, by the suffix of its path."""
    suffix = Path(where).suffix
    if suffix == ".py":
        yield from _python(where, text)
    elif suffix == ".h":
        for found in CPP.finditer(re.sub(r"^\s*#\s*define\b.*|//.*", "", text, flags=re.M)):
            yield Mark(where, found["name"], found[1].lower())
        yield from _with_text(where, OBJECTIVE_C, text)
    elif suffix == ".swift":
        yield from _with_text(where, SWIFT, text)
    elif suffix in (".kt", ".java"):
        for found in KOTLIN.finditer(text):
            yield Mark(where, found["name"], DEPRECATED)


def _with_text(where: str, pattern: re.Pattern[str], text: str) -> Iterator[Mark]:
    """Languages that have one mark for both, and a text that tells which."""
    for found in pattern.finditer(text):
        state = EXPERIMENTAL if "experimental" in found["text"] else DEPRECATED
        yield Mark(where, found["name"], state)


def _python(where: str, text: str) -> Iterator[Mark]:
    for node in ast.walk(ast.parse(text)):
        for decorator in getattr(node, "decorator_list", []):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = getattr(called, "id", getattr(called, "attr", ""))
            if name in (DEPRECATED, EXPERIMENTAL):
                yield Mark(where, node.name, name)


def marks(root: Path = ROOT) -> set[Mark]:
    """In all sources but tests."""
    found: set[Mark] = set()
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            where = path.relative_to(root).as_posix()
            if path.suffix in (".h", ".py", ".kt", ".java", ".swift") and not _is_left_out(where):
                text = path.read_text(errors="replace")
                if ANY.search(text):
                    found.update(marks_in(where, text))
    return found


def _is_left_out(where: str) -> bool:
    return bool(re.search(r"(^|/)(tests?|__tests__|src/test|third-party)/|_test\.py$", where))


def public_names() -> set[str]:
    """Of MODULES, with the members of classes: executorch.runtime.Method.execute."""
    found = set()
    for module in MODULES:
        home = import_module(module.name)
        for name in module.names:
            found.add(f"{module.name}.{name}")
            value = getattr(home, name)
            if inspect.isclass(value):
                found |= {f"{module.name}.{name}.{member}" for member in members(value)}
    return found


def members(value: type[Any]) -> set[str]:
    """Of the class itself; what a base has, replaced or not, is the base's."""
    found = set(vars(value)) - {name for base in value.__mro__[1:] for name in vars(base)}
    if dataclasses.is_dataclass(value):
        found |= {field.name for field in dataclasses.fields(value)}
    return {name for name in found if not name.startswith("_")}


def recorded(path: Path = RECORD) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def vanished(record: Iterable[str], names: set[str], page: list[Row]) -> list[str]:
    """Names of the record that are not there, but those whose last part has a row that says deleted."""
    gone = {row.mark.name for row in page if row.mark.state == DELETED}
    return sorted(
        name for name in record if name not in names and name.rpartition(".")[2] not in gone
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true", help="add new names to the record")
    options = parser.parse_args(argv)
    names, known = public_names(), recorded() if RECORD.exists() else []
    for name in vanished(known, names, rows(PAGE.read_text())):
        print(f"vanished: {name}")
    new = sorted(names - set(known))
    if options.record:
        head = "# Public names of Python that were in a release or are to be in the next one (life_cycle.py).\n"
        RECORD.write_text(head + "".join(f"{name}\n" for name in sorted({*known, *names})))
    for name in new:
        print(f"{'added' if options.record else 'new'}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
