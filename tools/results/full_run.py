# SPDX-License-Identifier: BSD-3-Clause
"""Runs everything there is and writes docs/results/full-run.md.

usage: python -m executorch.tools.results.full_run [--only STEP] [--again] [--build cmake-out]

A step is a few commands, and brings the build that it needs: steps do not depend on each other. When one has ended,
what became of it stands in build/test-full/<commit>/<step>.json, its output beside it. A run that was stopped goes on
there: what passed on this commit is not run again (with --again it is), what failed is. The page is written from these
files.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from executorch.tools.tiers.times import SHARDS

ROOT = Path(__file__).resolve().parents[2]
RUNS, RESULTS = ROOT / "build" / "test-full", ROOT / "build" / "results"
PAGE = ROOT / "docs" / "results" / "full-run.md"
PYTHON = sys.executable
# As many test processes as processors, each with whole files: the tests of a file share what they have built.
PROCESSES = ["-n", str(os.cpu_count()), "--dist", "loadfile"]
# Of a test that has more cases: those that the commit draws. Commits one after the other see all of them, and so does
# `pytest -m full FILE`.
CASES = 100
# Sixty seconds of drawn calls with wrong arguments for each library.
FUZZ = [
    [PYTHON, "-m", "kernels.test.kernel_fuzz", "--seconds", "60", "--library", library]
    for library in ("portable", "optimized", "quantized")
]
MUTANTS = [PYTHON, "-m", "executorch.test.hardening.mutants", "--count", "2500"]
REQUIREMENTS = [PYTHON, "-m", "executorch.tools.requirements.report", "--check"]
REQUIREMENTS += ["--write", "build/pages/requirements.md"]
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

    @property
    def file_name(self) -> str:
        return "-".join(re.findall(r"[\w.]+", self.name))


@dataclass(frozen=True)
class Outcome:
    """What became of a step, as its .json has it."""

    name: str
    passed: bool
    seconds: float
    ended: str  # UTC, "2026-11-27 06:30"
    last_line: str

    def row(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        text = self.last_line.replace("|", "\\|")
        return f"| {self.name} | {verdict} | {self.seconds:.0f} | {self.ended} | {text} |"


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


def folders_of_full_tests() -> list[str]:
    """Of the folders that pytest looks into, test/ by its own folders, those with a test that is marked `full`."""
    roots = [path for path in ROOT.iterdir() if path.is_dir() and (path / "README.md").is_file()]
    folders = [path for path in roots if path.name not in ("test", "third-party", "docs")]
    folders += [path for path in (ROOT / "test").iterdir() if path.is_dir()]
    tests = {folder: [*folder.rglob("*_test.py"), *folder.rglob("test_*.py")] for folder in folders}
    marked = [f for f in folders if any("mark.full" in test.read_text() for test in tests[f])]
    return sorted(path.relative_to(ROOT).as_posix() for path in marked)


def python_steps(build: list[list[str]]) -> list[Step]:
    """The tiers that every change sees, the slow one in parts; then what only this run has, by folder. All on the
    installed wheel: the first of these steps makes it, the others find it."""

    def installed(name: str, *arguments: str) -> Step:
        command = [PYTHON, "scripts/installed.py", "--reuse", "-q", *PROCESSES, *arguments]
        return Step(name, [*build, command])

    slow = [f"{index}/{SHARDS}" for index in range(1, SHARDS + 1)]
    return [
        installed("Python tests", "--tier", "fast"),
        *(installed(f"slow Python tests, {p}", "--tier", "slow", "--shard", p) for p in slow),
        *(
            installed(f"full tests of {f}", "-m", "full", "--cases", str(CASES), f)
            for f in folders_of_full_tests()
        ),
    ]


def sanitizer_steps(name: str) -> list[Step]:
    """Building places the sanitizer's Python modules in the tree; the mutants run on those."""
    folder = ROOT / f"cmake-out-{name}"
    build = built(name, folder)
    found = [Step(f"C++ tests, {name}", [*build, *ctest(folder)], SANITIZER_SETTINGS)]
    if name == "asan":
        settings = preloaded()
        # Preloaded into the tests alone: compilers are no part of what is tested.
        preload = ["env", *(f"{key}={value}" for key, value in settings.items())]

        def step(title: str, *commands: list[str], **more: str) -> Step:
            words = [*preload, *(f"{key}={value}" for key, value in more.items())]
            return Step(title, [*build, *([*words, *command] for command in commands)])

        weights = pytest("test/hardening/language_models_test.py", "-k", "weights")
        files = pytest("-m", "full", "extension/text/tokenizers/test/mutants_test.py")
        many = "1000"  # ten times as many of each kind
        found += [
            step(f"kernels beside eager, {name}", pytest(*PROCESSES, "kernels")),
            step(f"drawn calls, {name}", *FUZZ),
            step(f"2,500 mutants of each program, {name}", MUTANTS),
            step(
                f"10,000 mutants of events, records and bundles, {name}",
                pytest("test/hardening/side_formats_test.py"),
                EXECUTORCH_MUTANTS=many,
            ),
            step(f"corrupted weights of language models, {name}", weights),
            step(f"10,000 corrupted files of each tokenizer, {name}", files),
        ]
    return found


