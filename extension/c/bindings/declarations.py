# SPDX-License-Identifier: BSD-3-Clause
"""Raw declarations of the C interface for other languages, from the header:

    python -m executorch.extension.c.bindings.declarations

writes the files of WRITERS anew. A language is a table of types, a writer and a row."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from executorch.extension.c.bindings.header import HEADER, Function, Header, read

FOLDER = Path(__file__).resolve().parents[1]
NOTE = "Written from executorch.h by python -m executorch.extension.c.bindings.declarations."


def _pointee(kind: str) -> tuple[str, bool]:
    """What a pointer points to, and whether that is const."""
    inner = kind.removesuffix("*")
    if inner.endswith(" const"):
        return inner.removesuffix(" const"), True
    if inner.startswith("const ") and "*" not in inner:
        return inner.removeprefix("const "), True
    return inner, False


# ---- Python: ctypes

_INTEGERS = "uint8 int32 uint32 int64 uint64".split()
_CTYPES = {
    "void": "None",
    "double": "ctypes.c_double",
    "size_t": "ctypes.c_size_t",
    "char": "ctypes.c_char",
    "void*": "ctypes.c_void_p",
    "const void*": "ctypes.c_void_p",
    "const char*": "ctypes.c_char_p",
    **{f"{name}_t": f"ctypes.c_{name}" for name in _INTEGERS},
}


def _ctypes(kind: str | Function, is_callback: bool = False) -> str:
    if isinstance(kind, Function):
        # Text that is not ended by NUL comes to callbacks, too: as addresses.
        parameters = [
            "ctypes.c_void_p" if each.type == "const char*" and is_callback else _ctypes(each.type)
            for each in kind.parameters
        ]
        return f"ctypes.CFUNCTYPE({', '.join([_ctypes(kind.result), *parameters])})"
    if kind not in _CTYPES and kind.endswith("*"):
        return f"ctypes.POINTER({_ctypes(_pointee(kind)[0])})"
    return _CTYPES.get(kind, kind)


def write_python(header: Header) -> Iterator[str]:
    yield "# SPDX-License-Identifier: BSD-3-Clause"
    yield f'"""{NOTE}"""'
    yield "# ruff: noqa"
    yield "# fmt: off"
    yield ""
    yield "import ctypes"
    yield ""
    yield f"API_VERSION = {header.version}"
    for name, value in header.constants:
        yield f"{name.removeprefix('EXECUTORCH_')} = {value}"
    yield ""
    for name in header.handles:
        yield f"{name} = ctypes.c_uint64"
    for name, function in header.callbacks:
        yield f"{name} = {_ctypes(function, is_callback=True)}"
    for struct in header.structs:
        yield from ["", "", f"class {struct.name}(ctypes.Structure):", "    _fields_ = ["]
        for member in struct.members:
            is_callback = struct is not header.table
            yield f'        ("{member.name}", {_ctypes(member.type, is_callback)}),'
        yield "    ]"


# ---- Rust

_RUST = {
    "void": "()",
    "double": "f64",
    "size_t": "usize",
    "char": "c_char",
    **{f"{name}_t": name.replace("uint", "u").replace("int", "i") for name in _INTEGERS},
}


def _rust(kind: str | Function, is_optional: bool = True) -> str:
    if isinstance(kind, Function):
        parameters = ", ".join(f"{each.name}: {_rust(each.type)}" for each in kind.parameters)
        result = "" if kind.result == "void" else f" -> {_rust(kind.result)}"
        text = f'unsafe extern "C" fn({parameters}){result}'
        return f"Option<{text}>" if is_optional else text
    if kind.endswith("*"):
        inner, is_const = _pointee(kind)
        return f"*{'const' if is_const else 'mut'} {'c_void' if inner == 'void' else _rust(inner)}"
    return _RUST.get(kind, kind)


def write_rust(header: Header) -> Iterator[str]:
    yield "// SPDX-License-Identifier: BSD-3-Clause"
    yield f"//! {NOTE}"
    yield "#![allow(dead_code)]"
    yield ""
    yield "use std::os::raw::{c_char, c_void};"
    yield ""
    yield f"pub const API_VERSION: u32 = {header.version};"
    for name, value in header.constants:
        yield f"pub const {name.removeprefix('EXECUTORCH_')}: i32 = {value};"
    yield ""
    for name in header.handles:
        yield f"pub type {name} = u64;"
    for name, function in header.callbacks:
        yield f"pub type {name} = {_rust(function)};"
    for struct in header.structs:
        derived = [] if struct is header.table else ["#[derive(Clone, Copy)]"]
        yield from ["", "#[repr(C)]", *derived, f"pub struct {struct.name} {{"]
        for member in struct.members:
            yield f"    pub {member.name}: {_rust(member.type, struct is not header.table)},"
        yield "}"
    yield ""
    yield '#[link(name = "executorch_c")]'
    yield 'extern "C" {'
    yield "    pub fn executorch_get_api(version: u32) -> *const ExecuTorchApi;"
    yield "}"


# ---- Go: cgo reads the header, but calls no pointers to functions


def write_go(header: Header) -> Iterator[str]:
    yield "/* SPDX-License-Identifier: BSD-3-Clause"
    yield f"   {NOTE}"
    yield "   Functions of the table as functions, which cgo can call. */"
    yield "#pragma once"
    yield "/* clang-format off */"
    yield ""
    yield "#include <executorch/c/executorch.h>"
    for member in header.table.members:
        if not isinstance(member.type, Function):
            continue
        parameters = [f"{each.type} {each.name}" for each in member.type.parameters]
        names = ", ".join(each.name for each in member.type.parameters)
        yield ""
        everything = ", ".join(["const ExecuTorchApi* api", *parameters])
        yield f"static inline {member.type.result} et_{member.name}({everything}) {{"
        yield f"  return api->{member.name}({names});"
        yield "}"


# ---- JavaScript: places in the memory of a WebAssembly program, whose pointers are of 32 bits

_WASM = {
    "double": "f64",
    **{f"{name}_t": name.replace("uint", "u").replace("int", "i") for name in _INTEGERS},
}


def _wasm(kind: str | Function, layouts: dict[str, tuple[int, int]]) -> tuple[str, int, int]:
    """The word for a member's type, its size and its alignment in bytes."""
    if isinstance(kind, Function) or kind.endswith("*") or kind == "size_t":
        return "u32", 4, 4
    if kind in layouts:
        return kind, *layouts[kind]
    word = _WASM.get(kind, "u64")  # others are handles
    size = int(word[1:]) // 8
    return word, size, size


