# SPDX-License-Identifier: BSD-3-Clause
"""Commands on devices that stand-ins are: the numbers of this machine, one sentence for what fails, nothing left."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.cli import main
from executorch.devtools.commands import bench
from executorch.devtools.costs import probes, rates
from executorch.devtools.costs.machine import KERNELS, Engine
from executorch.devtools.devices import systems
from executorch.devtools.devices.here import Here
from executorch.devtools.devices.job import DeviceError, Ran
from executorch.devtools.devices.remote import Remote
from executorch.devtools.devices.systems import SYSTEMS, built_for, runner_for, system_of
from executorch.devtools.devices.test.stand_ins import StandIns
from executorch.devtools.devices.wires.qemu import QemuUser
from executorch.devtools.devices.wires.wire import Finished, Wire
from executorch.exir import to_edge
from executorch.test.e2e.build_tree import binary

WIRES = ("ssh:board", "adb:ABC")
WIRED = pytest.mark.parametrize("wire", WIRES)


class Model(torch.nn.Module):
    """Outputs that cannot be taken for each other, one that lies in memory in another order, and a number."""

    def forward(self, x: torch.Tensor, count: int):
        image = (x * 2).to(memory_format=torch.channels_last)
        return image, x[0, 0, 0].to(torch.float64) + count, count


X = np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """model.pte, its record, and its input."""
    folder = tmp_path_factory.mktemp("model")
    exported = torch.export.export(Model(), (torch.from_numpy(X), 3))
    program = to_edge(exported, generate_etrecord=True).to_executorch()
    program.save(str(folder / "model.pte"))
    program.get_etrecord().save(folder / "model.etrecord")
    np.save(folder / "x.npy", X)
    return folder


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    made = StandIns.made(tmp_path)
    monkeypatch.setenv("PATH", str(made.programs), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return made


def given(wire: str, device: StandIns, runner: Path | None = None) -> list[str]:
    """Options; the runner is this machine's unless another is asked for."""
    return [
        "--device",
        f"{wire}:{device.folder}",
        "--runner",
        str(runner or binary("executor_runner")),
    ]


def refused(words: list[str], capsys: pytest.CaptureFixture[str], status: int = main.FAILED) -> str:
    """The one sentence on standard error."""
    assert main.main(words) == status
    message = capsys.readouterr()
    assert message.out == "" and message.err.count("\n") == 1, message
    return message.err


@WIRED
def test_a_run_gives_the_outputs_of_this_machine(
    wire: str, device: StandIns, files: Path, tmp_path: Path
) -> None:
    words = ["run", str(files / "model.pte"), "--inputs", str(files / "x.npy")]
    found = {}
    for name, more in (("here", []), ("there", given(wire, device))):
        path = tmp_path / f"{name}.npz"
        assert main.main([*words, *more, "--output", str(path)]) == main.DONE
        with np.load(path) as file:
            found[name] = [file[key] for key in file.files]
    image, row, count = found["there"]
    np.testing.assert_array_equal(image, X * 2)
    np.testing.assert_array_equal(row, np.array([3.0, 4, 5, 6]))
    assert row.dtype == np.float64 and count == 3
    for here, there in zip(found["here"], found["there"], strict=True):
        assert here.dtype == there.dtype and here.tobytes() == there.tobytes()
    assert device.left == []


@WIRED
def test_bench_measures_there_and_reads_the_events(
    wire: str, device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "bench",
        str(files / "model.pte"),
        "--rounds",
        "2",
        "--runs",
        "3",
        "--cold",
        "1",
        "--json",
    ]
    record = ["--etrecord", str(files / "model.etrecord")]
    assert main.main([*words, *record, *given(wire, device)]) == main.DONE
    report = json.loads(capsys.readouterr().out)
    (row,) = report["files"]
    assert 0 < row["min ms"] <= row["p50 ms"] < row["cold load and run ms"]
    assert 0 < row["cold load ms"] < row["cold load and run ms"] and row["peak bytes"] > 0
    kinds = {each["operator"]: each["count"] for each in report["kinds"]}
    assert kinds["mul.Scalar_out"] == 1 and "Execute" not in kinds
    assert any("devices_test.py" in each["line"] for each in report["times"])
    assert report["device"].startswith(wire) and device.left == []
    # A run after the first is left out, so that 3 are measured: 2 turns of these, and the warming.
    counts = [
        words.split()[0] for each in device.asked for words in each.split("--num_executions=")[1:]
    ]
    assert counts == ["1", "3", "4", "4", "5"]


