# SPDX-License-Identifier: BSD-3-Clause
"""Placing a file replaces it: whoever has the old one open or mapped keeps it."""

import mmap
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).with_name("PlaceFile.cmake")


def place(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["cmake", f"-DFROM={source}", f"-DTO={target}", "-P", str(SCRIPT)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_mapped_file_keeps_its_bytes(tmp_path: Path) -> None:
    source, target = tmp_path / "built.so", tmp_path / "placed.so"
    source.write_bytes(b"new" * 100)
    target.write_bytes(b"old" * 100)
    with target.open("rb") as old, mmap.mmap(old.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert place(source, target).returncode == 0
        assert mapped[:] == b"old" * 100
    assert target.read_bytes() == source.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["built.so", "placed.so"]


def test_an_equal_file_stays_untouched(tmp_path: Path) -> None:
    source, target = tmp_path / "built.so", tmp_path / "placed.so"
    source.write_bytes(b"same")
    assert place(source, target).returncode == 0
    before = target.stat()
    assert place(source, target).returncode == 0
    assert (target.stat().st_ino, target.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_missing_source_is_an_error(tmp_path: Path) -> None:
    result = place(tmp_path / "absent.so", tmp_path / "placed.so")
    assert result.returncode != 0
    assert "absent.so" in result.stderr
