# SPDX-License-Identifier: BSD-3-Clause
"""Packages of trained weights and of real inputs, in a folder of their own: nothing else sees them, and what they would
pull in stays away."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "scripts" / "requirements-accuracy.txt"


def folder(where: Path | None = None) -> Path:
    """Installs what is missing (180 MB, once); CalledProcessError where no package index can be reached."""
    where = where or ROOT / "build" / "accuracy"
    done, wanted = where / "installed.txt", REQUIREMENTS.read_text()
    if not done.exists() or done.read_text() != wanted:
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        options = ["--no-deps", "--upgrade", "--target", str(where), "-r", str(REQUIREMENTS)]
        subprocess.run([*pip, *options], check=True)
        done.write_text(wanted)
    return where


def load(path: Path, name: str, **stubs: Any) -> types.ModuleType:
    """The module in one file of a package, without the package's `__init__`; `stubs` are names that its imports get:
    `{"package.module": {"attribute": value}}`."""
    for stub, attributes in stubs.items():
        module = types.ModuleType(stub)
        vars(module).update(attributes)
        module.__path__ = []
        sys.modules.setdefault(stub, module)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader, path
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
