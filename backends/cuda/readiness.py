# SPDX-License-Identifier: BSD-3-Clause
"""What a computer lacks to compile for NVIDIA's GPUs, found before any work is done: there is no compiling for them
elsewhere, as Triton tries its kernels on the GPU."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from shutil import which

import torch

from executorch.backends.cuda.options import text_of
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType

_CROSS_COMPILER = "x86_64-w64-mingw32-g++"


class NeedsCuda(ExportError, RuntimeError):
    """What cannot be compiled here."""


def missing_parts(specs: Mapping[str, str]) -> list[str]:
    """What is missing, each with how it is had."""
    found = []
    if torch.version.cuda is None:
        found.append(
            f"a torch with CUDA (torch {torch.__version__} has none; see https://pytorch.org)"
        )
    elif not torch.cuda.is_available():
        found.append("a GPU and its driver that torch sees (nvidia-smi lists them)")
    if find_spec("triton") is None:
        found.append("Triton (pip install triton)")
    is_for_windows = specs.get("platform") == "windows"
    if is_for_windows and which(_CROSS_COMPILER) is None:
        found.append(f"{_CROSS_COMPILER} (apt-get install g++-mingw-w64-x86-64)")
    return found


def check_ready(specs: list[CompileSpec]) -> None:
    """NeedsCuda with all that is missing."""
    missing = missing_parts(text_of(specs))
    if missing:
        raise NeedsCuda(
            ExportErrorType.NOT_SUPPORTED,
            f"CudaPartitioner compiles with AOTInductor on a computer with an NVIDIA GPU; missing here: "
            f"{'; '.join(missing)}. Export there, or leave CudaPartitioner out",
        )
