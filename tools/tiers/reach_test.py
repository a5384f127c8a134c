# SPDX-License-Identifier: BSD-3-Clause
"""Which tests a change reaches, in a small tree: by imports of each kind, by names of files, by nearness."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.tools.tiers.reach import Graph, choose, module_name
from executorch.tools.tiers.times import Cost, Times

TREE = {
    "a/__init__.py": "from executorch.a.names import *",
    "a/names.py": "from .inner import value",
    "a/inner.py": "value = 1",
    "a/inner_test.py": "from executorch.a import inner",
    "a/other.py": "",
    "b/user.py": "def f():\n    from executorch.a import value",
    "b/user_test.py": "import executorch.b.user",
    "b/command_test.py": "COMMAND = 'python -m executorch.b.user --help'",
    "b/table.py": "TABLE = 'rows.yaml'",
    "b/rows.yaml": "",
    "b/table_test.py": "from b import table",
    "b/code.cpp": "",
    "c/conftest.py": "",
    "c/alone_test.py": "",
    "src/executorch/cli/main.py": "",
    "c/d/cli_test.py": "from executorch.cli import main",
}


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Graph(map(Path, TREE), tmp_path)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("a/inner.py", {"a/inner_test.py": 1, "b/user_test.py": 4, "b/command_test.py": 4}),
        ("a/other.py", {}),
        ("b/user.py", {"b/user_test.py": 1, "b/command_test.py": 1}),
        # what names the file, and the tests beside it
        ("b/rows.yaml", {"b/table_test.py": 1, "b/user_test.py": 1, "b/command_test.py": 1}),
        ("b/code.cpp", {"b/table_test.py": 1, "b/user_test.py": 1, "b/command_test.py": 1}),
        ("c/conftest.py", {"c/alone_test.py": 1, "c/d/cli_test.py": 1}),
        ("src/executorch/cli/main.py", {"c/d/cli_test.py": 1}),
        ("c/alone_test.py", {"c/alone_test.py": 0}),
    ],
)
def test_tests_that_a_change_reaches(changed: str, expected: dict[str, int], graph: Graph) -> None:
    found = graph.distances([Path(changed)])
    assert {p.as_posix(): n for p, n in found.items() if p.stem.endswith("_test")} == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("exir/emit/__init__.py", "executorch.exir.emit"),
        ("src/executorch/cli/main.py", "executorch.cli.main"),
        ("extension/text/tokenizers/pytorch_tokenizers/hf.py", "pytorch_tokenizers.hf"),
    ],
)
def test_modules_have_the_names_that_are_imported(path: str, expected: str) -> None:
    assert module_name(Path(path)) == expected


def test_the_nearest_tests_come_first_and_the_rest_is_told() -> None:
    distances = {Path(f"{name}_test.py"): near for name, near in (("a", 0), ("b", 2), ("c", 1))}
    distances |= {Path("d_test.py"): 1, Path("test/repository/x_test.py"): 0, Path("a.py"): 0}
    known = Times(
        {"d_test.py::test_slow": Cost(30)},  # it has slow tests alone
        {f"{name}_test.py": Cost(seconds) for name, seconds in (("a", 5), ("b", 5), ("c", 40))},
    )
    choice = choose(distances, known, 12)
    assert choice.chosen == ["a_test.py", "b_test.py"]
    assert choice.left == ["c_test.py"]


def test_each_room_that_is_reached_has_a_file() -> None:
    near = {Path(f"backends/arm/{name}_test.py"): 0 for name in "abcd"}
    known = Times({}, {path.as_posix(): Cost(3) for path in near})
    choice = choose(near | {Path("exir/emit/far_test.py"): 4}, known, 12)
    assert "exir/emit/far_test.py" in choice.chosen
    assert {"backends/arm/a_test.py", "backends/arm/b_test.py"} <= set(choice.chosen)
    assert set(choice.left) < {path.as_posix() for path in near}
