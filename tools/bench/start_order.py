# SPDX-License-Identifier: BSD-3-Clause
"""Adds the functions that loading and first running programs calls to those that the linker puts first.

usage: python -m tools.bench.start_order FILE.pte ...

A process that is about to load them gets a breakpoint at every function of the runtime's library, which goes once
it is hit. Those that tools/cmake/StartOrder.cmake does not put there by their library count, but not those for Python,
which have been called before. Names that the library lacks go, so that the list does not grow for ever. For Linux on
x86-64.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tools/cmake/start_functions.txt"
LOAD_AND_RUN = """
import os, signal, sys
from tools.bench.resident import Path, Runtime, ones
runtime = Runtime.get()
os.kill(os.getpid(), signal.SIGSTOP)
for path in map(Path, sys.argv[1:]):
    program = runtime.load_program(path)
    for name in program.method_names:
        program.load_method(name).execute(ones(program.metadata(name)))
os._exit(0)  # and calls nothing more
"""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long
_CONT, _GETREGS, _SETREGS, _SEIZE = 7, 12, 13, 0x4206
_O_TRACECLONE = 8
_ALL_THREADS = 0x40000000  # __WALL
_RIP, _NUM_REGISTERS = 16, 27  # of struct user_regs_struct
_BREAKPOINT = b"\xcc"


def _ptrace(request: int, thread: int, address: object = None, data: object = None) -> None:
    if _libc.ptrace(request, thread, address, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace request {request} of thread {thread}")


def functions(library: Path) -> dict[int, str]:
    """Names by address, without what the compiler appends to those of its copies."""
    listing = subprocess.run(
        ["nm", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"^([0-9a-f]+) [tTwWi] ([^.\s]+)", listing, re.MULTILINE)
    return {int(address, 16): name for address, name in found}


def start_section(library: Path) -> range:
    """Where functions lie that were put first."""
    sections = subprocess.run(
        ["readelf", "-SW", library], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r" \.text\.start +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) ", sections)
    if found is None:
        raise RuntimeError(f"{library} was linked without tools/cmake/StartOrder.cmake")
    start, size = (int(part, 16) for part in found.groups())
    return range(start, start + size)


def _mapping(process: int) -> tuple[Path, int]:
    """The library of the runtime, and where it begins."""
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        if "/_portable_lib." in line:
            return Path(line.split(maxsplit=5)[5]), int(line.split("-")[0], 16)
    raise RuntimeError(f"process {process} has not loaded executorch's _portable_lib")


def _stops(process: int) -> Iterator[tuple[int, int]]:
    """Threads and the signals they stopped for, until the process ends."""
    while True:
        thread, status = os.waitpid(-1, _ALL_THREADS)
        if os.WIFSTOPPED(status):
            yield thread, os.WSTOPSIG(status)
        elif thread == process:
            if status != 0:
                raise RuntimeError(f"loading and running ended with status {status}")
            return


@dataclass(frozen=True)
class Called:
    """The functions of a library by address, and which of them were called."""

    library: Path
    functions: dict[int, str]
    addresses: set[int]

    def names(self) -> set[str]:
        return {self.functions[address] for address in self.addresses}

    def apart(self) -> set[str]:
        """Those that were not put first."""
        start = start_section(self.library)
        return {self.functions[address] for address in self.addresses if address not in start}


def called(programs: list[Path]) -> Called:
    # the tree's library: an installed one has no names of its functions
    tree = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", LOAD_AND_RUN, *map(str, programs)]
    process = subprocess.Popen(command, cwd=ROOT, env=tree)
    try:
        return _called_by(process)
    finally:
        process.kill()  # when something was wrong: it would wait for ever


def _called_by(process: subprocess.Popen[bytes]) -> Called:
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        raise RuntimeError(f"the process to watch ended with status {status}, see above")
    library, base = _mapping(process.pid)
    names = functions(library)
    for thread in map(int, os.listdir(f"/proc/{process.pid}/task")):
        _ptrace(_SEIZE, thread, None, _O_TRACECLONE)
    hit: set[int] = set()
    with open(f"/proc/{process.pid}/mem", "r+b", buffering=0) as memory:

        def swap(address: int, byte: bytes) -> bytes:
            old = os.pread(memory.fileno(), 1, base + address)
            os.pwrite(memory.fileno(), byte, base + address)
            return old

        kept = {address: swap(address, _BREAKPOINT) for address in names}
        os.kill(process.pid, signal.SIGCONT)
        registers = (ctypes.c_ulong * _NUM_REGISTERS)()
        for thread, stop in _stops(process.pid):
            forwarded = 0 if stop in (signal.SIGTRAP, signal.SIGSTOP, signal.SIGCONT) else stop
            if stop == signal.SIGTRAP:
                _ptrace(_GETREGS, thread, None, ctypes.byref(registers))
                address = registers[_RIP] - 1 - base
                if address in kept:
                    swap(address, kept[address])
                    hit.add(address)
                    registers[_RIP] -= 1
                    _ptrace(_SETREGS, thread, None, ctypes.byref(registers))
            _ptrace(_CONT, thread, None, forwarded)
    return Called(library, names, hit)


def update(listed: set[str], apart: set[str], known: set[str]) -> list[str]:
    added = {name for name in apart if not name.startswith("Py") and "pybind" not in name}
    return sorted((listed & known) | added)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="+", type=Path)
    found = called([each.resolve() for each in parser.parse_args().programs])
    known = set(found.functions.values())
    names = update(set(LIST.read_text().split()), found.apart(), known)
    LIST.write_text("\n".join(names) + "\n")
    print(f"{len(names)} functions in {LIST.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
