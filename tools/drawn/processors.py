# SPDX-License-Identifier: BSD-3-Clause
"""Emulated Arm machines: what qemu-user runs programs on, and a root whose /proc and /sys tell them of its cores.

usage: python -m executorch.tools.drawn.processors FOLDER        makes the roots; prints the --emulator of each

Without a root programs see the cores of this computer: none that a library for Arm knows.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

CORTEX_A55, CORTEX_A76 = "0xd05", "0xd0b"
_KHZ = {CORTEX_A55: 1800000, CORTEX_A76: 2400000}
_FEATURES = "fp asimd aes pmull sha1 sha2 crc32 atomics fphp asimdhp asimdrdm asimddp"


@dataclass(frozen=True)
class Processor:
    """What QEMU calls it, and the part numbers of its cores; none: programs are told of no core that they know."""

    name: str
    cpu: str
    cores: tuple[str, ...] = ()

    def emulator(self, system: str, libraries: Path, roots: Path) -> list[str]:
        """The command that runs programs of `system` (aarch64, arm). `libraries` is where their C library is; the root
        is made in the folder `roots`."""
        root = libraries
        if self.cores:
            root = roots / f"{system}-{self.name}"
            make_root(root, libraries, self.cores)
        return [f"qemu-{system}-static", "-L", str(root), "-cpu", self.cpu]


EQUAL = Processor("equal-cores", "cortex-a76", (CORTEX_A76,) * 8)
MIXED = Processor("big-and-little-cores", "cortex-a76", (CORTEX_A55,) * 4 + (CORTEX_A76,) * 4)


def make_root(root: Path, libraries: Path, cores: tuple[str, ...]) -> None:
    """A folder for qemu's -L; cores of a kind lie side by side and are a cluster."""
    cpus = root / "sys/devices/system/cpu"
    for each in (root / "proc", cpus):
        each.mkdir(parents=True, exist_ok=True)
    if not (root / "lib").exists():
        (root / "lib").symlink_to(libraries / "lib")
    for name in ("possible", "present", "online"):
        (cpus / name).write_text(f"0-{len(cores) - 1}\n")
    (cpus / "kernel_max").write_text(f"{max(31, len(cores) - 1)}\n")
    for number, part in enumerate(cores):
        first, last = cores.index(part), cores.index(part) + cores.count(part) - 1
        _write_core(cpus / f"cpu{number}", number, _KHZ[part], f"{first}-{last}")
    (root / "proc/cpuinfo").write_text("".join(map(_described, range(len(cores)), cores)))


def _write_core(folder: Path, number: int, khz: int, cluster: str) -> None:
    texts = {
        "cpufreq/cpuinfo_max_freq": khz,
        "cpufreq/cpuinfo_min_freq": 300000,
        "topology/physical_package_id": 0,
        "topology/cluster_cpus_list": cluster,
        "topology/core_siblings_list": cluster,
        "topology/core_id": number,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")


def _described(number: int, part: str) -> str:
    return (
        f"processor\t: {number}\nFeatures\t: {_FEATURES}\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
        f"CPU variant\t: 0x1\nCPU part\t: {part}\nCPU revision\t: 0\n\n"
    )


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__.strip())
        return 0 if argv in (["--help"], ["-h"]) else 2
    for each in (EQUAL, MIXED):
        words = each.emulator("aarch64", Path("/usr/aarch64-linux-gnu"), Path(argv[0]).resolve())
        print(f"--emulator '{' '.join(words)}'")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
