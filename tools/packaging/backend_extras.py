# SPDX-License-Identifier: BSD-3-Clause
"""The package's extras, for scikit-build-core (pyproject.toml): those given there, and `extras` of each backend's
backend.py, which wins. The files are read as text: what builds the package has neither PyTorch nor the package
itself."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def dynamic_metadata(field: str, settings: Mapping[str, Any]) -> dict[str, list[str]]:
    if field != "optional-dependencies" or settings.keys() != {"given"}:
        raise RuntimeError(
            "backend_extras: expected the setting `given` of optional-dependencies, found "
            f"{sorted(settings)} of {field}"
        )
    return {**settings["given"], **extras(ROOT / "backends")}


def extras(backends: Path) -> dict[str, list[str]]:
    """Of all folders below."""
    found: dict[str, list[str]] = {}
    for path in sorted(backends.rglob("backend.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "BackendManifest":
                found |= {name: list(needed) for name, needed in _written(call, path).items()}
    return found


def _written(call: ast.Call, path: Path) -> dict[str, tuple[str, ...]]:
    given = [each.value for each in call.keywords if each.arg == "extras"]
    try:
        return ast.literal_eval(given[0]) if given else {}
    except ValueError as error:
        raise RuntimeError(
            f"{path}:{given[0].lineno}: extras: expected a dict of tuples of texts, written out; the build reads it "
            "without running it"
        ) from error
