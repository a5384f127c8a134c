# SPDX-License-Identifier: BSD-3-Clause
"""Files that documents name stand where they say, and hold what they say."""

from pathlib import Path

import pytest

import executorch
from executorch.test.repository.sources import ROOT
from executorch.version import __version__

FILES = (
    pytest.param("runtime/core/error.h", marks=pytest.mark.req("RT-C06")),
    pytest.param("runtime/COMPATIBILITY.md", marks=pytest.mark.req("BLD-068")),
    pytest.param("src/README.md", marks=pytest.mark.req("PY-015")),
    pytest.param(
        "examples/portable/executor_runner/executor_runner.cpp", marks=pytest.mark.req("EXT-C03")
    ),
    "CMakeLists.txt",
    "CMakePresets.json",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "install_executorch.sh",
    "install_requirements.sh",
    "schema/program.fbs",
    "schema/scalar_type.fbs",
    "extension/flat_tensor/serialize/flat_tensor.fbs",
    "tools/cmake/Utils.cmake",
    "tools/cmake/Codegen.cmake",
    "tools/cmake/preset/llm.cmake",
    *"""codegen/tools/gen_oplist.py extension/aten_util/aten_bridge.h extension/evalue_util/print_evalue.h
    extension/llm/custom_ops extension/llm/export/config/llm_config.py extension/pybindings/README.md
    kernels/portable/functions.yaml runtime/core/portable_type/tensor.h runtime/core/result.h
    runtime/executor/memory_manager.h runtime/platform/assert.h runtime/platform/default/minimal.cpp
    runtime/platform/default/posix.cpp runtime/platform/log.h runtime/platform/platform.h
    runtime/executor/test/test_backend_with_delegate_mapping.cpp extension/pybindings/pybindings.cpp
    examples/raspberry_pi/setup.sh examples/raspberry_pi/pico2/build_firmware_pico.sh""".split(),
)


@pytest.mark.parametrize("name", FILES)
def test_a_documented_file_is_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 0


@pytest.mark.req("BLD-011")
def test_links_of_src_are_links_and_windows_users_are_told() -> None:
    """Git writes them as files of one line where core.symlinks is off."""
    assert "git config --system core.symlinks true" in (ROOT / "src/README.md").read_text()
    folder = ROOT / "src" / "executorch"
    linked = {path.name for path in folder.iterdir() if path.is_symlink()}
    assert {"backends", "exir", "extension", "kernels", "runtime", "schema"} <= linked
    assert all((folder / name).resolve() == ROOT / name for name in linked)


@pytest.mark.req("PY-015")
def test_the_version_is_one() -> None:
    assert __version__ == (ROOT / "version.txt").read_text().strip() == executorch.__version__


def test_the_package_says_that_it_has_types() -> None:
    assert (Path(executorch.__file__).parent / "py.typed").exists()


@pytest.mark.req("PRJ-025")
@pytest.mark.parametrize(
    "heading",
    ["Repository structure", "Get started", "Style", "Testing", "Pull requests"],
)
def test_contributing_has_the_documented_parts(heading: str) -> None:
    assert f"## {heading}\n" in (ROOT / "CONTRIBUTING.md").read_text()
