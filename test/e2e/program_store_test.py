# SPDX-License-Identifier: BSD-3-Clause
"""What was made once is found, by any process, until something that it depends on is another."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from executorch.test.e2e import program_store
from executorch.test.e2e.program_store import ProgramStore, sources
from executorch.tools.tiers.clock import CLOCK


@pytest.fixture
def package(tmp_path: Path) -> Path:
    package = tmp_path / "package"
    (package / "exir").mkdir(parents=True)
    (package / "exir" / "emit.py").write_text("a = 1\n")
    return package


def write(folder: Path) -> None:
    """As many bytes as there are files in the folder above: another time, another content."""
    (folder / "model.pte").write_text(str(time.perf_counter_ns()))


def test_it_is_made_once_for_each_row_options_and_sources(tmp_path: Path, package: Path) -> None:
    store = ProgramStore(tmp_path / "store", package)

    def made(row: str = "mv2", **options: bool) -> str:
        sources.cache_clear()  # a process reads them once
        return (store.folder(row, write, **options) / "model.pte").read_text()

    first = made()
    assert made() == first == made()
    assert len({first, made("vit"), made(dynamic=True), made(dynamic=False)}) == 4
    (package / "exir" / "emit_test.py").write_text("")
    (package / "exir" / "emit.md").write_text("")
    assert made() == first, "no program is made by these"
    (package / "exir" / "emit.py").write_text("a = 2\n")
    second = made()
    assert second != first
    (package / "exir" / "emit.py").write_text("a = 1\n")
    assert made() == first
    (package / "linked").mkdir()
    (package / "kernels").symlink_to(package / "linked")
    (package / "linked" / "rows.yaml").write_text("")
    assert made() not in (first, second)


def test_what_follows_from_a_part_stays_when_others_change(tmp_path: Path, package: Path) -> None:
    store = ProgramStore(tmp_path / "store", package)
    (package / "models").mkdir()
    (package / "models" / "mv2.py").write_text("")
    first = store.folder("mv2", write, parts=("models",))
    (package / "exir" / "emit.py").write_text("a = 2\n")
    sources.cache_clear()
    assert store.folder("mv2", write, parts=("models",)) == first
    (package / "models" / "mv2.py").write_text("a = 2\n")
    sources.cache_clear()
    assert store.folder("mv2", write, parts=("models",)) != first


def test_what_was_not_finished_is_made_again(tmp_path: Path, package: Path) -> None:
    store = ProgramStore(tmp_path / "store", package)

    def fails(folder: Path) -> None:
        (folder / "model.pte").write_text("half")
        raise KeyError("no such model")

    with pytest.raises(KeyError):
        store.folder("mv2", fails)
    folder = store.folder("mv2", write)
    assert [path.name for path in folder.iterdir()] == ["model.pte"]
    assert (folder / "model.pte").read_text() != "half"


def test_what_nobody_asks_for_goes(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest first, and nothing of a run that goes on."""
    monkeypatch.setattr(program_store, "BYTES", 50)
    store, hour = ProgramStore(tmp_path / "store", package), 3600
    made = [
        store.folder(row, lambda folder: (folder / "a").write_bytes(bytes(30))) for row in "abc"
    ]
    for place, hours in zip(made, (5, 9, 1)):
        os.utime(place, (0, time.time() - hours * hour))
    store.folder("new", write)
    assert [place.exists() for place in made] == [False, False, True]
    monkeypatch.setattr(program_store, "BYTES", 0)
    store.folder("another", write)
    assert made[2].exists()


def test_what_is_found_costs_what_it_cost_to_make(tmp_path: Path, package: Path) -> None:
    """A test is in the tier of a machine that has nothing yet."""

    def burn(folder: Path) -> None:
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass

    store = ProgramStore(tmp_path / "store", package)
    for _ in range(2):
        began = CLOCK.seconds()
        store.folder("mv2", burn)
        assert 0.2 <= CLOCK.seconds() - began < 0.6


CHILD = """
import sys, time
from pathlib import Path
from executorch.test.e2e.program_store import ProgramStore

def write(folder):
    with open(sys.argv[2], "a") as file:
        file.write("made\\n")
    time.sleep(0.3)
    (folder / "model.pte").write_text("whole")

store = ProgramStore(Path(sys.argv[1]), Path(sys.argv[3]))
print((store.folder("mv2", write) / "model.pte").read_text())
"""


def test_processes_make_it_once(tmp_path: Path, package: Path) -> None:
    command = [
        sys.executable,
        "-c",
        CHILD,
        str(tmp_path / "store"),
        str(tmp_path / "log"),
        str(package),
    ]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in running] == ["whole\n"] * 3
    assert (tmp_path / "log").read_text() == "made\n"
