# SPDX-License-Identifier: BSD-3-Clause
"""Which source files and headers kernels need, to compile them elsewhere: no more than that.

A header's implementation stands beside it under the same name, so the files of a kernel are those that its includes
lead to. They lie in a source tree, or in an installation: headers in include/, sources in share/executorch/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path

from ..gen import native_functions_header
from ..op_table import Kernel, read_table
from ..schema import SchemaSource
from .libraries import LIBRARIES
from .plan import CannotWrite

_PACKAGE = Path(__file__).resolve().parents[2]
# A source tree; a wheel; a prefix of `cmake --install`, whose share/executorch has this file.
_PLACES = (
    _PACKAGE,
    _PACKAGE / "include" / "executorch",
    _PACKAGE / "share" / "executorch",
    _PACKAGE.parents[1] / "include" / "executorch",
)
# Headers that the build makes of op tables.
GENERATED = {f"{each.folder}/{each.header}": each.table_path for each in LIBRARIES}
# Where includes without the prefix executorch/ are found.
C10 = "runtime/core/portable_type/c10"
# What no include leads to: how a platform without an operating system behaves.
_ALWAYS = (
    "runtime/platform/default/minimal.cpp",
    "runtime/platform/runtime.h",
    "runtime/core/memory_allocator.h",
)
# Implementations of a header by another name than its own.
_BESIDE = ("{}.cpp", "{}_portable.cpp")

_INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", re.M)
_MACRO = re.compile(r"^#define (\w+)\(([^)]*)\)((?:.*\\\n)*.*)", re.M)
_NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.M)
_PASTED = re.compile(r"\b\w+(?:##\w+)+(?=\()")


def find(name: str) -> Path | None:
    """The file of a name such as kernels/portable/binary.cpp."""
    return next((place / name for place in _PLACES if (place / name).is_file()), None)


def text_of(name: str) -> str:
    if name in GENERATED and find(name) is None:
        return native_functions_header(read_table(GENERATED[name], SchemaSource()))
    return _present(name).read_text()


def _present(name: str) -> Path:
    found = find(name)
    if found is None:
        raise CannotWrite(f"no file {name} in {_PACKAGE}: install the package executorch again")
    return found


@cache
def library_sources() -> tuple[str, ...]:
    """The sources of all kernels that this package has as source."""
    for place in _PLACES:
        found = [
            path.relative_to(place).as_posix()
            for library in LIBRARIES
            for path in sorted((place / library.folder).rglob("*.cpp"))
            if not path.stem.endswith(("_test", "_bench")) and "test" not in path.parent.parts
        ]
        if found:
            return tuple(found)
    raise CannotWrite(f"no sources of kernels in {_PACKAGE}: install the package executorch again")


def defined_in(text: str) -> set[str]:
    """Names that a source mentions, those of functions that its macros paste together among them."""
    names = set(re.findall(r"\w+", text))
    for macro, parameters, body in _MACRO.findall(text):
        patterns = _PASTED.findall(body)
        if not patterns:
            continue
        given = [word.strip() for word in parameters.split(",")]
        for call in re.findall(rf"^{macro}\(([^()]*)", text, re.M):
            values = dict(zip(given, (word.strip() for word in call.split(",")), strict=False))
            for pattern in patterns:
                names.add("".join(values.get(part, part) for part in pattern.split("##")))
    return names


@cache
def _definitions() -> dict[str, tuple[str, ...]]:
    """Sources by qualified name: libraries have kernels of the same name in namespaces of their own."""
    found: dict[str, tuple[str, ...]] = {}
    for source in library_sources():
        text = text_of(source)
        for space, name in product(_NAMESPACE.findall(text), defined_in(text)):
            found[f"{space}::{name}"] = (*found.get(f"{space}::{name}", ()), source)
    return found


def sources_of(kernels: Iterable[Kernel], own: Iterable[str] = ()) -> list[str]:
    """The files that define kernels. `own` are texts of a user's sources, which come first. CannotWrite names kernels
    that none defines."""
    theirs = set().union(*map(defined_in, own))
    wanted = [each for each in kernels if each.cpp_name not in theirs]
    if missing := sorted({k.cpp_name for k in wanted if k.qualified not in _definitions()}):
        raise CannotWrite(
            f"no source of {', '.join(missing)}: give the file that has it with --kernel-source"
        )
    return sorted({source for k in wanted for source in _definitions()[k.qualified]})


def with_includes(names: Iterable[str], texts: Iterable[str] = ()) -> list[str]:
    """The files of `names`, what they and `texts` include, and the implementations of that; sorted."""
    reached: set[str] = set()
    todo = [*names, *_ALWAYS]
    for text in texts:
        todo += _included(text)
    while todo:
        name = todo.pop()
        if name in reached:
            continue
        reached.add(name)
        todo += _included(text_of(name))
        stem, dot, suffix = name.rpartition(".")
        if suffix == "h":
            todo += [each for each in (b.format(stem) for b in _BESIDE) if find(each)]
    return sorted(reached)


def _included(text: str) -> list[str]:
    """Of its includes those that are files of this package: others are of the compiler, or of a mode not built."""
    found = []
    for name in _INCLUDE.findall(text):
        inside = name.removeprefix("executorch/")
        each = inside if inside != name else f"{C10}/{name}"
        if find(each) or each in GENERATED:
            found.append(each)
    return found