def write_javascript(header: Header) -> Iterator[str]:
    yield "// SPDX-License-Identifier: BSD-3-Clause"
    yield f"// {NOTE}"
    yield "// Members are [name, offset, type]."
    yield ""
    yield f"export const API_VERSION = {header.version};"
    yield "export const CONSTANTS = {"
    for name, value in header.constants:
        yield f"  {name.removeprefix('EXECUTORCH_')}: {value},"
    yield "};"
    yield "export const STRUCTS = {"
    layouts: dict[str, tuple[int, int]] = {}
    for struct in header.structs:
        end, widest, rows = 0, 1, []
        for member in struct.members:
            word, size, alignment = _wasm(member.type, layouts)
            offset = -(-end // alignment) * alignment
            rows.append(f'      ["{member.name}", {offset}, "{word}"],')
            end, widest = offset + size, max(widest, alignment)
        layouts[struct.name] = (-(-end // widest) * widest, widest)
        yield f"  {struct.name}: {{ size: {layouts[struct.name][0]}, members: ["
        yield from rows
        yield "  ] },"
    yield "};"


WRITERS: dict[str, Callable[[Header], Iterator[str]]] = {
    "python/raw.py": write_python,
    "rust/src/raw.rs": write_rust,
    "go/calls.h": write_go,
    "../wasm/src/raw.mjs": write_javascript,
}


def text_of(writer: Callable[[Header], Iterator[str]], header: Path = HEADER) -> str:
    return "\n".join(writer(read(header))) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Writes the raw declarations of the C interface for other languages anew.",
        epilog="Example: python -m executorch.extension.c.bindings.declarations",
    )
    parser.parse_args(argv)
    for place, writer in WRITERS.items():
        (FOLDER / place).write_text(text_of(writer))


if __name__ == "__main__":
    main()
