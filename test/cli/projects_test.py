# SPDX-License-Identifier: BSD-3-Clause
"""`executorch new-backend` and `new-operator`: what they write. That it builds and works: test/install."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from executorch.backends.discovery import backends
from executorch.cli import main, plugins, projects
from executorch.extension.pybindings import libraries
from executorch.test.repository.sources import ROOT

COMPILER = ("--kind", "compiler")


def written(kind: str, name: str, folder: Path, *options: str) -> dict[str, str]:
    """path -> text."""
    assert main.main([f"new-{kind}", name, "--dir", str(folder), *options]) == main.DONE
    target = folder / name
    files = [path for path in target.rglob("*") if path.is_file()]
    return {path.relative_to(target).as_posix(): path.read_text() for path in files}


@pytest.mark.parametrize(
    ("kind", "options"), [("backend", ()), ("backend", COMPILER), ("operator", ())]
)
def test_a_project_is_whole_and_has_its_own_name(
    kind: str, options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = written(kind, "two_words", tmp_path, *options)
    output = capsys.readouterr().out
    assert {"pyproject.toml", "CMakeLists.txt", "README.md", "two_words/__init__.py"} <= set(texts)
    assert not any("skeleton" in f"{path}{text}".lower() for path, text in texts.items())
    for path, text in texts.items():
        if path.endswith(".py"):
            ast.parse(text, path)
    commands = re.search(r"```bash\n(.*?)```", texts["README.md"], re.S)[1].splitlines()
    assert len(commands) == 3 and all(command in output for command in commands)
    for named in re.findall(r"`((?:two_words|test)/[\w./]+)`", texts["README.md"]):
        assert named in texts, named


@pytest.mark.parametrize("kind", ["delegate", "compiler"])
def test_a_backend_is_the_skeleton_in_a_package_of_its_own(kind: str, tmp_path: Path) -> None:
    """The skeleton is the one source: each of its files, with nothing but names changed."""
    texts = written("backend", "npu", tmp_path, "--kind", kind)
    name = projects.KINDS[kind]
    parts = ["aot", "runtime", "schema", *(["vendor"] if kind == "compiler" else [])]
    for part in parts:
        folder = ROOT / "backends" / name / part
        for path in projects.sources(folder):
            text = re.sub(rf"executorch([./])backends\1{name}", name, (folder / path).read_text())
            expected = projects.renamed(text, "npu", name)
            assert texts[projects.renamed(f"{name}/{part}/{path}", "npu", name)] == expected
    assert {path.split("/")[1] for path in texts if path.startswith("npu/")} >= set(parts)
    assert 'register_backend({"NpuBackend"' in texts["npu/runtime/npu_backend.cpp"]


@pytest.mark.parametrize("kind", ["delegate", "compiler"])
def test_what_a_backend_includes_and_imports_is_its_own_or_installed(
    kind: str, tmp_path: Path
) -> None:
    texts = written("backend", "npu", tmp_path, "--kind", kind)
    made = {"npu/npu_generated.h"}
    for path, text in texts.items():
        for header in re.findall(r"#include <((?:executorch/backends|npu)/[^>]+)>", text):
            assert header in texts or header in made, f"{path}: {header}"
        for module in re.findall(r"(?:from|import) (npu[\w.]*)", text):
            file = module.replace(".", "/")
            assert {f"{file}.py", f"{file}/__init__.py"} & set(texts), f"{path}: {module}"


def test_an_operator_is_in_the_namespace_that_is_asked_for(tmp_path: Path) -> None:
    texts = written("operator", "gelu_fast", tmp_path, "--namespace", "acme")
    assert not any("my_ops" in text for text in texts.values())
    assert 'EXECUTORCH_LIBRARY(acme, "gelu_fast.out"' in texts["gelu_fast/gelu_fast.cpp"]
    assert '"acme::gelu_fast.out"' in texts["gelu_fast/__init__.py"]


@pytest.mark.parametrize("name", ["Npu", "1st", "my-device", "a__b", "class", "json", "numpy"])
@pytest.mark.parametrize("kind", ["backend", "operator"])
def test_what_is_no_name_is_refused(
    kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main([f"new-{kind}", name, "--dir", str(tmp_path)]) == main.FAILED
    assert name in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_what_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "npu").mkdir()
    assert main.main(["new-backend", "npu", "--dir", str(tmp_path)]) == main.FAILED
    assert "is there already" in capsys.readouterr().err
    given = ["new-operator", "gelu", "--dir", str(tmp_path), "--namespace", "aten"]
    assert main.main(given) == main.FAILED
    assert "--namespace" in capsys.readouterr().err


# ---- Packages that are installed ----


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "given", raising=False)
    return tmp_path


def installed(folder: Path, module: str, group: str, value: str) -> None:
    """A package as pip leaves it: a module, and metadata that names an entry point."""
    (folder / "given.py").write_text(module)
    metadata = folder / "given-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: given\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\ngiven = given:{value}\n")


def test_export_takes_the_backend_of_a_package(
    on_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = "from executorch.backends.xnnpack import XnnpackPartitioner as Given\n"
    installed(on_path, module, plugins.GROUP, "Given")
    monkeypatch.chdir(on_path)
    assert main.main(["export", "add_mul", "--backend", "given", "-o", "x.pte"]) == main.DONE
    assert b"XnnpackBackend" in Path("x.pte").read_bytes()
    words = ["export", "add_mul", "--backend", "given", "--quantize", "int8"]
    assert main.main(words) == main.FAILED
    able = " or ".join(name for name, each in backends().items() if "int8" in each.quantizations())
    assert f"expected --backend {able}, found given" in capsys.readouterr().err


def test_a_backend_that_cannot_be_imported_is_named(
    on_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(on_path, "import no_such_compiler\n", plugins.GROUP, "Given")
    assert main.main(["export", "add", "--backend", "given"]) == main.FAILED
    output = capsys.readouterr().err
    assert (
        "the backend given (given:Given) cannot be used" in output and "no_such_compiler" in output
    )


def test_the_runtime_loads_what_packages_name(
    on_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    installed(on_path, "calls = []\nload = lambda: calls.append(1)\n", libraries.GROUP, "load")
    monkeypatch.setenv("EXECUTORCH_PLUGINS", "0")
    libraries.load_installed()
    import given

    assert given.calls == []
    monkeypatch.delenv("EXECUTORCH_PLUGINS")
    libraries.load_installed()
    assert given.calls == [1] and not recwarn


def test_a_library_that_cannot_be_loaded_is_a_warning(on_path: Path) -> None:
    module = (
        "def load():\n    from executorch.extension.pybindings import libraries\n"
        "    libraries.load('libgiven.so')\n"
    )
    installed(on_path, module, libraries.GROUP, "load")
    with pytest.warns(RuntimeWarning, match="package of given:load .* libgiven.so is not built"):
        libraries.load_installed()
