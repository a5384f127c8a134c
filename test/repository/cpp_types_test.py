# SPDX-License-Identifier: BSD-3-Clause
"""A C++ type has one definition: two of one name in one library become one at link time, whichever that is. No compiler
sees it where no source includes both."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from executorch.test.repository.sources import ROOT, is_test, with_suffix

_OPENED = re.compile(r"(?:inline )?namespace\s*([\w:]*)\s*\{$")
_CLOSED = re.compile(r"\}  // namespace")
_TYPE = re.compile(
    r"(?:class|struct|union|enum(?: class)?)\s+(?:ET_\w+\s+)?(?:alignas\(\w+\)\s+)?(\w+)\b(?!::)[^;()]*\{"
)
# Programs of their own, never linked with another; copies of PyTorch's headers, which stand in its namespaces.
_ALONE = ("examples/", "runtime/core/portable_type/c10/")


def _types(text: str) -> Iterator[str]:
    """Of a source that clang-format laid out: a type at the beginning of a line, outside of anonymous namespaces."""
    spaces: list[str] = []
    for line in text.splitlines():
        if opened := _OPENED.match(line):
            spaces.append(opened[1])
        elif _CLOSED.match(line) and spaces:
            spaces.pop()
        elif "" not in spaces and (found := _TYPE.match(line)):
            yield "::".join([*spaces, found[1]]).replace("ET_RUNTIME_NAMESPACE", "runtime")


def _repeated(sources: dict[str, str]) -> dict[str, list[str]]:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, text in sources.items():
        for name in _types(text):
            places[name].append(path)
    return {name: paths for name, paths in places.items() if len(set(paths)) > 1}


def test_no_type_is_defined_in_two_files() -> None:
    sources = {
        str(path): (ROOT / path).read_text()
        for path in with_suffix(".h", ".cpp")
        if not str(path).startswith(_ALONE) and not is_test(path)
    }
    assert len(sources) > 500
    assert _repeated(sources) == {}


@pytest.mark.parametrize(
    "second, is_repeated",
    [
        ("namespace a::b {\nstruct Range {\n};\n}  // namespace a::b", True),
        ("namespace a::b {\nclass Range final : public Base {\n};\n}  // namespace a::b", True),
        (
            "namespace a::b {\nnamespace {\nstruct Range {\n};\n}  // namespace\n}  // namespace a::b",
            False,
        ),
        ("namespace a::b {\nstruct Range;\n}  // namespace a::b", False),
        ("namespace a::c {\nstruct Range {\n};\n}  // namespace a::c", False),
        (
            "namespace a::b {\nclass Sizes {\n  struct Range {\n  };\n};\n}  // namespace a::b",
            False,
        ),
    ],
)
def test_a_second_definition_is_found(second: str, is_repeated: bool) -> None:
    first = "namespace a {\nnamespace b {\nstruct Range {\n};\n}  // namespace b\n}  // namespace a"
    assert bool(_repeated({"first.h": first, "second.h": second})) == is_repeated
