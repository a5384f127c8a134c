# SPDX-License-Identifier: BSD-3-Clause
"""Ways to a device: a row each."""

from __future__ import annotations

from collections.abc import Callable

from executorch.devtools.devices.firmware import BOARDS, Firmware
from executorch.devtools.devices.job import DeviceError
from executorch.devtools.devices.remote import Remote
from executorch.devtools.devices.systems import SYSTEMS, system_of
from executorch.devtools.devices.wires.adb import Adb
from executorch.devtools.devices.wires.qemu import QemuUser
from executorch.devtools.devices.wires.ssh import Ssh


def _adb(rest: str) -> Remote:
    return Remote(Adb(rest))


def _ssh(rest: str) -> Remote:
    if not rest:
        raise DeviceError("--device ssh: expected ssh:HOST, as `ssh HOST` takes it")
    return Remote(Ssh(rest))


def _qemu(rest: str) -> Remote | Firmware:
    if rest in BOARDS:
        return Firmware(rest)
    system = system_of(rest)
    if system is None or not system.emulator:
        names = [each.name for each in SYSTEMS if each.emulator]
        raise DeviceError(
            f"--device qemu:{rest}: expected qemu: and one of {', '.join([*names, *BOARDS])}"
        )
    return Remote(QemuUser(rest, system))


# What --device begins with, and what makes a device of the rest.
WIRES: dict[str, Callable[[str], Remote | Firmware]] = {"adb": _adb, "ssh": _ssh, "qemu": _qemu}
FORMS = "adb[:SERIAL], ssh:HOST or qemu:TARGET"
