# SPDX-License-Identifier: BSD-3-Clause
"""`executorch new-backend` and `new-operator` from the wheel alone: in an empty folder a project is written, built,
tested and installed by the commands that it prints, and then found by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from executorch.test.install.new_user import command

# What is installed beside the wheel is on the path; nothing of this tree is, and no variable of this run.
USE_OPERATOR = """
import torch, soft_clip
from executorch.exir import to_edge
from executorch.runtime import Runtime

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.my_ops.soft_clip(x, 2.0)

x = torch.randn(2, 3)
program = to_edge(torch.export.export(Model(), (x,))).to_executorch()
(y,) = Runtime.get().load_program(program.buffer).load_method("forward").execute([x])
torch.testing.assert_close(y, Model()(x))
"""
APPLICATION = """cmake_minimum_required(VERSION 3.24)
project(app CXX)
find_package(executorch CONFIG REQUIRED)
add_subdirectory({name})
file(WRITE ${{CMAKE_CURRENT_BINARY_DIR}}/main.cpp "
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/kernel/operator_registry.h>
int main() {{ return {registered} ? 0 : 1; }}")
add_executable(app ${{CMAKE_CURRENT_BINARY_DIR}}/main.cpp)
target_link_libraries(app PRIVATE executorch {library})
"""


@dataclass(frozen=True)
class Projects:
    """Folders in `place`, and programs with the wheel, and what is installed in `installed`, on the path."""

    place: Path
    site: Path

    @property
    def installed(self) -> Path:
        return self.place / "installed"

    def run(self, *words: object, cwd: Path | None = None) -> str:
        environment = {
            "PYTHONPATH": f"{self.site}{os.pathsep}{self.installed}",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        return command(*words, cwd=cwd or self.place, **environment)

    def python(self, *words: object, cwd: Path | None = None) -> str:
        return self.run(sys.executable, *words, cwd=cwd)

    def make(self, kind: str, name: str, *options: str) -> None:
        """By the three commands that are printed; `pip install` goes to a folder, and fetches nothing."""
        output = self.python("-m", "executorch", f"new-{kind}", name, *options)
        build, test, install = re.findall(r"^    (\w.*?) +#", output, re.M)
        folder = self.place / name
        self.run("bash", "-ec", build, cwd=folder)
        assert "passed" in self.python("-m", *test.split(), cwd=folder)
        offline = ["-q", "--no-build-isolation", "--no-deps", "--target", self.installed]
        self.python("-m", *install.split(), *offline, cwd=folder)


@pytest.fixture
def projects(package: Path, tmp_path: Path) -> Projects:
    return Projects(tmp_path, package.parent)


@pytest.mark.parametrize("kind", ["delegate", "compiler"])
def test_a_backend_of_ones_own(kind: str, projects: Projects, tmp_path: Path) -> None:
    projects.make("backend", "my_device", "--kind", kind)
    empty = tmp_path / "empty"
    empty.mkdir()
    words = ["-m", "executorch", "export", "add_mul", "--backend", "my_device"]
    assert "beside the model in PyTorch" in projects.python(*words, cwd=empty)
    assert b"MyDeviceBackend" in (empty / "add_mul.pte").read_bytes()
    ran = projects.python("-m", "executorch", "run", "add_mul.pte", cwd=empty)
    assert "output 0: float32[2, 2]" in ran


def test_an_operator_of_ones_own(projects: Projects, tmp_path: Path) -> None:
    projects.make("operator", "soft_clip")
    empty = tmp_path / "empty"
    empty.mkdir()
    projects.python("-c", USE_OPERATOR, cwd=empty)


REGISTERED = {
    "backend": 'executorch::runtime::get_backend_class(\\"MyDeviceBackend\\") != nullptr',
    "operator": 'executorch::runtime::registry_has_op_function(\\"my_ops::my_device.out\\")',
}


@pytest.mark.parametrize(
    ("kind", "options", "library"),
    [
        pytest.param("backend", [], "backend", id="backend"),
        pytest.param("backend", ["--kind", "compiler"], "backend", id="compiler"),
        pytest.param("operator", [], "kernels", id="operator"),
    ],
)
def test_an_application_links_it(
    kind: str, options: list[str], library: str, package: Path, projects: Projects, tmp_path: Path
) -> None:
    """With the lines of its README: the static library registers itself."""
    projects.python("-m", "executorch", f"new-{kind}", "my_device", *options)
    text = APPLICATION.format(
        name="my_device", registered=REGISTERED[kind], library=f"my_device_{library}"
    )
    (tmp_path / "CMakeLists.txt").write_text(text)
    projects.run("cmake", "-B", "b", f"-DCMAKE_PREFIX_PATH={package}")
    projects.run("cmake", "--build", "b", "--target", "app")
    assert subprocess.run([tmp_path / "b" / "app"], check=False).returncode == 0
