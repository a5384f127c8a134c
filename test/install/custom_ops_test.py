# SPDX-License-Identifier: BSD-3-Clause
"""A library of operators, built against the installed wheel, loaded by Python, called by a program."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from executorch.test.install.commands import command
from executorch.test.repository.sources import ROOT

INSTALLED = os.environ.get("EXECUTORCH_INSTALLED", "")
pytestmark = [
    pytest.mark.skipif(not INSTALLED, reason="this run takes the packages of the tree"),
]

SCRIPT = """
import sys, torch
from executorch.exir import to_edge
from executorch.runtime import Runtime

torch.library.define("my_ops::square", "(Tensor x) -> Tensor")
torch.library.define("my_ops::square.out", "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
torch.library.impl("my_ops::square", "CompositeExplicitAutograd")(lambda x: x * x)
torch.library.impl("my_ops::square.out", "CompositeExplicitAutograd")(lambda x, *, out: out.copy_(x * x))
torch.library.register_fake("my_ops::square")(torch.empty_like)

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.my_ops.square(x) + 1

program = to_edge(torch.export.export(Model(), (torch.ones(2, 3),))).to_executorch()
runtime, x = Runtime.get(), torch.randn(2, 3)
try:
    runtime.load_program(program.buffer).load_method("forward")
except RuntimeError as error:
    assert "my_ops::square.out" in str(error), error
else:
    raise AssertionError("an operator that nothing registered was found")
torch.ops.load_library(sys.argv[1])
assert "my_ops::square.out" in runtime.operator_registry.operator_names
(y,) = runtime.load_program(program.buffer).load_method("forward").execute([x])
print(torch.equal(y, x * x + 1))
"""


@pytest.mark.req("KS-022", "BLD-028")
@pytest.mark.parametrize("found_by", ["CMAKE_PREFIX_PATH", "executorch_DIR"])
def test_python_runs_operators_of_a_library(found_by: str, tmp_path: Path) -> None:
    where = {"CMAKE_PREFIX_PATH": INSTALLED, "executorch_DIR": f"{INSTALLED}/share/cmake"}[found_by]
    source = ROOT / "test" / "consumer" / "custom_ops"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    command("cmake", "-S", source, "-B", "build", *generator, f"-D{found_by}={where}", cwd=tmp_path)
    command("cmake", "--build", "build", cwd=tmp_path)
    (library,) = (tmp_path / "build").glob("libmy_operators.*")
    assert command(sys.executable, "-c", SCRIPT, library, cwd=tmp_path) == "True\n"
