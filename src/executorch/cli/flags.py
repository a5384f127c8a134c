# SPDX-License-Identifier: BSD-3-Clause
"""`executorch --cflags`, `--libs` and `--cmakedir`: what a C++ project needs of the installed package."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
FLAGS = ("--cflags", "--libs", "--cmakedir")
# Linked whole: they register kernels when a program starts. The same as Python's runtime has.
_WHOLE = (
    "executorch",
    "optimized_native_cpu_ops_lib",
    "quantized_ops_lib",
    "torchao_ops_executorch",
    "custom_ops",
)


def printed(asked: Sequence[str], package: Path = PACKAGE) -> str:
    """One line for all that are asked, in the order of a compiler's command."""
    if others := [word for word in asked if word not in FLAGS]:
        raise ValueError(f"expected {', '.join(FLAGS)}, found {others[0]}")
    if "--cmakedir" in asked and len(asked) > 1:
        raise ValueError("--cmakedir: expected no other option beside it")
    if not (package / "lib" / "cmake").is_dir():
        raise ValueError(
            f"{package} is no installed package: `pip install .` brings headers and libraries, or "
            "`cmake --install cmake-out --prefix PREFIX`, which find_package finds in PREFIX"
        )
    makers = {"--cflags": _cflags, "--libs": _libs, "--cmakedir": _cmakedir}
    return " ".join(word for flag in FLAGS if flag in asked for word in makers[flag](package))


def _cmakedir(package: Path) -> list[str]:
    return [str(package / "lib" / "cmake" / "ExecuTorch")]


def _cflags(package: Path) -> list[str]:
    include = package / "include"
    c10 = include / "executorch" / "runtime" / "core" / "portable_type" / "c10"
    return ["-std=c++17", "-DC10_USING_CUSTOM_GENERATED_MACROS", f"-I{include}", f"-I{c10}"]


def _libs(package: Path) -> list[str]:
    if not sys.platform.startswith("linux"):
        raise ValueError("--libs: expected Linux, whose linker it is written for; use --cmakedir")
    folder = package / "lib"
    names = sorted(path.stem.removeprefix("lib") for path in folder.glob("lib*.a"))
    whole = [name for name in _WHOLE if name in names]
    # Their one file that registers is named by this symbol, the rest comes with it.
    backends = [f"-Wl,-u,executorch_{name}" for name in names if name.endswith("_backend")]
    group = [f"-l{name}" for name in names if name not in whole]
    return [
        f"-L{folder}",
        "-Wl,--whole-archive",
        *(f"-l{name}" for name in whole),
        "-Wl,--no-whole-archive",
        *backends,
        *("-Wl,--start-group", *group, "-Wl,--end-group"),
        *("-Wl,--gc-sections", "-pthread", "-ldl", "-lm"),
    ]
