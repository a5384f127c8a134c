# SPDX-License-Identifier: BSD-3-Clause
"""Nothing in the wheel points to what it lacks: modules that it imports, files and commands that its texts name."""

from __future__ import annotations

import ast
import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

WHEEL = os.environ.get("EXECUTORCH_WHEEL", "")
needs_wheel = pytest.mark.skipif(not WHEEL, reason="this run takes the packages of the tree")
# A path from the repository's root, and a command that only a checkout has.
_FOLDERS = (
    "docs tools scripts test third-party configurations backends codegen devtools examples exir export "
    "extension kernels runtime schema"
)
_PATH = re.compile(rf"(?<![\w/.<>-])(?:{_FOLDERS.replace(' ', '|')})/[\w./-]*\w")
_COMMAND = re.compile(r"python3? -m (?:tools|test|scripts)\.[\w.]+|`make [a-z-]+`")
# What `executorch new-backend` and `new-operator` write, and who writes firmware.
_TEMPLATES = "examples/projects/"
_FIRMWARE = "codegen/c/project.py"
# Said where there is a checkout, or of files that are made.
_OTHERWISE = {
    ("examples/demo/demo.py", "`make build`"),
    ("exir/_serialize/schema_generator.py", "exir/schema.py"),
    ("backends/qualcomm/device/adb.py", "examples/qualcomm/executor_runner"),
    ("devtools/devices/firmware.py", "backends/arm/scripts/build_executor_runner.sh"),
}


def texts(source: str, name: str) -> Iterator[str]:
    """The strings of a Python file: messages, help, docstrings."""
    for node in ast.walk(ast.parse(source, name)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def with_folders(files: Iterable[str]) -> set[str]:
    files = set(files)
    return files | {parent.as_posix() for file in files for parent in Path(file).parents}


def dangling(name: str, text: str, there: set[str]) -> list[str]:
    """What a text of the file `name` names and a wheel of these files and folders lacks."""
    # A project that is written has a folder `test` of its own.
    own = ("test/",) if name.startswith((_TEMPLATES, _FIRMWARE)) else ()
    found = [
        path
        for path in _PATH.findall(text)
        if not {path, *(f"{place}/executorch/{path}" for place in ("include", "share"))} & there
        and not path.startswith(own)
    ]
    return [each for each in found + _COMMAND.findall(text) if (name, each) not in _OTHERWISE]


@pytest.fixture(scope="module")
def contents() -> dict[str, str]:
    """path in executorch -> text, of Python files and of all that is written into projects; "" of the others."""
    archive = zipfile.ZipFile(WHEEL)
    names = [name for name in archive.namelist() if name.startswith("executorch/")]
    read = {
        name: archive.read(name).decode()
        if name.endswith(".py") or name.startswith(f"executorch/{_TEMPLATES}")
        else ""
        for name in names
        if not name.endswith("/")
    }
    return {name.removeprefix("executorch/"): text for name, text in read.items()}


@needs_wheel
def test_every_import_is_of_the_wheel(contents: dict[str, str]) -> None:
    there = with_folders(contents)
    native = {re.sub(r"\.[\w-]+\.so$", "", name) for name in contents if name.endswith(".so")}
    missing = []
    for name, text in contents.items():
        if not name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(text, name)):
            modules = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            modules += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for module in filter(None, modules):
                path = module.removeprefix("executorch.").replace(".", "/")
                is_ours = module.startswith("executorch.")
                if is_ours and not {f"{path}.py", path} & (there | native):
                    missing.append(f"{name}:{node.lineno}: {module}")
    assert not missing, "\n".join(missing)


@needs_wheel
def test_texts_name_files_and_commands_of_the_wheel(contents: dict[str, str]) -> None:
    wrong, there = {}, with_folders(contents)
    for name, text in contents.items():
        is_template = name.startswith(_TEMPLATES)
        for each in [text] if is_template else texts(text, name) if text else ():
            if found := dangling(name, each, there):
                wrong.setdefault(name, []).extend(found)
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see docs/guide/wheels.md", ["docs/guide/wheels.md"]),
        ("like exir/passes/gone.py and exir/there.py", ["exir/passes/gone.py"]),
        ("<executorch/runtime/core/error.h> and runtime/core/error.h", []),
        ("run `make build` or python -m tools.new_backend", ["python -m tools.new_backend", "`make build`"]),
        ("python -m executorch.tools is another matter; so is my/docs/page.md", []),
    ],
)  # fmt: skip
def test_what_is_found(text: str, found: list[str]) -> None:
    files = {"exir/there.py", "include/executorch/runtime/core/error.h"}
    assert sorted(dangling("x.py", text, with_folders(files))) == sorted(found)
