# SPDX-License-Identifier: BSD-3-Clause
"""pytest with the plugin: what is measured, and which tests a tier has."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from executorch.tools.tiers import times

# `burn` takes processor time, and sleeping takes none.
TESTS = """
import subprocess, sys, time
import pytest

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def shared():
    burn(0.4)

def test_first(shared): pass
def test_second(shared): burn(0.2)
def test_alone(): time.sleep(0.4)
def test_process():
    code = "import time\\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", code], check=True)
def test_memory(): b"x" * 300_000_000
def test_little(): pass
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "executorch.tools.tiers.plugin", "-c", "pytest.ini", "--rootdir", "."]
    return subprocess.run(
        [*command, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
    )


def project(folder: Path, **files: str) -> Path:
    (folder / "pytest.ini").write_text("[pytest]\n")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def measured(folder: Path, *arguments: str) -> dict[str, dict[str, float]]:
    done = run(folder, "--junitxml=x.xml", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        case.get("name", ""): {
            e.get("name", ""): float(e.get("value", "")) for e in case.iter("property")
        }
        for case in ElementTree.parse(folder / "x.xml").iter("testcase")
    }


def test_processor_seconds_and_memory_of_each_test(tmp_path: Path) -> None:
    found = measured(project(tmp_path, a_test=TESTS))
    own = {name: properties.get("processor_seconds", 0) for name, properties in found.items()}
    shared = {name: properties.get("shared_seconds", 0) for name, properties in found.items()}
    # What the first test makes for both is of both, and not of its own.
    assert 0.4 <= shared["test_first"] == shared["test_second"] < 0.8
    assert own["test_first"] < 0.2 <= own["test_second"] < 0.4
    assert own["test_alone"] < 0.2 and 0.25 <= own["test_process"] < 0.9
    assert own["test_little"] < 0.1 and "shared_seconds" not in found["test_alone"]
    if sys.platform == "linux":
        memory = {name: properties.get("peak_megabytes", 0) for name, properties in found.items()}
        assert memory["test_memory"] > 300 > memory["test_alone"] + 100


def test_the_second_time_counts(tmp_path: Path) -> None:
    once = "import time\nmade = []\ndef test_a():\n    if not made:\n        made.append(sum(range(20_000_000)))\n"
    assert measured(project(tmp_path, a_test=once))["test_a"]["processor_seconds"] > 0.05
    assert measured(tmp_path, "--twice")["test_a"].get("processor_seconds", 0) < 0.05


def test_tiers_and_shards_choose(tmp_path: Path) -> None:
    """By the names of slow tests of this tree, in a folder that has a few of them."""
    known = times.read()
    plain = [name for name in known.tests if name.count("::") == 1 and "[" not in name]
    names = {}
    for part in times.shards(times.slow_files(known), 2):
        name = next(name for name in plain if times.file_of(name) in part)
        names[times.file_of(name)] = name.rpartition("::")[2]
    for path, slow in names.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"def {slow}(): pass\ndef test_quick(): pass\n")
    project(tmp_path)
    first, second = names.values()
    options = ["--import-mode=importlib", "--collect-only"]

    def collected(*arguments: str) -> set[str]:
        lines = run(tmp_path, *options, *arguments).stdout.splitlines()
        return {line.rpartition("::")[2] for line in lines if "::" in line}

    assert collected() == {first, second, "test_quick"}
    assert collected("--tier", "fast") == {"test_quick"}
    assert collected("--tier", "slow") == {first, second}
    assert collected("--tier", "slow", "--shard", "1/2") == {first}
    assert collected("--tier", "slow", "--shard", "2/2") == {second}


MACHINE = """
import pytest

@pytest.mark.machine("resident memory")
@pytest.mark.parametrize("found", [1, 3])
def test_memory(found):
    assert found < 2, f"expected less than 2 MB, found {found}"

@pytest.mark.machine("resident memory")
def test_crash(): raise ValueError
"""


def test_what_depends_on_the_machine_is_told(tmp_path: Path) -> None:
    """But for what breaks before it is measured."""
    folder = project(tmp_path, a_test=MACHINE)
    done = run(folder, "-ra", "-k", "memory")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout and "1 xfailed" in done.stdout
    assert "resident memory: expected less than 2 MB, found 3" in done.stdout
    assert run(folder, "-k", "crash").returncode == 1


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    done = run(project(tmp_path, a_test=TESTS), "--shard", "1/8")
    assert done.returncode == 4 and "--tier slow" in done.stderr
    done = run(tmp_path, "--tier", "slow", "--shard", "9/8")
    assert done.returncode == 4 and "expected a shard such as 3/8" in done.stderr


def test_processes_side_by_side_have_a_thread_of_torch_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = "import torch\ndef test_a():\n    assert torch.get_num_threads() == {}\n"
    project(tmp_path, a_test=threads.format(1))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    done = run(tmp_path, "-n", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # who asks for more gets more
    project(tmp_path, a_test=threads.format(2))
    done = run(tmp_path, "-n", "1")
    assert done.returncode == 0, done.stdout + done.stderr


MANY = """
import pytest

@pytest.mark.parametrize("n", range(90))
def test_many(n): pass
@pytest.mark.parametrize("n", range(20))
def test_few(n): pass
"""


def test_of_many_cases_some_are_drawn(tmp_path: Path) -> None:
    ran = measured(project(tmp_path, a_test=MANY), "--cases", "20")
    assert sum(name.startswith("test_few") for name in ran) == 20
    assert sum(name.startswith("test_many") for name in ran) == 18  # of five parts, the commit's


ENDS = """
import os
import pytest

@pytest.mark.parametrize("n", range({count}))
def test_a(n):
    if ({count}, n) == (6, 3): os.kill(os.getpid(), 9)
"""


def test_a_process_that_ends_ends_the_run_and_is_told(tmp_path: Path) -> None:
    files = {f"a{count}_test": ENDS.format(count=count) for count in range(1, 9)}
    done = run(project(tmp_path, **files), "-n", "2", "--dist", "loadfile")
    assert done.returncode == 1
    assert "crashed while running 'a6_test.py::test_a[3]'" in done.stdout
    assert "ended by signal 9 (Killed)" in done.stderr
