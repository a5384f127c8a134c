# SPDX-License-Identifier: BSD-3-Clause
"""Commands say nothing of torchao's GPU libraries and torch's internals; programs of users hear it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import executorch
from executorch.test.cli.cli_test import MODEL, started
from executorch.test.repository.sources import ROOT

FOREIGN = ("torchao", "KernelPreference", "_C_mxfp8", "Warning", "tokenizers:")
LEVEL = "import logging, sys; print(logging.getLogger('torchao').level == logging.ERROR)\n"


def run(*command: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, *map(str, command)]
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder)


def test_an_export_writes_nothing_foreign(tmp_path: Path) -> None:
    (tmp_path / "my_model.py").write_text(
        MODEL.replace("(4, 8)", "(32, 8)").replace("2, 4", "2, 32")
    )
    model, target = f"{tmp_path / 'my_model.py'}:tiny", tmp_path / "tiny.pte"
    # By torchao's own way of quantizing, which imports all of it.
    done = started("export", model, "--quantize", "int4-weights", "-o", str(target))
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and not any(word in done.stdout for word in FOREIGN)


def test_modules_of_the_package_are_commands(tmp_path: Path) -> None:
    assert run("-m", "executorch.test.cli.needs_torchao").stderr == ""
    (tmp_path / "heard.py").write_text("import torchao.quantization\n")
    # The same import elsewhere warns, or there is nothing to see here.
    if not run(tmp_path / "heard.py").stderr:
        pytest.skip("this torchao warns of nothing")


@pytest.mark.parametrize("root", ["tools", "examples"])
def test_modules_of_the_repository_are_commands(root: str) -> None:
    if Path(executorch.__file__).resolve().parent != ROOT / "src" / "executorch":
        pytest.skip("the package is an installed one, not the repository's")
    # As it is while `python -m` looks for the module.
    code = f"import sys; sys.argv = ['-m']; sys.orig_argv[:] = ['-m', '{root}.x']; import {root}\n"
    assert run("-c", f"{code}import executorch\n{LEVEL}", folder=ROOT).stdout == "True\n"


@pytest.mark.parametrize("name", ["mine", "tools.mine"])
def test_programs_of_users_hear_all(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name.replace('.', '/')}.py"
    path.parent.mkdir(exist_ok=True)
    path.with_name("__init__.py").write_text("")
    path.write_text(f"import executorch\n{LEVEL}")
    assert run(path).stdout == "False\n"
    assert run("-m", name, folder=tmp_path).stdout == "False\n"
