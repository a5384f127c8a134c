# SPDX-License-Identifier: BSD-3-Clause
"""Runs everything there is and writes a dated table to docs/results.

usage: python -m executorch.tools.results.full_run [--only STEP] [--build cmake-out]

A step is a few commands; its row says whether it passed, how long it took, the commit it ran on and its last line.
Steps that need a build of another preset make it first. With --only, the rows of the other steps stay as today's table
has them.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
# As many test processes as processors, each with whole files: the tests of a file share what they have built.
PROCESSES = ["-n", str(os.cpu_count()), "--dist", "loadfile"]
# Sixty seconds of drawn calls with wrong arguments for each library.
FUZZ = [
    [PYTHON, "-m", "kernels.test.kernel_fuzz", "--seconds", "60", "--library", library]
    for library in ("portable", "optimized", "quantized")
]
MUTANTS = [PYTHON, "-m", "executorch.test.hardening.mutants", "--count", "2500"]
REQUIREMENTS = [PYTHON, "-m", "executorch.tools.requirements.report", "--check"]
REQUIREMENTS += ["--write", "docs/results/requirements.md"]
SANITIZER_SETTINGS = {
    "ASAN_OPTIONS": "abort_on_error=1:allocator_may_return_null=1:max_allocation_size_mb=4096:detect_leaks=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:allocator_may_return_null=1:max_allocation_size_mb=4096",
}


@dataclass(frozen=True)
class Step:
    """Commands that run one after the other until one fails."""

    name: str
    commands: list[list[str]]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: bool
    seconds: float
    commit: str
    last_line: str

    def row(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        text = self.last_line.replace("|", "\\|")
        return f"| {self.name} | {verdict} | {self.seconds:.0f} | {self.commit} | {text} |"


def built(preset: str, folder: Path) -> list[list[str]]:
    return [
        ["cmake", "--preset", preset, "-B", str(folder)],
        ["cmake", "--build", str(folder)],
    ]


def ctest(folder: Path) -> list[list[str]]:
    """Without the results of an earlier run: a program that crashes writes none."""
    return [
        ["cmake", "-E", "rm", "-rf", str(folder / "results")],
        ["ctest", "--test-dir", str(folder), "--output-on-failure", "-j", str(os.cpu_count())],
    ]


def aten_mode(folder: Path) -> list[list[str]]:
    """Its C++ tests and networks; what else the preset builds is not compiled again."""
    return [
        ["cmake", "--preset", "linux", "-B", str(folder), "-DEXECUTORCH_BUILD_ATEN_MODE=ON"],
        ["cmake", "--build", str(folder), "--target", "aten_mode"],
        ["ctest", "--test-dir", str(folder), "--output-on-failure", "-L", "aten"],
        pytest("-m", "full or not full", "test/install/aten_mode_test.py"),
    ]


def preloaded() -> dict[str, str]:
    """Python itself is not instrumented: AddressSanitizer must be there before it, and find C++'s exceptions."""
    found = [
        subprocess.run(
            ["g++", f"-print-file-name={library}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for library in ("libasan.so", "libstdc++.so.6")
    ]
    return {**SANITIZER_SETTINGS, "LD_PRELOAD": " ".join(found)}


def pytest(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "pytest", "-q", *arguments]


def installed(marker: str) -> list[str]:
    return [PYTHON, "scripts/installed.py", "-q", *PROCESSES, "-m", marker]


def sanitizer_steps(name: str) -> list[Step]:
    """Building places the sanitizer's Python modules in the tree; the mutants run on those."""
    folder = ROOT / f"cmake-out-{name}"
    commands = [*built(name, folder), *ctest(folder)]
    found = [Step(f"C++ tests, {name}", commands, SANITIZER_SETTINGS)]
    if name == "asan":
        settings = preloaded()
        found.append(
            Step(f"kernels beside eager, {name}", [pytest(*PROCESSES, "kernels")], settings)
        )
        found.append(Step(f"drawn calls, {name}", FUZZ, settings))
        found.append(Step(f"2,500 mutants of each program, {name}", [MUTANTS], settings))
        side = pytest("test/hardening/side_formats_test.py")
        many = {**settings, "EXECUTORCH_MUTANTS": "1000"}  # ten times as many of each kind
        found.append(Step(f"10,000 mutants of events, records and bundles, {name}", [side], many))
        weights = pytest("test/hardening/language_models_test.py", "-k", "weights")
        found.append(Step(f"corrupted weights of language models, {name}", [weights], settings))
        files = pytest("-m", "full", "extension/llm/tokenizers/test/mutants_test.py")
        found.append(Step(f"10,000 corrupted files of each tokenizer, {name}", [files], settings))
    return found


def steps(build: Path) -> list[Step]:
    return [
        Step("C++ tests", [*built("linux", build), *ctest(build)]),
        Step("Python tests", [*built("linux", build), installed("full or not full")]),
        Step("drawn calls", FUZZ),
        Step("2,500 mutants of each program", [MUTANTS]),
        *(step for name in ("asan", "tsan") for step in sanitizer_steps(name)),
        Step("the default build again", built("linux", build)),  # its Python modules in the tree
        Step("ATen mode", aten_mode(ROOT / "cmake-out-aten")),
        Step("size of the core", [["make", "size"]]),
        Step(
            "operators beside eager",
            [[PYTHON, "-m", "tools.bench.ops", "--write", "docs/results/operators.md"]],
        ),
        Step("networks beside eager", [[PYTHON, "-m", "executorch.tools.bench.networks"]]),
        Step("lowering beside upstream", [[PYTHON, "-m", "executorch.tools.bench.lowering"]]),
        Step(
            "accuracy on trained weights",
            [[PYTHON, "-m", "executorch.tools.accuracy", "--page", "docs/results/accuracy.md"]],
        ),
        Step("demo", [["make", "demo"]]),
        Step("requirements", [REQUIREMENTS]),
        Step("lint", [["make", "lint"]]),
    ]


def run(step: Step, log: Path) -> Outcome:
    start, code = time.monotonic(), 0
    with log.open("w") as file:
        for command in step.commands:
            print(f"+ {' '.join(command)}", file=file, flush=True)
            code = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, **step.environment},
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
            if code != 0:
                break
    lines = log.read_text(errors="replace").splitlines()
    said = [line for line in lines if line.strip() and not line.startswith(("make", "[", "+ "))]
    last_line = said[-1][:150] if said else ""
    return Outcome(step.name, code == 0, time.monotonic() - start, commit(), last_line)


def commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def chosen(every: list[Step], only: str | None) -> list[Step]:
    exact = [step for step in every if step.name == only]
    return exact or [step for step in every if (only or "") in step.name]


def written_rows(path: Path) -> dict[str, str]:
    """Rows of an earlier table by their step."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split("|")[1].strip(): line for line in lines if line.startswith("| ")}


def table(names: list[str], rows: dict[str, str], when: datetime) -> str:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    lines = [
        f"# Full run of {when:%Y-%m-%d}",
        "",
        f"{machine}. Command: `make test-full`.",
        "",
        "| step | result | seconds | commit | last line |",
        "|---|---|---|---|---|",
        *(rows[name] for name in names if name in rows),
    ]
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("EXECUTORCH_BUILD_DIR", str(ROOT / "cmake-out"))
    parser.add_argument("--build", type=Path, default=Path(default))
    parser.add_argument("--only", help="run only the step of this name, or those that contain it")
    options = parser.parse_args(argv)
    when = datetime.now(timezone.utc)
    logs = ROOT / "build" / "test-full"
    logs.mkdir(parents=True, exist_ok=True)
    result = ROOT / "docs" / "results" / f"{when:%Y-%m-%d}.md"
    result.parent.mkdir(parents=True, exist_ok=True)
    every = steps(options.build)
    rows = written_rows(result) if options.only else {}
    failures = 0
    for step in chosen(every, options.only):
        print(f"{step.name} ...", flush=True)
        log = logs / f"{step.name.replace(' ', '-').replace(',', '')}.log"
        outcome = run(step, log)
        failures += not outcome.passed
        verdict = "passed" if outcome.passed else f"FAILED, see {log}"
        print(f"  {verdict} in {outcome.seconds:.0f} s: {outcome.last_line}", flush=True)
        rows[step.name] = outcome.row()
        result.write_text(table([one.name for one in every], rows, when))
    print(f"wrote {result.relative_to(ROOT)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
