# SPDX-License-Identifier: BSD-3-Clause
"""The header of the C interface: strict compilers, the library's one symbol, older versions, declarations of other
languages."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from executorch.extension.c.bindings.declarations import WRITERS, text_of
from executorch.extension.c.bindings.header import Header, read
from executorch.test.e2e.build_tree import binary, build_folder, loadable
from executorch.test.repository.sources import ROOT

HERE = ROOT / "extension" / "c"
ADD = ROOT / "extension" / "module" / "test" / "resources" / "add.pte"
STRICT = ("-Wall", "-Wextra", "-pedantic", "-Werror")


def command(*words: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("language, standard", [("c", "c11"), ("c", "c17"), ("c++", "c++17")])
def test_the_header_compiles_alone(language: str, standard: str, tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    source.write_text("#include <executorch/c/executorch.h>\nint main(void) { return 0; }\n")
    include = build_folder() / "generated"
    command(
        "gcc", "-x", language, f"-std={standard}", *STRICT, "-fsyntax-only", "-I", include, source
    )


def test_the_library_shows_one_symbol() -> None:
    symbols = command("nm", "-D", "--defined-only", loadable("executorch_c")).splitlines()
    assert [line.split()[-1] for line in symbols] == ["executorch_get_api"]
    print("libexecutorch_c:", loadable("executorch_c").stat().st_size // 1024, "KiB")


@pytest.mark.parametrize("place", WRITERS)
def test_declarations_are_current(place: str) -> None:
    written = (HERE / place).read_text()
    fresh = text_of(WRITERS[place], HERE / "executorch.h")
    assert written == fresh, "run python -m executorch.extension.c.bindings.declarations"


FROZEN = sorted((HERE / "test" / "frozen").glob("executorch_v*.h"))


@pytest.fixture(scope="module")
def today() -> Header:
    return read(HERE / "executorch.h")


@pytest.mark.parametrize("frozen", FROZEN, ids=lambda path: path.stem)
def test_a_version_only_adds(frozen: Path, today: Header) -> None:
    """Members and functions where they were; others only behind those, and in structures that say their size."""
    before = read(frozen)
    now = {struct.name: struct.members for struct in today.structs}
    for struct in before.structs:
        members = now[struct.name]
        assert members[: len(struct.members)] == struct.members, struct.name
        grows = struct is before.table or struct.members[0].name == "struct_size"
        assert grows or members == struct.members, struct.name
    assert set(before.constants) <= set(today.constants)
    assert set(before.handles) <= set(today.handles) and before.callbacks == today.callbacks
    assert [each.stem for each in FROZEN] == [f"executorch_v{n + 1}" for n in range(len(FROZEN))]
    assert today.version in (len(FROZEN), len(FROZEN) + 1)


def test_a_program_of_an_older_version_runs(tmp_path: Path) -> None:
    program = tmp_path / "program"
    library = binary("libexecutorch_c.so").parent
    command(
        "gcc", "-std=c11", *STRICT, HERE / "test" / "frozen" / "program_v1.c", "-o", program,
        "-L", library, "-lexecutorch_c", f"-Wl,-rpath,{library}",
    )  # fmt: skip
    assert command(program, ADD) == f"version 1 of {read(HERE / 'executorch.h').version}: 3.75\n"
