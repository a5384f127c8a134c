# SPDX-License-Identifier: BSD-3-Clause
"""Code blocks of pages/: those of the documents, the changes that make them run today, and running them."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from executorch.examples.models import make_example

FOLDER = Path(__file__).parent / "pages"
WITH_TORCHAO = "corrected-with-torchao"
OWN = {"corrected", WITH_TORCHAO}
_BLOCK = re.compile(
    r"^```(?P<language>\w+) (?P<name>\S+)\n(?P<code>.*?)^```\n*"
    r"(?:\| printed \| today \|\n\|---\|---\|\n(?P<changes>(?:\|[^\n]*\|\n)+))?",
    re.S | re.M,
)
_ROW = re.compile(r"\| `(.*?)` \| (.*) \|")  # several lines of code are joined by ", then "


def fingerprint(code: str) -> str:
    """Of the code without white space."""
    return hashlib.sha256(re.sub(r"\s+", "", code).encode()).hexdigest()


def printed(page: str) -> dict[str, str]:
    """Name -> block, as the documents print it; blocks of our own are called otherwise."""
    found = _BLOCK.finditer((FOLDER / page).read_text())
    return {block["name"]: block["code"] for block in found if block["name"] not in OWN}


def today(page: str) -> list[str]:
    """The page's Python from top to bottom, with the changes of the tables; text blocks are not code."""
    return [code for _, code in _today(page, "python")]


def commands(page: str) -> dict[str, str]:
    """The shell's, by their names."""
    return dict(_today(page, "sh"))


def _today(page: str, language: str) -> list[tuple[str, str]]:
    return [
        (block["name"], _changed(block["code"], block["changes"] or ""))
        for block in _BLOCK.finditer((FOLDER / page).read_text())
        if block["language"] == language and block["name"] != WITH_TORCHAO
    ]


def listings(page: str, language: str) -> dict[str, str]:
    """Blocks of another language, by their names."""
    return dict(_today(page, language))


def with_torchao(page: str) -> list[str]:
    """The page's blocks that run only where torchao is installed."""
    found = _BLOCK.finditer((FOLDER / page).read_text())
    return [block["code"] for block in found if block["name"] == WITH_TORCHAO]


def _changed(code: str, changes: str) -> str:
    """Applies a table of changes; each must apply."""
    for row in changes.splitlines():
        old, parts = _ROW.fullmatch(row).groups()
        new = "\n".join(part.strip("`") for part in parts.split(", then "))
        if old not in code:
            raise ValueError(f"{old!r} does not stand in the block:\n{code}")
        code = code.replace(old, new)
    return code


class _Unreachable:
    def get_state_dict(self, progress: bool) -> dict[str, Any]:
        raise OSError("not downloaded in tests")


def put_torchvision(monkeypatch: pytest.MonkeyPatch) -> None:
    """torchvision's names for MobileNetV2 of examples/models: its trained weights would come over the network."""

    def mobilenet_v2(weights: object) -> Any:
        return make_example("mv2").forward.module

    root, models = ModuleType("torchvision"), ModuleType("torchvision.models")
    mobilenetv2 = ModuleType("torchvision.models.mobilenetv2")
    mobilenetv2.mobilenet_v2 = mobilenet_v2
    mobilenetv2.MobileNet_V2_Weights = SimpleNamespace(DEFAULT=_Unreachable())
    root.models, models.mobilenetv2 = models, mobilenetv2
    for module in (root, models, mobilenetv2):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(code, "test/documents/pages", "exec"), names)
    return names
