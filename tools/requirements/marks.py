# SPDX-License-Identifier: BSD-3-Clause
"""In which tier each row has its first test, read from the sources: fast before slow before full.

A function with one slow case counts as slow, as its other cases prove a part of the row. C++ tests are fast.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from executorch.tools.requirements.rows import named_in_tests, rows_marked
from executorch.tools.tiers import times

TIERS = ("fast", "slow", "full")
_FULL = "pytest.mark.full"


def tiers_of_rows(root: Path) -> dict[str, str]:
    """Row -> the first tier that has a test with its id."""
    known = times.read()
    slow = frozenset(
        name.partition("[")[0] for name in known.tests if times.tier_of(name, known) is times.SLOW
    )
    rows_of: dict[str, list[str]] = defaultdict(list)
    for row, files in named_in_tests(root).items():
        for file in files:
            rows_of[file].append(row)
    found: dict[str, set[str]] = defaultdict(set)
    for file, rows in rows_of.items():
        tiers = _tiers(root / file, file, slow) if file.endswith(".py") else {}
        for row in rows:
            found[row] |= tiers.get(row, {"fast"})
    return {row: min(tiers, key=TIERS.index) for row, tiers in found.items()}


def _tiers(path: Path, file: str, slow: frozenset[str]) -> dict[str, set[str]]:
    """Row -> tiers of the tests of a Python file."""
    found: dict[str, set[str]] = defaultdict(set)
    for test, is_full, rows in _tests(path.read_text(), file):
        for row in rows:
            found[row].add("full" if is_full else "slow" if test in slow else "fast")
    return found


def _tests(text: str, file: str) -> Iterator[tuple[str, bool, list[str]]]:
    """(name, whether it is marked full, rows) of each test function."""
    tree = ast.parse(text)
    assigned = {
        ast.unparse(target): ast.unparse(statement.value)
        for statement in tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value
        for target in (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        )
    }
    yield from _of_body(tree.body, file, [assigned.get("pytestmark", "")], assigned)


def _of_body(
    body: list[ast.stmt], prefix: str, marks: list[str], assigned: dict[str, str]
) -> Iterator[tuple[str, bool, list[str]]]:
    for statement in body:
        if not isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            continue
        own = [*marks, *(ast.unparse(each) for each in statement.decorator_list)]
        name = f"{prefix}::{statement.name}"
        if isinstance(statement, ast.ClassDef):
            yield from _of_body(statement.body, name, own, assigned)
        elif statement.name.startswith("test"):
            # A table of parameters may have the marks of its rows.
            used = {n.id for d in statement.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)}  # fmt: skip
            tables = [assigned[each] for each in sorted(used & {*assigned})]
            is_full = _FULL in own or _FULL in marks[0]
            yield name, is_full, rows_marked("\n".join([*own, *tables]).replace("'", '"'))