def steps(build: Path) -> list[Step]:
    default = built("linux", build)

    def on_default(name: str, *commands: list[str]) -> Step:
        return Step(name, [*default, *commands])

    bench = [PYTHON, "-m", "executorch.tools.bench.networks"]
    operators = [PYTHON, "-m", "tools.bench.ops", "--write", "build/pages/operators.md"]
    lowering = [PYTHON, "-m", "executorch.tools.bench.lowering"]
    accuracy = [PYTHON, "-m", "executorch.tools.accuracy", "--page", "build/pages/accuracy.md"]
    return [
        on_default("C++ tests", *ctest(build)),
        *python_steps(default),
        on_default("drawn calls", *FUZZ),
        on_default("2,500 mutants of each program", MUTANTS),
        *(step for name in ("asan", "tsan") for step in sanitizer_steps(name)),
        Step("ATen mode", [*default, *aten_mode(ROOT / "cmake-out-aten")]),
        on_default("size of the core", ["make", "size"]),
        on_default("operators beside eager", operators),
        on_default("networks beside eager", bench),
        on_default("lowering beside upstream", lowering),
        on_default("accuracy on trained weights", accuracy),
        on_default("demo", ["make", "demo"]),
        on_default("requirements", REQUIREMENTS),
        on_default("lint", ["make", "lint"]),
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
    shown = [line for line in lines if line.strip() and not line.startswith(("make", "[", "+ "))]
    last_line = shown[-1][:150] if shown else ""
    ended = f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M}"
    return Outcome(step.name, code == 0, time.monotonic() - start, ended, last_line)


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def commit() -> str:
    """What is checked out; "changed" behind it where files differ, but for the pages that steps write."""
    changed = git("status", "--porcelain", "--", ".", ":!docs/results")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("-changed" if changed else "")


def chosen(every: list[Step], only: str | None) -> list[Step]:
    exact = [step for step in every if step.name == only]
    return exact or [step for step in every if (only or "") in step.name]


def outcome_of(step: Step, folder: Path) -> Outcome | None:
    """Of an earlier run on this commit; None for a step that has not ended."""
    path = folder / f"{step.file_name}.json"
    return Outcome(**json.loads(path.read_text())) if path.exists() else None


def keep(step: Step, outcome: Outcome, folder: Path) -> None:
    """The file is there whole or not at all."""
    path = folder / f"{step.file_name}.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(asdict(outcome), indent=1) + "\n")
    part.replace(path)


def run_once(step: Step, folder: Path, again: bool = False) -> None:
    """Unless it has passed already, with a line before and after."""
    before = outcome_of(step, folder)
    if before and before.passed and not again:
        print(f"{step.name}: passed at {before.ended} UTC", flush=True)
        return
    print(f"{step.name} ...", flush=True)
    (folder / f"{step.file_name}.json").unlink(missing_ok=True)
    log = folder / f"{step.file_name}.log"
    outcome = run(step, log)
    keep(step, outcome, folder)
    verdict = "passed" if outcome.passed else f"FAILED, see {log}"
    print(f"  {verdict} in {outcome.seconds:.0f} s: {outcome.last_line}", flush=True)


def page(every: list[Step], folder: Path) -> str:
    """The table of what has ended on this commit, in the order of the steps."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    found = [outcome for step in every if (outcome := outcome_of(step, folder))]
    failed = sum(not outcome.passed for outcome in found)
    hours = sum(outcome.seconds for outcome in found) / 3600
    lines = [
        f"# Full run of {folder.name}",
        "",
        f"{machine}. Command: `make test-full`. {len(found)} of {len(every)} steps have ended, {failed} failed, "
        f"{hours:.1f} hours in all.",
        "",
        "| step | result | seconds | ended (UTC) | last line |",
        "|---|---|---|---|---|",
        *(outcome.row() for outcome in found),
    ]
    return "\n".join(lines) + "\n"


def folder_of(name: str) -> Path:
    """For what is kept of a commit. The first run on one removes results of others: what was not run again would
    count. Nothing is kept of files that are not committed, as they may differ the next time."""
    folder = RUNS / name
    if name.endswith("-changed"):
        shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        for path in RESULTS.glob("pytest-*.xml"):
            path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("EXECUTORCH_BUILD_DIR", str(ROOT / "cmake-out"))
    parser.add_argument("--build", type=Path, default=Path(default))
    parser.add_argument("--only", help="run only the step of this name, or those that contain it")
    parser.add_argument("--again", action="store_true", help="also what passed on this commit")
    options = parser.parse_args(argv)
    every, folder = steps(options.build), folder_of(commit())
    mine = chosen(every, options.only)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    for step in mine:
        run_once(step, folder, options.again)
        PAGE.write_text(page(every, folder))
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0 if all((found := outcome_of(s, folder)) and found.passed for s in mine) else 1


if __name__ == "__main__":
    sys.exit(main())
