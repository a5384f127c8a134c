# SPDX-License-Identifier: BSD-3-Clause
"""The documents' blocks on Arm: signatures are ours, the tutorials run as they are printed. run_fvp.sh needs an FVP
(open.yaml: ARM-022). What VGF's runner prints is arm_emulation_test.py."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from executorch.backends.arm import ethosu, quantizer, vgf
from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.devtools.commands.program_file import ProgramFile
from executorch.test.documents import guide
from executorch.test.e2e.build_tree import ROOT

BLOCKS = guide.printed("arm.md")
SIGNATURES = {
    name: code
    for name, code in BLOCKS.items()
    if code.startswith(("class Ethos", "class Vgf", "def "))
}
MISSING = VELA.why_missing() or CONVERTER.why_missing()
# What names environments in which Arm's VGF library is looked for.
VGF_PLACES = {"VIRTUAL_ENV", "EXECUTORCH_TOOLS_ARM"}
TUTORIALS = {"030.3": "EthosUBackend", "036.3": "VgfBackend"}


def names_and_defaults(code: str) -> tuple[str, dict[str, Any]]:
    """Of a signature as documents print it: what it is of, and its parameters but self."""
    _, rest = " ".join(code.split()).split(" ", 1)
    owner = rest[: rest.index("(")]
    arguments = rest[rest.index("(") :].removesuffix(":")
    made = ast.parse(f"def printed{arguments}: ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    found = [each.arg for each in made.args.args]
    defaults = [inspect.Parameter.empty] * (len(found) - len(made.args.defaults))
    defaults += map(ast.literal_eval, made.args.defaults)
    pairs = dict(zip(found, defaults, strict=True))
    pairs.pop("self", None)
    return owner, pairs


@pytest.mark.parametrize("name", SIGNATURES)
@pytest.mark.req("ARM-011", "ARM-012", "ARM-029")
def test_a_signature_is_ours(name: str) -> None:
    """With all parameters, in their order; what ours has more, has a default."""
    owner, printed = names_and_defaults(SIGNATURES[name])
    home, *method = owner.split(".")
    kind = next(getattr(each, home) for each in (ethosu, vgf, quantizer) if hasattr(each, home))
    function = getattr(kind, method[0]) if method else kind
    found = dict(inspect.signature(function).parameters)
    found.pop("self", None)
    shared = list(found)[: len(printed)]
    assert shared == list(printed)
    empty = inspect.Parameter.empty
    assert all(
        found[each].default == message for each, message in printed.items() if message is not empty
    )
    assert all(found[each].default is not empty for each in found if each not in printed)


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.parametrize("name", TUTORIALS)
@pytest.mark.req("ARM-009", "ARM-017", "ARM-031")
def test_a_tutorial_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guide.run(BLOCKS[name], {"__name__": "tutorial"})
    (program,) = tmp_path.glob("*.pte")
    file = ProgramFile(program)
    assert file.backends == {TUTORIALS[name]}
    assert [call.name for call in file.calls if "aten" in call.name] == []


@pytest.mark.skipif(bool(CONVERTER.why_missing()), reason="needs the tools of Arm's backends")
@pytest.mark.req("ARM-033")
def test_the_runner_of_vgf_is_configured_as_printed(tmp_path: Path) -> None:
    """The printed options make an executor_runner with the delegate, of the libraries that setup installs."""
    options = re.findall(r"-D(?!CMAKE_INSTALL_PREFIX)\S+", BLOCKS["036.4"])
    assert "-DEXECUTORCH_BUILD_VGF=ON" in options
    words = ["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-G", "Ninja", *options]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout[-500:] + made.stderr[-2000:]
    query = ["ninja", "-C", str(tmp_path), "-t", "query", "executor_runner"]
    parts = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    assert "libvgf_backend.a" in parts and "libvgf.a" in parts and "libvulkan_backend.a" in parts


def test_without_arms_library_the_build_says_how_to_get_it(tmp_path: Path) -> None:
    """VgfLibrary.cmake alone: with the option an error, without it nothing."""
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.24)
project(alone NONE)
set(EXECUTORCH_ROOT "${{CMAKE_CURRENT_SOURCE_DIR}}")
include({ROOT}/backends/arm/runtime/vgf/VgfLibrary.cmake)
""")
    environment = {k: v for k, v in os.environ.items() if k not in VGF_PLACES}
    texts = []
    for value, expected in (("ON", 1), ("OFF", 0)):
        words = ["cmake", "-S", ".", "-B", value, f"-DEXECUTORCH_BUILD_VGF={value}"]
        made = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert made.returncode == expected, made.stderr
        texts.append(" ".join(made.stderr.split()))
    assert "EXECUTORCH_BUILD_VGF: Arm's VGF library is not found" in texts[0]
    assert "pip install ai_ml_sdk_vgf_library" in texts[0]
    assert texts[1] == ""
