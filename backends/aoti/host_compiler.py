# SPDX-License-Identifier: BSD-3-Clause
"""Compiles what inductor wrote for a processor into one library, with flags of ours: without what would keep the
library loaded for good, and for any processor of its kind unless one is named. Most of the time goes to PyTorch's
headers, and to functions that are the same in every library: both are compiled once and kept in inductor's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from executorch.exir.error import ExportError, ExportErrorType

# glibc unloads no library that has a unique symbol.
_FLAGS = (
    *(
        "-std=c++20",
        "-O2",
        "-ftree-vectorize",
        "-fPIC",
        "-fno-gnu-unique",
        "-ffp-contract=off",
        "-w",
    ),
    *("-fno-trapping-math", "-fno-math-errno", "-fvisibility-inlines-hidden", "-DNDEBUG"),
    *(
        "-DTORCH_INDUCTOR_CPP_WRAPPER",
        "-DSTANDALONE_TORCH_HEADER",
        "-DC10_USING_CUSTOM_GENERATED_MACROS",
    ),
    "-DUSE_MMAP_EXTERNAL",
)
# Nor one with a destructor of an object of a thread. This one is never destroyed: a few bytes per thread with an error.
_LAST_ERROR = "static thread_local std::string g_aoti_last_error;"
_LASTING_ERROR = (
    "static std::string& aoti_last_error() { static thread_local std::string* text; "
    "if (!text) text = new std::string; return *text; }\n#define g_aoti_last_error aoti_last_error()"
)
_DEVICE_HEADER = "#include <torch/csrc/inductor/aoti_include/cpu.h>\n"
_KERNEL_HEADER = "#include <torch/csrc/inductor/cpp_prefix.h>\n"
# Of the class of all methods, with its regular expressions, only the shared part has the functions.
_BASE = "template class torch::aot_inductor::AOTInductorModelBase<torch::aot_inductor::AOTInductorModel>;\n"


def find_compiler() -> str:
    """Empty where there is none."""
    return next(filter(None, map(shutil.which, ("g++", "c++"))), "")


def link(files: Sequence[str], march: str = "") -> str:
    """The path of the library made of the sources and objects among `files`. ExportError with the compiler's words."""
    flags = [*_FLAGS, *([f"-march={march}"] if march else []), *_folders()]
    sources = [Path(each) for each in files if each.endswith(".cpp")]
    library = sources[0].with_name("model.wrapper.so")
    texts = {each: each.read_text().replace(_LAST_ERROR, _LASTING_ERROR) for each in sources}
    shared = _shared_functions()
    is_split = sum(text.count(shared) for text in texts.values()) == 1
    for path, text in texts.items():
        path.write_text(text.replace(shared, "") if is_split else text)
    objects = [each for each in files if each.endswith(".o")]
    headers = _DEVICE_HEADER + _KERNEL_HEADER
    if is_split:
        objects.append(_kept("shared.o", _DEVICE_HEADER + shared + _BASE, [*flags, "-O1", "-c"]))
        headers += f"extern {_BASE}"
    headers = _kept("headers.h.gch", headers, [*flags, "-x", "c++-header"])
    _run(
        [
            *flags,
            "-shared",
            "-s",
            "-include",
            headers.removesuffix(".gch"),
            *map(str, sources),
            *objects,
        ],
        library,
    )
    return str(library)


def _folders() -> list[str]:
    include = Path(torch.__file__).parent / "include"
    return [f"-I{include}", f"-I{include / 'torch/csrc/api/include'}"]


def _shared_functions() -> str:
    """What inductor writes into every library as it is; text that none has where this torch keeps it elsewhere."""
    path = Path(torch.__file__).parent / "_inductor/codegen/aoti_runtime/interface.cpp"
    text = path.read_text() if path.is_file() else ""
    return text.replace(_LAST_ERROR, _LASTING_ERROR) or "none"


def _kept(name: str, source: str, flags: Sequence[str]) -> str:
    """What the compiler makes of a text, made once for each version and set of flags."""
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    compiler = find_compiler()
    version = subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, check=False
    ).stdout
    parts = "\n".join([compiler, version, torch.__version__, *flags, source])
    folder = Path(cache_dir()) / "executorch" / hashlib.sha256(parts.encode()).hexdigest()[:32]
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            text = Path(scratch, "source.cpp")
            text.write_text(source)
            made = Path(scratch, name)
            _run([*flags, str(text)], made)
            os.replace(made, path)  # whole, or not there
    return str(path)


def _run(arguments: Sequence[str], out: Path) -> None:
    command = [find_compiler(), *arguments, "-o", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"{command[0]} ended with {run.returncode} on what AOTInductor wrote: {run.stderr[-2000:]}",
        )
