# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of examples/raspberry_pi for a Pi 4 or 5: what they say, what they build, and that it runs there."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.repository.sources import ROOT

PI = ROOT / "examples" / "raspberry_pi"
BUILD = ROOT / "build" / "raspberry-pi5"
MAIN = "examples/models/llama/llama_main"
RUNNER = "examples/models/llama/runner/libllama_runner.so"
PROMPT = "The quick brown fox"


def setup(
    *arguments: str, script: str = "setup.sh", **environment: str
) -> subprocess.CompletedProcess[str]:
    words = [str(PI / script), *arguments]
    env = {**os.environ, "PYTHON_EXECUTABLE": sys.executable, **environment}
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False)


@pytest.mark.req("EMB-010")
def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    def message(*arguments: str) -> str:
        done = setup(f"--build={tmp_path / 'b'}", *arguments)
        assert done.returncode == 1
        return " ".join(done.stderr.split())

    assert "which board? setup.sh pi4 or setup.sh pi5" in message()
    assert "unknown argument pi3; --help lists them" in message("pi3")
    words = message("pi5", f"--toolchain={tmp_path}")
    assert f"expected bin/aarch64-none-linux-gnu-g++ in {tmp_path}" in words
    assert "has no usr/include: copy the Pi's file system there" in message(
        "pi5", f"--sysroot={tmp_path}"
    )
    (tmp_path / "b").mkdir(exist_ok=True)
    (tmp_path / "b/photo").touch()
    assert "which is no build folder: it has no CMakeCache.txt" in message("pi5", "--force-rebuild")
    assert (tmp_path / "b/photo").exists()
    archive = tmp_path / "toolchain.tar.xz"
    archive.write_bytes(b"corrupted")
    url = f"--toolchain-url=file://{archive}"
    assert "expected the MD5 sum 0123" in message("pi5", url, "--toolchain-md5=0123")
    assert f"file://{archive} is no tar archive" in message("pi5", url)


@pytest.mark.req("EMB-011", "EMB-C01")
@pytest.mark.parametrize("script", ["setup.sh", "rpi_setup.sh"])
@pytest.mark.parametrize("rebuild", [True, False])
def test_a_forced_rebuild_begins_with_an_empty_folder(
    tmp_path: Path, script: str, rebuild: bool
) -> None:
    """CMake is a script that writes down its arguments and stops."""
    tools, build = tmp_path / "tools", tmp_path / "b"
    tools.mkdir()
    (tools / "cmake").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexit 3\n')
    (tools / "aarch64-linux-gnu-g++").write_text("#!/bin/sh\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)
    (build / "kept").mkdir(parents=True)
    (build / "CMakeCache.txt").touch()
    (build / "old.o").touch()
    flags = ["--force-rebuild"] if rebuild else []
    path = f"{tools}:{os.environ['PATH']}"
    done = setup("pi5", *flags, f"--build={build}", script=script, PATH=path)
    assert done.returncode == 3, done.stderr
    asked = (tmp_path / "asked").read_text()
    assert f"-B {build}" in asked and "arm-toolchain-pi5.cmake" in asked
    left = sorted(p.name for p in build.iterdir())
    assert left == ([] if rebuild else ["CMakeCache.txt", "kept", "old.o"])


@pytest.mark.req("EMB-010", "EMB-C01")
@pytest.mark.parametrize("script", ["setup.sh", "rpi_setup.sh"])
def test_both_names_have_the_same_help(script: str) -> None:
    done = setup("--help", script=script)
    assert done.returncode == 0 and "--force-rebuild" in done.stdout and "--sysroot" in done.stdout


@pytest.mark.req("EMB-012")
@pytest.mark.parametrize("board, processor", [("pi4", "cortex-a72"), ("pi5", "cortex-a76")])
def test_the_line_that_a_user_edits(board: str, processor: str) -> None:
    lines = (PI / f"arm-toolchain-{board}.cmake").read_text().splitlines()
    assert 'set(CMAKE_SYSROOT "${TOOLCHAIN_PATH}/aarch64-none-linux-gnu/libc")' in lines
    assert 'set(CMAKE_FIND_ROOT_PATH "${CMAKE_SYSROOT}")' in lines
    assert f"set(PI_PROCESSOR {processor})" in lines


def configured(toolchain_file: Path, folder: Path, *options: str) -> str:
    """What an empty project is compiled with."""
    folder = folder / "empty"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(user CXX)\n"
        'message(STATUS "with ${CMAKE_CXX_COMPILER}, ${CMAKE_SYSROOT}, ${CMAKE_CXX_FLAGS}")\n'
    )
    words = ["cmake", "-S", str(folder), "-B", str(folder / "b")]
    words += [f"-DCMAKE_TOOLCHAIN_FILE={toolchain_file}", *options]
    words.append("-DCMAKE_CXX_COMPILER_WORKS=ON")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return re.findall(r"-- with (.*)", done.stdout)[-1]


