# SPDX-License-Identifier: BSD-3-Clause
"""Prints what one call of add.pte costs on a JVM, beside ONNX Runtime's classes in turns in one process, and beside
C++: `python -m tools.bench.jvm_calls [--onnxruntime FILE.jar]`

ONNX Runtime's jar is not on PyPI by itself; the source archive of pyserini has its classes and libraries in a jar of
its own, which pip fetches once (160 MB)."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from executorch.backends.test.built import build_folder
from executorch.extension.llm.export.program_cache import cache_folder
from executorch.tools.android.classes import ROOT, class_path, compile_classes, kotlin_library

PACKAGE = "pyserini==1.6.0"
PART = "ai/onnxruntime/"
ADD = ROOT / "extension" / "module" / "test" / "resources" / "add.pte"


def fetch(jar: Path) -> Path:
    """What of the package's jar is ONNX Runtime's, for Linux."""
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.parent) as work:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, PACKAGE]
        subprocess.run(command, check=True)
        (archive,) = Path(work).glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            (member,) = [name for name in opened.getnames() if name.endswith("fatjar.jar")]
            opened.extract(member, work, filter="data")
        part = Path(work, "part.jar")
        with zipfile.ZipFile(Path(work, member)) as whole, zipfile.ZipFile(part, "w") as written:
            for name in whole.namelist():
                if name.startswith(PART) and (name.endswith(".class") or "/linux-" in name):
                    written.writestr(name, whole.read(name))
        part.replace(jar)
    return jar


def add_onnx() -> bytes:
    """z = x + y of one float each, as onnx.proto numbers its fields."""

    def field(number: int, value: bytes | int) -> bytes:
        if isinstance(value, int):
            return bytes((number << 3, value))
        return bytes((number << 3 | 2, len(value))) + value

    one_float = field(1, field(1, 1) + field(2, field(1, field(1, 1))))  # FLOAT, [1]
    node = field(1, b"x") + field(1, b"y") + field(2, b"z") + field(4, b"Add")
    graph = field(1, node) + field(2, b"add")
    for number, name in ((11, b"x"), (11, b"y"), (12, b"z")):
        graph += field(number, field(1, name) + field(2, one_float))
    return (
        field(1, 8) + field(7, graph) + field(8, field(2, 13))
    )  # version 8 of the format, 13 of operators


def in_java(onnxruntime: Path) -> str:
    library = build_folder() / "extension" / "android"
    with tempfile.TemporaryDirectory() as work:
        classes = compile_classes(Path(work, "classes"))
        onnx = Path(work, "add.onnx")
        onnx.write_bytes(add_onnx())
        path = class_path([classes, kotlin_library(), onnxruntime])
        command = ["java", f"-Djava.library.path={library}", "-cp", path]
        command += [str(Path(__file__).with_name("JvmCalls.java")), str(ADD), str(onnx)]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def in_cpp() -> str:
    command = [build_folder() / "call_overhead_bench", ADD]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--onnxruntime", type=Path, help="a jar of com.microsoft.onnxruntime")
    given = parser.parse_args().onnxruntime
    jar = given or cache_folder() / "onnxruntime-java.jar"
    if not jar.is_file():
        fetch(jar)
    print(in_cpp(), in_java(jar), sep="", end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
