# SPDX-License-Identifier: BSD-3-Clause
"""A device behind a wire: executor_runner is pushed into a temporary folder there, which is gone at the end.

The folder belongs to a line of shell that waits for its standard input to end, and then removes it: so it is gone, too,
when this process is killed or the wire is cut.
"""

from __future__ import annotations

import functools
import hashlib
import json
import secrets
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from executorch.devtools.commands.inputs.declared import declared
from executorch.devtools.commands.program_file import ProgramFile, plan_of
from executorch.devtools.devices.arrays import as_value, file_of
from executorch.devtools.devices.job import DeviceError, Job, ProgramError, Ran, Records, Runner
from executorch.devtools.devices.systems import RUNNER, how_to_build, runner_for, system_of
from executorch.devtools.devices.wires.wire import Finished, Wire
from executorch.exir import schema

_KEEP = (
    "mkdir -m 700 {folder} && cd {folder} && d=$(pwd) || exit; trap 'cd /; rm -rf \"$d\"' EXIT; "
    "trap 'exit 1' HUP INT TERM; pwd; cat >/dev/null"
)
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "Cannot write")
_NOT_STARTED = (126, 127)
_SECONDS_TO_REMOVE = 20
_PIECE = 1 << 20


class Remote:
    """To be closed. `start` makes the folder and has the runner say what it is."""

    is_here = False

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.name = wire.name
        self.title = wire.name
        self._keeper: subprocess.Popen[bytes] | None = None
        self._folder = ""
        self._pushed: dict[tuple[bytes, str], str] = {}
        self._meant: dict[str, str] = {}  # the user's names of pushed files

    def use_folder(self, folder: str) -> None:
        """Where the temporary folder is made."""
        self._wire.folder = shlex.quote(folder)

    def start(self, runner: Path | None) -> None:
        machine = self._wire.machine()
        self.processor = machine.processor
        system = system_of(machine.name)
        if system is None:
            raise DeviceError(f"{self.name}: programs of {machine.name} are unknown here")
        self._system = system
        self.runner = runner_for(system, self._wire.is_android, runner)
        self.identity = _digest(self.runner).hex()[:12]
        self._folder = self._made_folder()
        self._push(self.runner, RUNNER)
        self._expect(self._run(f"chmod 755 {RUNNER}"), f"the mode of {RUNNER} was set")
        self._described = self._describe()
        self.title = f"{self.name} ({machine.processor})"

    def close(self) -> None:
        """The folder is removed; DeviceError when nobody knows whether it is."""
        if self._keeper is None:
            return
        keeper, self._keeper = self._keeper, None
        assert keeper.stdin is not None and keeper.stdout is not None
        keeper.stdin.close()
        keeper.stdout.close()
        try:
            code = keeper.wait(_SECONDS_TO_REMOVE)
        except subprocess.TimeoutExpired:
            keeper.kill()
            code = keeper.wait()
        if code == 0 or self._wire.run(f"rm -rf {shlex.quote(self._folder)}").code == 0:
            return
        raise DeviceError(
            f"{self.name}: {self._folder} there is removed when it notices that the connection has ended; look when it "
            "answers again"
        )

    def describe(self) -> Runner:
        return self._described

    def load(self, job: Job) -> None:
        self._execute(job, ["--load_only"])

    def run(self, job: Job) -> Ran:
        if job.records is not Records.NOTHING and not self._described.has_events:
            step = how_to_build(self._system, self._wire.is_android)
            raise DeviceError(f"{self.runner} records no events, which this needs; {step}")
        words = ["--report_path=/dev/stdout", f"--num_executions={job.runs}", *self._inputs(job)]
        words += ["--output_file=out"] if job.returns else []
        if job.records is not Records.NOTHING:
            words.append("--etdump_path=dump")
        if job.records is Records.VALUES:
            words += ["--debug_buffer_path=values", "--debug_level=intermediate"]
        report = self._report(self._execute(job, words))
        with tempfile.TemporaryDirectory() as folder:
            return Ran(
                self._outputs(job, report["outputs"], Path(folder)) if job.returns else [],
                report["load_ns"],
                report["run_ns"],
                max(0, report["resident_bytes"] - report["bytes_before"]),
                max(0, report["peak_bytes"] - report["bytes_before"]),
                self._pulled("dump", Path(folder)) if job.records is not Records.NOTHING else b"",
                self._pulled("values", Path(folder)) if job.records is Records.VALUES else b"",
            )

    def _made_folder(self) -> str:
        folder = f"{self._wire.folder}/executorch-{secrets.token_hex(8)}"
        command = self._wire.command(_KEEP.format(folder=folder))
        pipe = subprocess.PIPE
        self._keeper = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        assert self._keeper.stdout is not None and self._keeper.stderr is not None
        made = self._keeper.stdout.readline().decode().strip()
        if not made:
            code = self._keeper.wait()
            words = self._keeper.stderr.read().decode(errors="replace")
            self._keeper = None
            self._expect(
                Finished(code or 1, b"", words), f"a folder was made in {self._wire.folder}"
            )
        return made

    def _describe(self) -> Runner:
        done = self._run(f"{self._runner_words()} --describe; exit $?")
        self._expect_started(done)
        if self._wire.is_cut(done.code):
            self._expect(done, f"{RUNNER} started")
        try:
            found = json.loads(done.out)
            return Runner(
                found["version"],
                found["architecture"],
                found["system"],
                found["build"],
                found["events"],
                found["threads"],
                frozenset(found["operators"]),
                frozenset(found["backends"]),
            )
        except (ValueError, KeyError, TypeError) as problem:
            step = how_to_build(self._system, self._wire.is_android)
            raise DeviceError(
                f"{self.runner} does not say what it is, as {RUNNER} of this release does; {step}"
            ) from problem

    def _execute(self, job: Job, words: Sequence[str]) -> bytes:
        """Standard output of the runner."""
        program = self._once(job.program, ".pte")
        words = [f"--model_path={program}", f"--method_name={job.method}", *words]
        words += ["--print_output=none"]
        if job.data is not None:
            words.append(f"--data_path={self._once(job.data, '.ptd')}")
        if job.threads:
            words.append(f"--cpu_threads={job.threads}")
        done = self._run(f"{self._runner_words()} {shlex.join(words)}; exit $?")
        self._expect_started(done)
        if done.code == 0:
            return done.out
        if self._wire.is_cut(done.code) or any(each in done.err for each in _NO_ROOM):
            self._expect(done, "the program ran")
        if done.code > 128:
            why = f"it was ended by signal {done.code - 128}"
            raise ProgramError(
                f"{self.name}: {why}" + (", as when memory is short" if done.code == 137 else "")
            )
        logged = done.errors_in(done.err)
        for name, meant in self._meant.items():
            logged = logged.replace(name, meant)
        raise ProgramError(f"{self.name}: {logged}")

    def _inputs(self, job: Job) -> list[str]:
        texts, known = [], declared(_plan(job))
        for number, value in enumerate(job.inputs):
            if not hasattr(value, "shape"):
                texts.append(_text(value))
                continue
            texts.append(self._once(*file_of(value, known[number].dim_order)))
        return [f"--inputs={','.join(texts)}"] if texts else []

    def _outputs(self, job: Job, described: Sequence[Any], folder: Path) -> list[Any]:
        is_torch = any(type(each).__module__ == "torch" for each in job.inputs)
        found = []
        for number, each in enumerate(described):
            if "unknown" in each:
                raise ProgramError(
                    f"{self.name}: output {number} is a {each['unknown']}, which has no file"
                )
            data = self._pulled(f"out-{number}.bin", folder) if "sizes" in each else b""
            found.append(as_value(each, data, is_torch) if "sizes" in each else each["value"])
        return found

    def _report(self, out: bytes) -> dict[str, Any]:
        lines = [line for line in out.splitlines() if line.startswith(b"{")]
        if not lines:
            raise DeviceError(f"{self.name}: the runner ended without its report; run it again")
        return json.loads(lines[-1])

    def _once(self, content: Path | bytes, suffix: str) -> str:
        """The name there of what is pushed once for all jobs."""
        key = (_digest(content), suffix)
        if key not in self._pushed:
            name = f"file-{len(self._pushed)}{suffix}"
            if isinstance(content, Path):
                self._meant[name] = str(content)
                self._push(content, name)
            else:
                with tempfile.NamedTemporaryFile() as file:
                    file.write(content)
                    file.flush()
                    self._push(Path(file.name), name)
            self._pushed[key] = name
        return self._pushed[key]

    def _push(self, source: Path, name: str) -> None:
        size = source.stat().st_size
        done = self._wire.push(source, f"{self._folder}/{name}")
        self._expect(done, f"{self._meant.get(name, name)} ({size:,} bytes) was pushed")

    def _pulled(self, name: str, folder: Path) -> bytes:
        done = self._wire.pull(f"{self._folder}/{name}", folder / name)
        self._expect(done, f"{name} was brought back")
        return (folder / name).read_bytes()

    def _runner_words(self) -> str:
        return shlex.join([*self._wire.prefix, f"./{RUNNER}"])

    def _run(self, script: str) -> Finished:
        return self._wire.run(f"cd {shlex.quote(self._folder)} && {script}")

    def _expect(self, done: Finished, what: str) -> None:
        if done.code == 0:
            return
        if self._wire.is_cut(done.code):
            raise DeviceError(
                f"{self.name}: the connection broke while {what}: {done.last_words}; {self._wire.advice}"
            )
        if any(each in done.err for each in _NO_ROOM):
            where = f" in {Path(self._folder).parent}" if self._folder else ""
            raise DeviceError(
                f"{self.name}: no room while {what}: {done.last_words}; free some{where}, or name another folder: "
                f"--device {self.name}:/FOLDER"
            )
        raise DeviceError(f"{self.name}: it failed while {what}: {done.last_words}")

    def _expect_started(self, done: Finished) -> None:
        if done.code in _NOT_STARTED and "Permission denied" in done.err:
            raise DeviceError(
                f"{self.name}: programs may not run in {Path(self._folder).parent} there: name another folder: "
                f"--device {self.name}:/FOLDER"
            )
        if done.code in _NOT_STARTED:
            step = how_to_build(self._system, self._wire.is_android)
            raise DeviceError(
                f"{self.runner} does not start on {self.name}: {done.last_words}; link it for that system, or {step}"
            )


def _plan(job: Job) -> schema.ExecutionPlan:
    if isinstance(job.program, Path):
        return plan_of(job.program, job.method)
    return ProgramFile(Path("program"), job.program).plan(job.method)


def _digest(content: Path | bytes) -> bytes:
    if isinstance(content, bytes):
        return hashlib.sha256(content).digest()
    status = content.stat()
    return _digest_of_file(content, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=64)
def _digest_of_file(path: Path, _changed_ns: int, _size: int) -> bytes:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.digest()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else "none"