@pytest.mark.req("EMB-010", "EMB-012")
def test_a_toolchain_from_an_archive_and_a_sysroot_of_ones_own(tmp_path: Path) -> None:
    """Arm's archive has its compilers in bin/ and its libraries in aarch64-none-linux-gnu/libc."""
    packed = tmp_path / "arm-gnu-toolchain"
    for tool in ("gcc", "g++"):
        path = packed / "bin" / f"aarch64-none-linux-gnu-{tool}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\necho cannot compile >&2\nexit 1\n")
        path.chmod(0o755)
    (packed / "aarch64-none-linux-gnu/libc").mkdir(parents=True)
    archive = tmp_path / "toolchain.tar.xz"
    with tarfile.open(archive, "w:xz") as file:
        file.add(packed, "arm-gnu-toolchain")
    sum_of = hashlib.md5(archive.read_bytes()).hexdigest()
    build = tmp_path / "b"
    done = setup(
        "pi5", f"--toolchain-url=file://{archive}", f"--toolchain-md5={sum_of}", f"--build={build}"
    )
    output = "".join((done.stdout + done.stderr).split())
    assert done.returncode == 1 and "cannotcompile" in output
    assert f"{build}/arm-toolchain/bin/aarch64-none-linux-gnu-" in output
    file = PI / "arm-toolchain-pi5.cmake"
    shown = configured(file, tmp_path, f"-DTOOLCHAIN_PATH={packed}")
    assert f"{packed}/bin/aarch64-none-linux-gnu-g++, {packed}/aarch64-none-linux-gnu/libc" in shown
    # As the document edits the file.
    edited = tmp_path / "arm-toolchain-pi5.cmake"
    line = 'set(CMAKE_SYSROOT "${TOOLCHAIN_PATH}/aarch64-none-linux-gnu/libc")'
    edited.write_text(
        file.read_text().replace(line, f'set(CMAKE_SYSROOT "{tmp_path}/rpi5-sysroot")')
    )
    shutil.copy(PI / "arm-toolchain-pi.cmake", tmp_path)
    shown = configured(edited, tmp_path)
    assert f"aarch64-linux-gnu-g++, {tmp_path}/rpi5-sysroot, -mcpu=cortex-a76" in shown


