# SPDX-License-Identifier: BSD-3-Clause
"""Compiles what inductor wrote for a processor into one library, with flags of ours: without symbols that would keep
the library loaded for good, and for any processor of its kind unless one is named."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import torch

from executorch.exir.error import ExportError, ExportErrorType

# -fno-gnu-unique, and no destructors of thread-local objects: either keeps glibc from ever unloading a library.
_FLAGS = (
    *("-std=c++20", "-O2", "-ftree-vectorize", "-fPIC", "-shared", "-fno-gnu-unique", "-ffp-contract=off"),
    *("-fno-trapping-math", "-fno-math-errno", "-fvisibility-inlines-hidden", "-w", "-s", "-DNDEBUG"),
    *("-DTORCH_INDUCTOR_CPP_WRAPPER", "-DSTANDALONE_TORCH_HEADER", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-DUSE_MMAP_EXTERNAL"),
)
_LAST_ERROR = "static thread_local std::string g_aoti_last_error;"
# Of a thread, too, but never destroyed: what is reachable at its end is lost, a few bytes per thread that had an error.
_LASTING_ERROR = (
    "static std::string& aoti_last_error() { static thread_local std::string* text; "
    "if (!text) text = new std::string; return *text; }\n#define g_aoti_last_error aoti_last_error()"
)


def find_compiler() -> str:
    """Empty where there is none."""
    return next(filter(None, map(shutil.which, ("g++", "c++"))), "")


def link(files: Sequence[str], march: str = "") -> str:
    """The path of the library made of the sources and objects among `files`. ExportError with the compiler's words."""
    sources = [Path(each) for each in files if each.endswith(".cpp")]
    for each in sources:
        each.write_text(each.read_text().replace(_LAST_ERROR, _LASTING_ERROR))
    library = sources[0].with_name("model.wrapper.so")
    include = Path(torch.__file__).parent / "include"
    folders = [f"-I{include}", f"-I{include / 'torch/csrc/api/include'}"]
    objects = [each for each in files if each.endswith(".o")]
    target = [f"-march={march}"] if march else []
    command = [find_compiler(), *_FLAGS, *target, *folders, *map(str, sources), *objects, "-o", str(library)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"{command[0]} ended with {run.returncode} on what AOTInductor wrote: {run.stderr[-2000:]}",
        )
    return str(library)
