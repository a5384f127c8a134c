# SPDX-License-Identifier: BSD-3-Clause
"""Writes a folder that compiles anywhere: a model as source, the kernels it calls, a processor's start, a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..op_table import Row
from ..tools.gen_selected_op_variants import header as selected_dtypes
from . import kernel_sources
from .plan import CannotWrite, Plan, Tensor
from .source import Files, arena_bytes, described, kernels_of, weight_bytes
from .targets import Target

_TEMPLATES = Path(__file__).parent / "templates"
# What the user changes: written once, then left alone.
KEPT = ("main.cpp",)


@dataclass(frozen=True)
class Vectors:
    """Bytes of inputs and of the outputs they should give, in the order of the method; how close these are to be."""

    inputs: Sequence[bytes]
    outputs: Sequence[bytes]
    absolute: float = 1e-4
    relative: float = 1e-3


@dataclass(frozen=True)
class Settings:
    """What a project is made of besides the plan."""

    name: str
    origin: str
    target: Target
    scratch_bytes: int
    stack_bytes: int
    version: str
    own_sources: Sequence[Path] = field(default=())


def write_project(
    folder: Path,
    plan: Plan,
    rows: dict[str, Row],
    model: Files,
    vectors: Vectors,
    settings: Settings,
) -> list[str]:
    """Writes the files, and returns the names of those left as they were. CannotWrite for a model that the target has
    no room for, and for kernels without source."""
    check_room(plan, settings)
    files = _files(plan, rows, model, vectors, settings)
    left = [name for name in KEPT if (folder / name).exists()]
    for name, text in files.items():
        if name not in left:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return left


def check_room(plan: Plan, settings: Settings) -> None:
    """Weights and tensors are known before anything is compiled; the linker counts the rest."""
    target = settings.target
    if target.is_host:
        return
    ram = arena_bytes(plan) + settings.scratch_bytes + settings.stack_bytes
    for what, needed, memory in (
        ("flash for weights alone", weight_bytes(plan), target.flash),
        (f"RAM for tensors, scratch and a stack of {settings.stack_bytes}", ram, target.ram),
    ):
        if needed > memory.nbytes:
            raise CannotWrite(
                f"{settings.origin} needs {needed} bytes of {what}; {target.name} on {target.machine} has "
                f"{memory.nbytes}: take a smaller model or input, or another target"
            )


def _files(
    plan: Plan, rows: dict[str, Row], model: Files, vectors: Vectors, settings: Settings
) -> dict[str, str]:
    """Text by name."""
    name, target = settings.name, settings.target
    words = _words(plan, settings)
    files = {
        f"model/{name}.h": model.header,
        f"model/{name}.cpp": model.source,
        "main.cpp": _filled("main.cpp", words),
        "test/test.cpp": _filled("test.cpp", words),
        "test/vectors.h": _vectors(plan, vectors),
        "test/console.h": _filled("console_h", words),
    }
    own = {f"lib/own/{path.name}": path.read_text() for path in settings.own_sources}
    defining = kernel_sources.sources_of(kernels_of(plan, rows), own.values())
    texts = [*files.values(), *own.values()]
    library = kernel_sources.with_includes(defining, texts)
    files |= {f"lib/executorch/{each}": kernel_sources.text_of(each) for each in library} | own
    keys: dict[str, dict[str, None]] = {}
    for call in plan.calls:
        keys.setdefault(call.operator, {})[call.key] = None
    files["lib/selected_op_variants.h"] = selected_dtypes({"et_kernel_metadata": keys})
    if licence := kernel_sources.find("LICENSE"):
        files["lib/executorch/LICENSE"] = licence.read_text()
    if target.is_host:
        files["test/console.cpp"] = _filled("console_host.cpp", words)
    else:
        files["test/console.cpp"] = _filled("console_semihosting.cpp", words)
        files["board/start.cpp"] = _filled("start.cpp", words)
        files["board/memory.ld"] = _filled("memory.ld", words)
        files["board/toolchain.cmake"] = _filled("toolchain.cmake", words)
    compiled = sorted(each for each in files if each.startswith("lib/") and each.endswith(".cpp"))
    words["SOURCES"] = "\n".join(f"  {each}" for each in compiled)
    files["CMakeLists.txt"] = _filled("CMakeLists.txt", words)
    files["README.md"] = _filled("README.md", words)
    return files


def _words(plan: Plan, settings: Settings) -> dict[str, str]:
    """What stands between @ in the templates."""
    target = settings.target
    words = {
        "PROJECT": settings.name,
        "NAME": settings.name,
        "UPPER": settings.name.upper(),
        "ORIGIN": f"`{settings.origin}`",
        "VERSION": settings.version,
        "TARGET": target.name,
        "WHAT": target.what,
        "WEIGHT_BYTES": str(weight_bytes(plan)),
        "ARENA_BYTES": str(arena_bytes(plan)),
        "SCRATCH_BYTES": str(settings.scratch_bytes),
        "STACK_BYTES": str(settings.stack_bytes),
        "INPUT": _accessor(plan, plan.inputs, f"{settings.name}_input"),
        "OUTPUT": _accessor(plan, plan.outputs, f"{settings.name}_output"),
    }
    if target.is_host:
        return words | {
            "TOOLCHAIN": "",
            "CHUNK": "256",
            "BOARD_SOURCES": "",
            "LINK_OPTIONS": "$<IF:$<PLATFORM_ID:Darwin>,LINKER:-dead_strip,LINKER:--gc-sections>",
            "IN_EMULATOR": "",
            "BOARD_ROW": "",
            "STACK": ", and a stack",
        }
    toolchain = (
        "if(NOT CMAKE_TOOLCHAIN_FILE)\n"
        '  set(CMAKE_TOOLCHAIN_FILE "${CMAKE_CURRENT_SOURCE_DIR}/board/toolchain.cmake")\nendif()\n'
    )
    script = '"LINKER:-T,${CMAKE_CURRENT_SOURCE_DIR}/board/memory.ld"'
    return words | {
        "TOOLCHAIN": toolchain,
        "CHUNK": "32",
        "BOARD_SOURCES": " board/start.cpp",
        "LINK_OPTIONS": f"-nostartfiles {target.link_flags}\n    {script} LINKER:--gc-sections,--print-memory-usage",
        "FLAGS": " ".join(target.flags),
        "TOOLS": target.tools,
        "PACKAGES": target.packages,
        "EMULATOR": target.emulator,
        "MACHINE": target.machine,
        "FLASH_ORIGIN": f"{target.flash.origin:#010x}",
        "FLASH_BYTES": str(target.flash.nbytes),
        "RAM_ORIGIN": f"{target.ram.origin:#010x}",
        "RAM_BYTES": str(target.ram.nbytes),
        "ENTRY": "board_entry" if target.name.startswith("riscv") else "board_start",
        "IN_EMULATOR": f", in {target.emulator.split()[0]}",
        "BOARD_ROW": "| `board/` | start, compiler and memory map: yours may differ |\n",
        "STACK": f", and a stack of {settings.stack_bytes}",
    }


def _accessor(plan: Plan, indices: Sequence[int], function: str) -> str:
    """How a program reaches its first input or output, in words."""
    if not indices:
        return "nothing: there is none"
    tensor = plan.tensors[indices[0]]
    return f"{function}(0): {tensor.nbytes} bytes, {described(tensor)}"


def _filled(template: str, words: dict[str, str]) -> str:
    text = (_TEMPLATES / f"{template}.in").read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


_VECTORS = """\
// Inputs of the test, and the outputs that they should give.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

