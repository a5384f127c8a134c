# SPDX-License-Identifier: BSD-3-Clause
"""Sources of the Swift and Objective-C layers have every documented member, each spelled as there."""

from __future__ import annotations

import re

import pytest

from executorch.extension.apple.test.documented import OBJECTIVE_C, SWIFT
from executorch.test.repository.sources import ROOT

LAYERS = (ROOT / "extension/apple/ExecuTorch", ROOT / "extension/llm/apple/ExecuTorchLLM")


def text_of(folder: str, name: str) -> str:
    (path,) = [layer / folder / name for layer in LAYERS if (layer / folder / name).exists()]
    return re.sub(r"//.*", "", path.read_text())


def _arguments(text: str, start: int) -> str:
    """What stands in the parenthesis at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[start + 1 : place]
    raise ValueError(text[start : start + 80])


def _labels(arguments: str) -> str:
    """The labels of parameters: commas inside of types are not theirs."""
    flat = re.sub(r"\([^()]*\)|<[^<>]*>|\[[^\[\]]*\]", "", re.sub(r"\([^()]*\)", "", arguments))
    return "".join(f"{part.split()[0].rstrip(':')}:" for part in flat.split(",") if part.strip())


def swift_members(text: str) -> set[str]:
    found = set()
    for match in re.finditer(r"\b(?:func\s+([\w=~]+)|(init))\s*(?:<[^>]*>)?\s*\(", text):
        labels = _labels(_arguments(text, match.end() - 1))
        name = match[1] or match[2]
        if name == "==":
            labels = "_:_:"
        found.add(f"{name}({labels})")
    found |= set(re.findall(r"\b(?:var|let)\s+(\w+)", text))
    for line in re.findall(r"^\s*case ([^:]*?)$", text, re.M):
        found |= {word.strip("` ") for word in re.split(r",", re.sub(r"\s*=\s*-?\w+", "", line))}
    return found


def selectors(text: str) -> set[str]:
    found = set()
    for declaration in re.findall(r"^\s*[-+] \([^;]*;", text, re.M):
        flat = declaration
        while re.search(r"\([^()]*\)", flat):
            flat = re.sub(r"\([^()]*\)", "", flat)
        parts = re.findall(r"(\w+):", flat)
        found.add("".join(f"{part}:" for part in parts) or re.findall(r"\w+", flat)[0])
    return found


@pytest.mark.parametrize("name", SWIFT)
def test_swift_has_the_documented_members(name: str) -> None:
    without = set(SWIFT[name].split()) - swift_members(text_of("Swift", name))
    assert without == set()


@pytest.mark.parametrize("name", OBJECTIVE_C)
def test_objective_c_has_the_documented_selectors(name: str) -> None:
    text = text_of("Exported", name)
    without = set(OBJECTIVE_C[name]) - selectors(text)
    assert without == set()


def test_a_missing_member_is_seen() -> None:
    text = text_of("Swift", "Module.swift").replace("func unload", "func drop")
    assert "unload(_:)" not in swift_members(text) and "drop(_:)" in swift_members(text)
    header = text_of("Exported", "ExecuTorchModule.h").replace("unloadMethod:", "dropMethod:")
    assert set(OBJECTIVE_C["ExecuTorchModule.h"]) - selectors(header) == {"unloadMethod:"}


def test_errors_have_the_same_texts_in_both_languages() -> None:
    swift = dict(re.findall(r'case \.(\w+): return "(.*)"', text_of("Swift", "Error.swift")))
    objc = re.findall(
        r'ExecuTorchErrorCode(\w+):\s+return @"(.*)"', text_of("Exported", "ExecuTorchError.m")
    )
    assert {name[0].lower() + name[1:]: text for name, text in objc} == swift
    assert len(swift) == 21
