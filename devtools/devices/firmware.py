# SPDX-License-Identifier: BSD-3-Clause
"""qemu:cortex-m55 - a microcontroller that QEMU emulates. Its firmware is arm_executor_runner with semihosting: the
program, its inputs and its outputs are files of this machine, and it measures nothing."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from executorch.devtools.commands.inputs.declared import declared, declared_outputs
from executorch.devtools.commands.program_file import plan_of
from executorch.devtools.costs.machine import processor
from executorch.devtools.devices.arrays import as_value, bytes_of
from executorch.devtools.devices.job import DeviceError, Job, ProgramError, Ran, Records, Runner
from executorch.devtools.devices.wires.wire import Finished, run_here

BOARDS = {"cortex-m55": "mps3-an547"}  # and QEMU's name of a board with it
FIRMWARE = "arm_executor_runner"
_ARM_ELF = 40
_BUILD = (
    "build it in the source tree: `backends/arm/scripts/build_executor_runner.sh --pte=semihosting --target=cortex-m55 "
    "--output=build/cortex-m55 --select_ops_list=OPERATORS`, joined by commas as `executorch check` lists the program's"
)


class Firmware:
    is_here = False

    def __init__(self, board: str) -> None:
        self.name = f"qemu:{board}"
        self.title = self.name
        self.processor = f"QEMU's {board} on {processor()}"
        self.identity = ""
        self._board = BOARDS[board]

    def use_folder(self, folder: str) -> None:
        raise DeviceError(
            f"--device {self.name}: expected no folder, it has the files of this machine"
        )

    def start(self, runner: Path | None) -> None:
        emulator = shutil.which("qemu-system-arm")
        if emulator is None:
            raise DeviceError(
                f"{self.name}: there is no qemu-system-arm on PATH: install qemu-system-arm"
            )
        places = [Path.cwd(), Path(__file__).resolve().parents[2]]
        built = [place / "build" / "cortex-m55" / FIRMWARE for place in places]
        found = next((each for each in [runner, *built] if each and each.is_file()), None)
        if found is None or (runner is not None and found != runner):
            what = (
                f"--runner {runner}: there is no such file"
                if runner
                else f"there is no {FIRMWARE} here"
            )
            raise DeviceError(f"{what}; {_BUILD}, or name one with --runner")
        head = found.read_bytes()[:20]
        if head[:4] != b"\x7fELF" or int.from_bytes(head[18:20], "little") != _ARM_ELF:
            raise DeviceError(f"{found}: expected firmware for a Cortex-M; {_BUILD}")
        self._emulator, self.runner = emulator, found.resolve()
        self._folder = tempfile.TemporaryDirectory(prefix="executorch-")

    def close(self) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()

    def describe(self) -> Runner:
        return Runner("", "Cortex-M", "none", "firmware", False, 1, None, None)

    def load(self, job: Job) -> None:
        raise DeviceError(
            f"{self.name}: its firmware loads nothing without running it: use `executorch run`"
        )

    def run(self, job: Job) -> Ran:
        if (
            job.records is not Records.NOTHING
            or job.data is not None
            or isinstance(job.program, bytes)
        ):
            raise DeviceError(
                f"{self.name}: its firmware runs a program file and gives outputs, neither times nor values of "
                "operators; qemu:armv7 and boards behind ssh do"
            )
        folder, plan = Path(self._folder.name), plan_of(job.program, job.method)
        shutil.copyfile(job.program, folder / "m.pte")
        words = ["-m", "m.pte"]
        for each, value in zip(declared(plan), job.inputs, strict=True):
            if each.dtype is None or tuple(value.shape) != each.largest:
                raise DeviceError(
                    f"{self.name}: {each.title}: expected a tensor at its largest sizes, {each.largest}"
                )
            (folder / f"i{each.number}").write_bytes(bytes_of(value, each.dim_order))
            words += ["-i", f"i{each.number}"]
        done = self._emulated([*words, "-o", "o"], folder)
        if done.code != 0:
            log = done.out.decode(errors="replace") + done.err
            raise ProgramError(f"{self.name}: {done.errors_in(log)}")
        outputs = []
        for each in declared_outputs(plan):
            if each.dtype is None:
                outputs.append(each.value)
                continue
            described = {
                "dtype": int(each.dtype),
                "sizes": each.largest,
                "dim_order": each.dim_order,
            }
            data = (folder / f"o-{each.number}.bin").read_bytes()
            outputs.append(as_value(described, data, False))
        return Ran(outputs)

    def _emulated(self, words: list[str], folder: Path) -> Finished:
        arguments = "".join(f",arg={each}" for each in (FIRMWARE, *words))
        script = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(folder)]
        command = [self._emulator, "-M", self._board, "-nographic", "-kernel", str(self.runner)]
        command += ["-semihosting-config", f"enable=on,target=native{arguments}"]
        return run_here([*script, *command])
