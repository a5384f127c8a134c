# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the shaders of a folder with glslc and writes them as a C++ source file, spv.cpp.

Each `name.glsl` becomes two modules: one whose buffers hold elements of 8, 16 and 32 bits, one (-DWIDE_ELEMENTS) for
devices where all elements have 32 bits. What a shader does with which element types is a matter of its specialization
constants, so that there are few modules.
"""

from __future__ import annotations

import argparse
import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FLAVORS = ("", "WIDE_ELEMENTS")


def compile_shader(
    source: Path, flavor: str, folder: Path, arguments: argparse.Namespace
) -> list[int]:
    """The words of one module; SystemExit with the compiler's message."""
    out = folder / f"{source.stem}{'_wide' if flavor else ''}.spv"
    command = [
        arguments.glslc_path,
        "-fshader-stage=compute",
        "--target-env=vulkan1.1",
        "-Werror",
        f"-I{source.parent}",
    ]
    command += ["-O"] if arguments.optimize else []
    command += [f"-D{define}" for define in (*([flavor] if flavor else []), *arguments.env)]
    done = subprocess.run(
        [*command, str(source), "-o", str(out)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} {source}: {done.stderr or done.stdout}")
    data = out.read_bytes()
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def as_cpp(modules: dict[str, tuple[list[int], list[int]]]) -> str:
    """The source file: one array for each module, and one row for each shader."""
    lines = [
        "// Written by gen_vulkan_spv.py.",
        "#include <executorch/backends/vulkan/runtime/api/shaders.h>",
        "",
        "namespace executorch::backends::vulkan {",
        "namespace {",
        "",
    ]
    for name, flavors in modules.items():
        for suffix, words in zip(("", "_wide"), flavors):
            text = ",".join(f"0x{word:x}" for word in words)
            lines.append(f"constexpr uint32_t k_{name}{suffix}[] = {{{text}}};")
    lines += ["", "constexpr Shader kShaders[] = {"]
    lines += [
        f'    {{"{name}", {{k_{name}, sizeof(k_{name})}}, {{k_{name}_wide, sizeof(k_{name}_wide)}}}},'
        for name in modules
    ]
    lines += [
        "};",
        "",
        "}  // namespace",
        "",
        "runtime::Span<const Shader> shaders() {",
        "  return {kShaders, sizeof(kShaders) / sizeof(kShaders[0])};",
        "}",
        "",
        "}  // namespace executorch::backends::vulkan",
        "",
    ]
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    out.add_argument("--glsl-path", required=True, type=Path, help="folder of *.glsl")
    out.add_argument("--output-path", required=True, type=Path, help="folder of spv.cpp")
    out.add_argument("--glslc-path", required=True, help="the compiler")
    out.add_argument("--tmp-dir-path", required=True, type=Path, help="folder of *.spv")
    out.add_argument("--env", nargs="*", default=[], metavar="K=V", help="macros for all shaders")
    out.add_argument("--optimize", action="store_true", help="glslc -O")
    out.add_argument("--nthreads", type=int, default=os.cpu_count(), help="compilers at a time")
    return out


def main(argv: list[str] | None = None) -> int:
    """Compiles and writes."""
    arguments = parser().parse_args(argv)
    sources = sorted(arguments.glsl_path.glob("*.glsl"))
    if not sources:
        raise SystemExit(f"{arguments.glsl_path}: expected *.glsl, found none")
    arguments.tmp_dir_path.mkdir(parents=True, exist_ok=True)
    arguments.output_path.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max(1, arguments.nthreads or 1)) as pool:
        jobs = {
            source.stem: tuple(
                pool.submit(compile_shader, source, flavor, arguments.tmp_dir_path, arguments)
                for flavor in FLAVORS
            )
            for source in sources
        }
        modules = {name: tuple(job.result() for job in pair) for name, pair in jobs.items()}
    (arguments.output_path / "spv.cpp").write_text(as_cpp(modules), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