def test_rounds_are_runs_of_their_own_without_the_first(device: StandIns, files: Path) -> None:
    """3 runs a turn: of 4 that the runner is asked for, the first is left out."""

    class Counting:
        name, title, is_here = "counting", "", False
        asked: list[int] = []

        def describe(self):
            return Here().describe()

        def run(self, job):
            self.asked.append(job.runs)
            return Ran([], 5, [100 + number for number in range(job.runs)])

    file = bench.ProgramFile(files / "model.pte")
    side = bench.Side(file, "forward", [], Path(), None)
    worker = bench.Distant(side, 0, Counting())
    assert worker.start["load_ns"] == 5 and worker.start["first_ns"] == 100
    assert worker.run(3)["ns"] == [101, 102, 103] and Counting.asked == [1, 4]


@WIRED
def test_check_asks_the_runner_there(
    wire: str, device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main.main(["check", str(files / "model.pte"), *given(wire, device), "--json"]) == main.DONE
    )
    rows = json.loads(capsys.readouterr().out)["requirements"]
    assert [row["found"] for row in rows if row["kind"] == "loading"] == ["ok"]
    assert sum("--load_only" in each for each in device.asked) == 1
    assert device.left == []


def test_check_says_what_the_runner_there_lacks(
    device: StandIns,
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = Remote._describe

    def without_mul(self: Remote):
        found = full(self)
        return replace(found, operators=found.operators - {"aten::mul.Scalar_out"})

    monkeypatch.setattr(Remote, "_describe", without_mul)
    words = ["check", str(files / "model.pte"), *given("ssh:board", device), "--json"]
    assert main.main(words) == main.FOUND
    rows = json.loads(capsys.readouterr().out)["requirements"]
    wrong = [row["needs"] for row in rows if row["found"] != "ok"]
    assert wrong == ["aten::mul.Scalar_out, called 1 time"]


@WIRED
def test_bisect_compares_values_of_the_device(
    wire: str, device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bisect", str(files / "model.etrecord"), str(files / "model.pte"), "--json"]
    torch.save((torch.from_numpy(X), 3), files / "inputs.pt")
    words += ["--inputs", str(files / "inputs.pt")]
    assert main.main([*words, *given(wire, device)]) == main.DONE
    report = json.loads(capsys.readouterr().out)
    assert report["operators"] and all(row["own error"] == 0 for row in report["operators"])
    assert device.left == []


def test_doctor_judges_by_the_rates_of_the_device(
    device: StandIns,
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Operators take a second there, by its rates."""
    engines = {"ssh:board": Engine(1e9, 1e9, 1.0), "local": Engine(1e9, 1e9, 1e-3)}
    monkeypatch.setattr(probes, "measured", lambda engine, there: engines[there.name])
    words = ["doctor", str(files / "model.pte"), "--etrecord", str(files / "model.etrecord")]
    assert main.main([*words, "--json", *given("ssh:board", device)]) == main.DONE
    report = json.loads(capsys.readouterr().out)
    expected = sum(row["ms"] for row in report["expected"])
    assert expected == pytest.approx(
        1e3 * sum(row["operators"] for row in report["expected"]), rel=1e-3
    )
    assert report["device"].startswith("ssh:board") and report["times"] and device.left == []


def test_rates_are_kept_by_device_and_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured once for each."""

    class There(Here):
        is_here = False

        def __init__(self, name: str, identity: str) -> None:
            self.name, self.identity = name, identity

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = []

    def measured(engine: str, there: Here) -> Engine:
        asked.append(there)
        return Engine(float(len(asked)), 1.0, 1.0)

    monkeypatch.setattr(probes, "measured", measured)
    devices = [Here(), There("ssh:a", "1"), There("ssh:b", "1"), There("ssh:a", "2")]
    for _ in range(2):
        near = [rates.machine((), each).engines[KERNELS].near for each in devices]
        assert near == [1.0, 2.0, 3.0, 4.0]
    assert asked == devices and len(list((tmp_path / "executorch").iterdir())) == 4


def test_rates_of_the_device_come_from_its_own_runs(device: StandIns, files: Path) -> None:
    """What `_run` of the probes gives its jobs to."""

    class Recorder:
        jobs: list = []

        def run(self, job):
            self.jobs.append(job)
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        probes._called(KERNELS, Recorder())
    assert len(Recorder.jobs) == 1


# ---- What fails: a sentence, and nothing that stays ----


@WIRED
def test_a_device_that_does_not_answer(
    wire: str, device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device.say("unreachable")
    message = refused(["run", str(files / "model.pte"), *given(wire, device)], capsys)
    assert f"{wire} does not answer" in message
    next_step = {"ssh:board": "`ssh board true` has to work", "adb:ABC": "see `adb devices`"}
    assert next_step[wire] in message


def test_another_serial_number(
    device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(["run", str(files / "model.pte"), *given("adb:XYZ", device)], capsys)
    assert "adb:XYZ does not answer: adb: device 'XYZ' not found; see `adb devices`" in message


@pytest.mark.parametrize("word", ["--describe", "cat > ", "--model_path", "out-0.bin"])
def test_a_wire_that_is_cut(
    word: str, device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the runner starts, while files are pushed, while the program runs, while outputs come back: the device
    removes its folder by itself."""
    device.say("cut", word)
    message = refused(["run", str(files / "model.pte"), *given("ssh:board", device)], capsys)
    assert "ssh:board: the connection broke while" in message and "No route to host" in message
    assert "is removed when it notices that the connection has ended" in message
    until = time.monotonic() + 10
    while device.left and time.monotonic() < until:
        time.sleep(0.02)
    assert device.left == []


def test_a_cable_that_is_pulled_out(
    device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """adb ends with 1, as the runner does."""
    device.say("cut", "--model_path")
    message = refused(["run", str(files / "model.pte"), *given("adb:ABC", device)], capsys)
    assert "adb:ABC: the connection broke while the program ran" in message


@WIRED
@pytest.mark.parametrize("what", ["full", "outputs"])
def test_no_room(
    what: str, wire: str, device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device.say(what)
    message = refused(["run", str(files / "model.pte"), *given(wire, device)], capsys)
    assert f"{wire}: no room while" in message and f"--device {wire}:/FOLDER" in message
    assert device.left == []


def test_a_runner_of_another_architecture(
    device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device.say("machine", "riscv64")
    message = refused(["run", str(files / "model.pte"), *given("ssh:board", device)], capsys)
    here = built_for(binary("executor_runner"))
    assert (
        here is not None
        and f"expected a program for riscv64, found a program for {here.name}" in message
    )
    assert "`cmake --preset linux-riscv64" in message and device.left == []


def test_a_runner_that_does_not_start(
    device: StandIns, files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "executor_runner"
    broken.write_bytes(binary("executor_runner").read_bytes()[:64])
    words = ["run", str(files / "model.pte"), *given("ssh:board", device, broken)]
    message = refused(words, capsys)
    assert "does not start on ssh:board" in message and "`cmake --preset" in message
    assert device.left == []


def test_a_folder_that_runs_no_programs(
    device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device.say("noexec")
    message = refused(["run", str(files / "model.pte"), *given("ssh:board", device)], capsys)
    assert f"programs may not run in {device.folder} there: name another folder" in message
    assert device.left == []


@pytest.mark.parametrize(
    "described, model, expected",
    [
        (["processor\t: 0", "model name\t: Xeon", "model name\t: Xeon"], "", "Xeon"),
        (["CPU part\t: 0xd05", "CPU part\t: 0xd0b", "CPU part\t: 0xd0b"], "", "cores 0xd05 0xd0b"),
        (["CPU part\t: 0xd08"], "Raspberry Pi 4", "Raspberry Pi 4, cores 0xd08"),
        ([], "", "riscv64"),
    ],
)
def test_processors_are_told_apart(described: list[str], model: str, expected: str) -> None:
    """An aarch64 kernel with a system of 32 bits below it runs programs of armv7."""

    class Answers(QemuUser):
        def run(self, script: str) -> Finished:
            head = ["aarch64", "32", model] if model else ["riscv64", "64", ""]
            return Finished(0, "\n".join([*head, *described]).encode(), "")

    machine = Wire.machine(Answers("aarch64", SYSTEMS[0]))
    assert machine.processor == expected
    system = system_of(machine.name)
    assert system is not None and system.name == ("armv7" if model else "riscv64")


def test_a_runner_of_another_release(
    device: StandIns, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "run",
        str(files / "model.pte"),
        *given("ssh:board", device, Path("/bin/true").resolve()),
    ]
    message = refused(words, capsys)
    assert "does not say what it is" in message and "`cmake --preset" in message
    assert device.left == []


def test_no_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "_places", lambda system, is_android: [tmp_path / "none"])
    arm = SYSTEMS[0]
    with pytest.raises(DeviceError, match="there is no executor_runner for aarch64 here") as raised:
        runner_for(arm, False, None)
    for words in ("cmake --preset linux-arm64", "cmake --build cmake-out-arm64", "--runner"):
        assert words in str(raised.value)
    with pytest.raises(DeviceError, match="--preset android-arm64-v8a .*BUILD_EXECUTOR_RUNNER=ON"):
        runner_for(arm, True, None)
    with pytest.raises(DeviceError, match="--runner .*absent: there is no such file"):
        runner_for(arm, False, tmp_path / "absent")


@WIRED
def test_a_program_that_fails_there(
    wire: str, device: StandIns, files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The runner's words, not the log's."""
    program = files / "model.pte"
    data = bytearray(program.read_bytes())
    at = data.index(b"aten::mul\0")
    data[at : at + 9] = b"aten::mux"
    (tmp_path / "wrong.pte").write_bytes(data)
    message = refused(["run", str(tmp_path / "wrong.pte"), *given(wire, device)], capsys)
    assert (
        f"{wire}: " in message
        and "aten::mux.Scalar_out" in message
        and "model_runner.cpp" not in message
    )
    assert str(tmp_path / "wrong.pte") in message  # and not what it is called there
    assert device.left == []


def test_a_runner_without_events(
    device: StandIns,
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = Remote._describe
    monkeypatch.setattr(Remote, "_describe", lambda self: replace(full(self), has_events=False))
    words = [str(files / "model.etrecord"), str(files / "model.pte"), *given("ssh:board", device)]
    torch.save((torch.from_numpy(X), 3), files / "inputs.pt")
    message = refused(["bisect", *words, "--inputs", str(files / "inputs.pt")], capsys)
    assert "records no events" in message and "-DEXECUTORCH_ENABLE_EVENT_TRACER=ON" in message
    assert device.left == []


def test_bench_without_events_leaves_operators_out(
    device: StandIns,
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = Remote._describe
    monkeypatch.setattr(Remote, "_describe", lambda self: replace(full(self), has_events=False))
    words = ["bench", str(files / "model.pte"), "--rounds", "1", "--cold", "1", "--json"]
    assert main.main([*words, *given("ssh:board", device)]) == main.DONE
    report = json.loads(capsys.readouterr().out)
    assert report["files"] and "times" not in report
    assert "Times of operators are left out: the runner records no events." in report["summary"]


@pytest.mark.parametrize(
    "target, program", [("armv7", "qemu-arm"), ("cortex-m55", "qemu-system-arm")]
)
def test_an_emulator_that_is_missing(
    target: str,
    program: str,
    files: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["run", str(files / "model.pte"), "--device", f"qemu:{target}"]
    message = refused(words, capsys)
    assert f"qemu:{target}: there is no {program} on PATH: install qemu-" in message


def test_firmware_that_is_missing_or_none(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    emulator = tmp_path / "qemu-system-arm"
    emulator.write_text("#!/bin/sh\n")
    emulator.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    words = ["run", str(files / "model.pte"), "--device", "qemu:cortex-m55", "--runner"]
    message = refused([*words, str(tmp_path / "absent")], capsys)
    assert "there is no such file; build it" in message and "--pte=semihosting" in message
    message = refused([*words, str(emulator)], capsys)
    assert "expected firmware for a Cortex-M" in message


@pytest.mark.parametrize(
    "wire, expected",
    [
        ("usb:1", "expected local, adb[:SERIAL], ssh:HOST or qemu:TARGET"),
        ("ssh", "expected ssh:HOST"),
        ("qemu:z80", "expected qemu: and one of aarch64, armv7, riscv64, cortex-m55"),
    ],
)
def test_no_such_wire(
    wire: str, expected: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(["run", str(files / "model.pte"), "--device", wire], capsys)
    assert f"--device {wire}" in message and expected in message


def test_a_wire_without_its_program(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    message = refused(["run", str(files / "model.pte"), "--device", "adb"], capsys)
    assert "there is no program 'adb' on PATH: install" in message