// Of numbers with a fraction: |found - expected| is at most absolute + relative * |expected|.
constexpr double kAbsoluteTolerance = {absolute!r}, kRelativeTolerance = {relative!r};
// Of whole numbers of 8 bits, which quantized models round to. Other whole numbers are to be equal.
constexpr double kQuantizedTolerance = 1;

struct Expected {{
  const uint8_t* bytes;
  size_t nbytes;
  executorch::aten::ScalarType dtype;
}};

{arrays}
// One more than there are, for models without any.
const Expected kInputs[] = {{{inputs}}};
const Expected kExpected[] = {{{outputs}}};
"""


def _vectors(plan: Plan, vectors: Vectors) -> str:
    arrays: list[str] = []

    def listed(kind: str, indices: Sequence[int], contents: Sequence[bytes]) -> str:
        rows = []
        for i, (index, content) in enumerate(zip(indices, contents, strict=True)):
            tensor = plan.tensors[index]
            _check_size(f"{kind} {i}", tensor, content)
            lines = (content[at : at + 32] for at in range(0, len(content), 32))
            numbers = (
                "\n".join("    " + ",".join(map(str, line)) + "," for line in lines) or "    0"
            )
            arrays.append(f"alignas(16) const uint8_t {kind}_{i}[] = {{\n{numbers}\n}};\n")
            dtype = f"static_cast<executorch::aten::ScalarType>({tensor.number})"
            rows.append(f"{{{kind}_{i}, {len(content)}, {dtype}}}")
        none = "{nullptr, 0, executorch::aten::ScalarType::Byte}"
        return ", ".join([*rows, none])

    inputs = listed("input", plan.inputs, vectors.inputs)
    outputs = listed("output", plan.outputs, vectors.outputs)
    return _VECTORS.format(
        absolute=vectors.absolute,
        relative=vectors.relative,
        arrays="\n".join(arrays),
        inputs=inputs,
        outputs=outputs,
    )


def _check_size(what: str, tensor: Tensor, content: bytes) -> None:
    if len(content) != tensor.nbytes:
        raise CannotWrite(
            f"{what}: expected {tensor.nbytes} bytes ({tensor.dtype.lower()} {list(tensor.sizes)}), "
            f"found {len(content)}"
        )
