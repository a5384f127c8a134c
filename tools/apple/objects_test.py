# SPDX-License-Identifier: BSD-3-Clause
"""Mach-O objects of the frameworks' plain C++: what they want, they or the system have."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import build_folder
from executorch.test.repository.sources import ROOT
from executorch.tools.apple import zig
from executorch.tools.apple.frameworks import FRAMEWORKS
from executorch.tools.apple.mach_o import Symbols, members, symbols


def an_object(names: dict[str, bool]) -> bytes:
    """Of Mach-O for arm64: names of external symbols, and whether they are defined."""
    strings, table = b"\0", b""
    for name, is_defined in names.items():
        table += struct.pack("<IBBHQ", len(strings), 0x0F if is_defined else 0x01, 1, 0, 0)
        strings += name.encode() + b"\0"
    private = struct.pack("<IBBHQ", 0, 0x0E, 1, 0, 0)
    start = 32 + 24
    header = struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, 1, 1, 24, 0, 0)
    count = len(names) + 1
    command = struct.pack("<6I", 2, 24, start, count, start + 16 * count, len(strings))
    return header + command + table + private + strings


def an_archive(*contents: bytes) -> bytes:
    """With a table of contents, a long name, and padding to even offsets."""
    made = b"!<arch>\n" + f"{'__.SYMDEF':<16}{'':<32}{4:<10}`\n".encode() + b"\0\0\0\0"
    for data in contents:
        name = b"an object with a long name.o"
        size = len(name) + len(data)
        made += f"#1/{len(name):<13}{'':<32}{size:<10}`\n".encode() + name + data
        made += b"\n" * (size % 2)
    return made


def test_symbols_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "libone.a"
    path.write_bytes(an_archive(an_object({"_a": True, "_b": False}), an_object({"_bc": True})))
    assert [symbols(data) for data in members(path)] == [
        Symbols(frozenset({"_a"}), frozenset({"_b"})),
        Symbols(frozenset({"_bc"}), frozenset()),
    ]
    path.write_bytes(b"\x7fELF")
    with pytest.raises(ValueError, match="is no archive"):
        list(members(path))
    with pytest.raises(ValueError, match="no Mach-O object for arm64"):
        symbols(b"\x7fELF" + bytes(60))


def test_what_a_framework_misses() -> None:
    """Its own, of those it needs, the system's and those of C++ are there; those of others are not."""
    objects: dict[str, list[Symbols]] = {row.name: [] for row in FRAMEWORKS}
    objects["threadpool"] = [Symbols(frozenset({"_pool"}), frozenset())]
    objects["executorch"] = [Symbols(frozenset({"_core"}), frozenset({"_pool"}))]
    wanted = frozenset({"_own", "_pool", "_core", "_malloc", "__ZNSt3__16threadD1Ev", "__Znwm"})
    objects["backend_xnnpack"] = [Symbols(frozenset({"_own"}), wanted)]
    assert zig.missing(objects, frozenset({"_malloc"})) == {}
    assert zig.missing(objects, frozenset()) == {"backend_xnnpack": {"_malloc"}}
    assert zig.missing(objects, frozenset({"_malloc"}), without="_pool") == {
        "executorch": {"_pool"},
        "backend_xnnpack": {"_pool"},
    }
    objects["kernels_llm"] = [Symbols(frozenset(), frozenset({"_own", "__ZN3hwy5AbortEv"}))]
    assert zig.missing(objects, frozenset({"_malloc"})) == {
        "kernels_llm": {"_own", "__ZN3hwy5AbortEv"}
    }


def source_cache() -> list[str]:
    """Where the build here has unpacked other projects' sources."""
    text = (build_folder() / "CMakeCache.txt").read_text()
    lines = [line for line in text.splitlines() if line.startswith("XNNPACK_SOURCE_DIR:")]
    sources = Path(lines[0].partition("=")[2]).parent if lines else Path("/nowhere")
    return [f"-DEXECUTORCH_SOURCE_CACHE={sources.parent}"] if sources.name == "src" else []


@pytest.mark.full
@pytest.mark.skipif(not (ROOT / "CMakeLists.txt").exists(), reason="needs the sources")
@pytest.mark.req("APL-031", "EXT-032")
def test_every_plain_library_compiles_for_macs_and_misses_nothing() -> None:
    folder = zig.kept(ROOT)
    out = zig.build(ROOT, folder, *source_cache())
    system = zig.system_symbols(zig.install(folder))
    objects = {row.name: zig.contents(row, out) for row in FRAMEWORKS}
    for name, contents in objects.items():
        libraries = zig.plain(next(row for row in FRAMEWORKS if row.name == name), out)
        wanted = {s for each in contents for s in each.undefined}
        counts = f"{len(libraries)} libraries, {len(contents)} objects"
        print(f"{name}: {counts}, {len(wanted & system)} symbols of libSystem")
    total = sum(map(len, objects.values()))
    print(f"{total} objects")
    assert total > 500 and not objects["backend_mps"]
    assert zig.missing(objects, system) == {}
    # The layers' targets are configured, whose Objective-C needs a Mac.
    for layer in ("extension_apple", "extension_llm_apple"):
        assert zig.sources(out)[layer] == {".m"}
    # A symbol that is not there is seen.
    kept = "_pthreadpool_parallelize_1d"
    assert "threadpool" not in zig.missing(objects, system, without=kept)
    assert "backend_xnnpack" in zig.missing(objects, system, without=kept)
    # What the package's targets refer to stands in the libraries that compile here.
    for row in FRAMEWORKS:
        defined = {s for each in objects[row.name] for s in each.defined}
        is_plain = row.is_product and not row.missing and row.name != "backend_coreml"
        assert not is_plain or f"_{row.symbol}" in defined, row.name
