# SPDX-License-Identifier: BSD-3-Clause
"""qemu:TARGET - a Linux program of another processor on this machine, by QEMU's user mode."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from executorch.devtools.costs.machine import processor
from executorch.devtools.devices.job import DeviceError
from executorch.devtools.devices.systems import System
from executorch.devtools.devices.wires.wire import Machine, Wire


class QemuUser(Wire):
    """Runs in a folder of this machine: nothing is between them that could be cut."""

    def __init__(self, target: str, system: System) -> None:
        self.name = f"qemu:{target}"
        self._system = system
        self.advice = f"install qemu-user-static and {system.package}"

    def command(self, script: str) -> list[str]:
        return ["sh", "-c", script]

    def is_cut(self, code: int) -> bool:
        return code < 0  # the shell was killed

    def machine(self) -> Machine:
        name = self._system.emulator
        emulator = shutil.which(f"{name}-static") or shutil.which(name)
        if emulator is None:
            raise DeviceError(f"{self.name}: there is no {name} on PATH: {self.advice}")
        self.prefix = [emulator]
        if "QEMU_LD_PREFIX" not in os.environ:
            if not Path(self._system.root).is_dir():
                raise DeviceError(
                    f"{self.name}: there is no C library of it in {self._system.root}: {self.advice}, or set "
                    "QEMU_LD_PREFIX"
                )
            self.prefix = [emulator, "-L", self._system.root]
        return Machine(self._system.name, f"QEMU's {self._system.name} on {processor()}")
