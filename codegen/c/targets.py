# SPDX-License-Identifier: BSD-3-Clause
"""The processors that projects are written for: one row each, with an emulator's memory map."""

from __future__ import annotations

from dataclasses import dataclass, replace

_K, _M = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Memory:
    """Where flash or RAM begins, and its bytes."""

    origin: int
    nbytes: int


@dataclass(frozen=True)
class Target:
    """`flags` are those of its compiler, `tools` what the names of compiler and binutils begin with, `packages` where
    they are from. The `emulator`, with its options, and the `machine` that it has: with such a processor, or one that
    runs its code, and this memory. A target without a machine is this computer."""

    name: str
    what: str
    flags: tuple[str, ...] = ()
    link_flags: str = ""
    tools: str = ""
    packages: str = ""
    emulator: str = ""
    machine: str = ""
    flash: Memory = Memory(0, 0)
    ram: Memory = Memory(0, 0)

    @property
    def is_host(self) -> bool:
        return not self.machine

    def with_memory(self, flash: int | None, ram: int | None) -> Target:
        """The same with as much memory as a user's chip has, at the emulator's addresses."""
        for name, given, most in (
            ("--flash", flash, self.flash.nbytes),
            ("--ram", ram, self.ram.nbytes),
        ):
            if given is not None and (self.is_host or not 0 < given <= most):
                room = "no such limit" if self.is_host else f"1 to {most} bytes ({self.machine})"
                raise ValueError(f"{name}: expected {room} for {self.name}, found {given}")
        return replace(
            self,
            flash=Memory(self.flash.origin, flash or self.flash.nbytes),
            ram=Memory(self.ram.origin, ram or self.ram.nbytes),
        )


def _cortex_m(
    processor: str, floats: str, machine: str, flash: Memory, ram: Memory, note: str = ""
) -> Target:
    name = f"cortex-{processor.partition('+')[0]}"
    what = f"Arm Cortex-{name[7:].upper().replace('PLUS', '+')}{note}"
    flags = (f"-mcpu=cortex-{processor}", "-mthumb", f"-mfloat-abi={floats}")
    emulator = f"qemu-system-arm -M {machine}"
    link = "--specs=nano.specs"
    return Target(name, what, flags, link, "arm-none-eabi-", _ARM, emulator, machine, flash, ram)


_ARM = "Debian's gcc-arm-none-eabi and libstdc++-arm-none-eabi-newlib, or Arm's GNU toolchain"
# Of the mps2 boards with one core of the 6-M or 7-M architecture.
_MPS2 = (Memory(0x0000_0000, 4 * _M), Memory(0x2000_0000, 4 * _M))
_AN505 = (Memory(0x1000_0000, 4 * _M), Memory(0x3800_0000, 4 * _M))
_AN547 = (Memory(0x0000_0000, 512 * _K), Memory(0x2100_0000, 2 * _M))

TARGETS = {
    target.name: target
    for target in (
        _cortex_m("m0plus", "soft", "mps2-an385", *_MPS2, ", on an M3 that refuses what it lacks"),
        _cortex_m("m3", "soft", "mps2-an385", *_MPS2),
        _cortex_m("m4", "hard", "mps2-an386", *_MPS2),
        _cortex_m("m7+nofp.dp", "hard", "mps2-an500", *_MPS2),  # each M7 with floats has these
        _cortex_m("m33", "hard", "mps2-an505", *_AN505),
        _cortex_m("m55", "hard", "mps3-an547", *_AN547),
        Target(
            "riscv32",
            "RISC-V, RV32IMAC",
            ("-march=rv32imac", "-mabi=ilp32"),
            "",
            "riscv64-unknown-elf-",
            "a GNU toolchain for RISC-V that has newlib and libstdc++",
            "qemu-system-riscv32 -M virt -bios none",
            "virt",
            Memory(0x8000_0000, 4 * _M),
            Memory(0x8040_0000, 4 * _M),
        ),
        Target("host", "this computer, without an emulator"),
    )
}


def nbytes(text: str) -> int:
    """`512K`, `4M` or a number of bytes."""
    number, unit = (text[:-1], text[-1:].upper()) if text[-1:].upper() in ("K", "M") else (text, "")
    if not number.isdigit():
        raise ValueError(f"expected bytes such as 512K or 4M, found {text!r}")
    return int(number) * {"": 1, "K": _K, "M": _M}[unit]