@pytest.fixture(scope="module")
def output() -> str:
    """What `setup.sh pi5` says. The build folder stays, so that little is compiled again."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (ROOT / "build" / "raspberry-pi5.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = setup("pi5", f"--build={BUILD}")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.full
@pytest.mark.req("EMB-010", "EMB-016", "EMB-019", "EMB-C04", "LLM-044")
def test_the_documented_files_are_built(output: str) -> None:
    words = " ".join(output[output.index("[SUCCESS] LLaMA") :].split())
    size = r"\([\d.]+[KM]\)"
    assert re.fullmatch(
        r"\[SUCCESS\] LLaMA runner built successfully ==== Verifying Build Outputs ==== "
        rf"\[SUCCESS\] ✓ llama_main {size} \[SUCCESS\] ✓ libllama_runner.so {size} "
        rf"\[SUCCESS\] ✓ libextension_module.a {size} - static library glibc needed on the Pi: "
        r"2\.\d+ \(there: ldd --version\) "
        r"✓ ExecuTorch cross-compilation setup completed successfully!",
        words,
    )
    print(words)
    for program in (MAIN, RUNNER):
        data = (BUILD / program).read_bytes()
        assert data[:4] == b"\x7fELF" and int.from_bytes(data[18:20], "little") == 183  # aarch64
        # `strings ... | grep GLIBC_`: the Pi's system of 2023 has 2.36.
        versions = [int(v) for v in re.findall(rb"GLIBC_2\.(\d+)", data)]
        assert versions and max(versions) <= 36


@pytest.fixture
def deployed(output: str, tmp_path: Path) -> Iterator[Path]:
    """~/executorch-deployment: what scp copies, and setup_env.sh."""
    folder = tmp_path / "executorch-deployment"
    folder.mkdir()
    for program in (MAIN, RUNNER):
        shutil.copy(BUILD / program, folder)
    script = "echo 'export LD_LIBRARY_PATH=$(pwd):$LD_LIBRARY_PATH' > setup_env.sh"
    subprocess.run(["bash", "-c", f"{script} && chmod +x setup_env.sh"], cwd=folder, check=True)
    return folder


def on_the_pi(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the documented line with ./llama_main emulated as a Pi 5's processor."""
    emulator = "qemu-aarch64-static -cpu cortex-a76 -L /usr/aarch64-linux-gnu"
    # LD_LIBRARY_PATH is the emulated program's alone.
    emulator += ' -E LD_LIBRARY_PATH="$LD_LIBRARY_PATH"'
    line = command.replace("./llama_main", f"{emulator} ./llama_main")
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.full
@pytest.mark.req("EMB-017", "EMB-021", "EMB-C05")
def test_the_program_says_how_it_is_used(deployed: Path) -> None:
    done = on_the_pi("source setup_env.sh && ./llama_main --help", deployed)
    assert done.returncode == 0 and "--tokenizer_path" in done.stdout, done.stderr
    assert "not found" not in done.stdout + done.stderr
    # The library lies beside the program; elsewhere it is found where LD_LIBRARY_PATH says.
    assert on_the_pi("./llama_main --help", deployed).returncode == 0
    (deployed / "lib").mkdir()
    (deployed / "libllama_runner.so").rename(deployed / "lib" / "libllama_runner.so")
    missing = on_the_pi("./llama_main --help", deployed)
    assert missing.returncode != 0
    assert "libllama_runner.so: cannot open shared object file" in missing.stderr
    done = on_the_pi("cd lib && source ../setup_env.sh && cd .. && ./llama_main --help", deployed)
    assert done.returncode == 0, done.stderr


@pytest.mark.full
@pytest.mark.req("EMB-017", "EMB-018")
def test_a_language_model_writes_there_what_it_writes_here(deployed: Path) -> None:
    llama = tiny_llama.make(deployed)
    shutil.copy(llama.program, deployed / "llama3_2.pte")
    prompt = f"--prompt '{PROMPT}' --temperature 0 --ignore_eos"
    files = f"--model_path ./llama3_2.pte --tokenizer_path {llama.tokenizer}"
    done = on_the_pi(
        f"source setup_env.sh && export ET_LOG_LEVEL=Info && ./llama_main {files} --seq_len 24 {prompt} --verbose",
        deployed,
    )
    assert done.returncode == 0, done.stderr
    ids = llama.encode(PROMPT)
    expected = llama.decode(llama.greedy(ids, 24 - len(ids)))
    shown = done.stdout[len(PROMPT) : done.stdout.index("\nPyTorchObserver ")]
    assert [c for c in shown if c.isalpha()] == [
        c for c in expected if c.isalpha() and c != "\ufffd"
    ]
