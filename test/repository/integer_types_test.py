# SPDX-License-Identifier: BSD-3-Clause
"""Document 146 as a lint: integers and their formats in code that runs on targets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT, is_test, with_suffix

# The runtime, kernels and what backends run. Not the names of c10 and of reductions, which keep documented types,
# nor the platform layers of systems, whose calls have theirs, nor code for one processor, which its macros keep from
# others.
FOLDERS = re.compile(r"runtime/|kernels/(?!test/)|backends/\w+/runtime/|backends/demo/")
LEFT_OUT = re.compile(r"portable_type/c10/|cpu/util/reduce_util\.h|platform/default/|_amx\.cpp$")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
# PRId64 and its kin, %zu, %zd and %td, and %d of an int; nothing else whose size varies.
FORMAT = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:(?:hh|h|ll|l|q)[diouxX]|[uxXoi])")
TYPE = re.compile(
    r"\b(?:short|long)\b(?! double)|\bunsigned(?: int)?\b(?! (?:char|__int128))|std::u?intmax_t"
)


def offences(text: str) -> Iterator[tuple[int, str]]:
    """Line and words of each format and type that is not portable."""
    for match in COMMENT_OR_TEXT.finditer(text):
        if match[0].startswith('"'):
            for found in FORMAT.finditer(match[0].replace("%%", "")):
                yield text.count("\n", 0, match.start()) + 1, f"format {found[0]}"
    code = COMMENT_OR_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for match in TYPE.finditer(code):
        yield code.count("\n", 0, match.start()) + 1, f"type {match[0]}"


def target_code() -> list[Path]:
    found = [path for path in with_suffix(".h", ".cpp") if FOLDERS.match(str(path))]
    return [path for path in found if not is_test(path) and not LEFT_OUT.search(str(path))]


@pytest.mark.req("EMB-028", "EMB-030")
def test_integers_have_portable_types_and_formats() -> None:
    files = target_code()
    assert len(files) > 250
    found = [
        f"{path}:{line}: {what}; use the types of <cstdint> or size_t, with PRId64 and its kin, %zu or %zd"
        for path in files
        for line, what in offences((ROOT / path).read_text())
    ]
    assert not found, "\n".join(found)


@pytest.mark.req("EMB-028")
def test_atomics_of_the_runtime_and_kernels_fit_in_32_bits() -> None:
    """What small processors have; 64 bits are a call of a library that firmware does not link."""
    files = [path for path in target_code() if path.parts[0] in ("runtime", "kernels")]
    texts = {path: (ROOT / path).read_text() for path in files}
    assert [path for path, text in texts.items() if re.search(r"\batomic<u?int64_t>", text)] == []
    assert any("std::atomic<" in text for text in texts.values())


@pytest.mark.parametrize(
    "text, expected",
    [
        ('ET_LOG(Error, "%lld of %zu", a, b);', ["format %lld"]),
        ('ET_LOG(Error, "%u %5.3lu %x", a, b, c);', ["format %u", "format %5.3lu", "format %x"]),
        ('ET_LOG(Error, "%" PRId64 " %d %zd %s %.3f 100%%x", a);', []),
        ("long count = 0;  // a long way", ["type long"]),
        ("unsigned short x;", ["type unsigned", "type short"]),
        ("const unsigned char* text; long double y; uint32_t z;", []),
    ],
)
def test_what_the_rule_finds(text: str, expected: list[str]) -> None:
    assert [what for _, what in offences(text)] == expected


def test_lines_are_counted() -> None:
    assert list(offences('/* two\nlines */ "text"\nlong x;')) == [(3, "type long")]
