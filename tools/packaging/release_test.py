# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a release's parts, and the sums over them; the whole of it is a full test."""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
from pathlib import Path

import pytest

from executorch.test.install.commands import command as run
from executorch.tools.packaging import release as command
from executorch.tools.packaging.parts import PARTS, SUMS, Need, Part, PartFailed, Release

NEVER = Need("a machine that nobody has", lambda _: False)
ALWAYS = Need("nothing", lambda _: True)


def writes(text: str, name: str = "file.txt") -> Part:
    return Part("text", "a text", (ALWAYS,), make=lambda it: (it.out / name).write_text(text))


def breaks(_: Release) -> None:
    raise PartFailed("the machine is out of paper")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What the command reads of a tree besides its parts."""
    root = tmp_path / "tree"
    (root / "docs").mkdir(parents=True)
    (root / "version.txt").write_text("2.3.1\n")
    (root / "docs" / "CHANGELOG.md").write_text("# Changelog\n\n## 2.3.1 (unreleased)\n\n- all\n")
    return root


def test_parts_are_made_skipped_or_failed_and_the_others_go_on(
    tree: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    parts = (
        Part("rare", "what needs more", (NEVER, ALWAYS), ("false",)),
        Part("broken", "half of it", make=breaks),
        Part("loud", "a command that fails", commands=("{python} -c 'exit(3)'",)),
        Part("empty", "a command that writes nothing", commands=("{python} -c pass",)),
        writes("x"),
    )
    assert command.main([str(tmp_path / "out")], parts, tree) == 1
    printed = capfd.readouterr().out
    assert "[1/5] rare: what needs more\n  skipped: needs a machine that nobody has\n" in printed
    assert "  failed: the machine is out of paper\n" in printed
    assert "-c exit(3)'` ended with code 3" in printed.replace("'exit", "exit")
    assert "  failed: no file was written\n" in printed
    assert "  made: 1 files" in printed and "to publish" not in printed
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [SUMS, "text"]


def test_commands_run_in_the_tree_with_their_places(tree: Path, tmp_path: Path) -> None:
    program = "import os, sys; open(sys.argv[1], 'w').write(os.getcwd() + sys.argv[2])"
    part = Part("one", "", commands=(f'{{python}} -c "{program}" {{out}}/place {{version}}',))
    assert command.main([str(tmp_path / "out")], (part,), tree) == 0
    assert (tmp_path / "out/one/place").read_text() == f"{tree}2.3.1"


def test_sums_are_those_that_sha256sum_reads(tree: Path, tmp_path: Path) -> None:
    """A part that is made again replaces its folder; one that fails leaves the earlier one."""
    out = tmp_path / "out"
    other = Part("other", "", make=lambda it: (it.out / "b.bin").write_bytes(bytes(range(256))))
    assert command.main([str(out)], (writes("old", "old.txt"), other), tree) == 0
    assert command.main([str(out), "--only", "text"], (writes("abc"), other), tree) == 0
    # The sum of "abc" is FIPS 180-2's example.
    assert (out / SUMS).read_text() == (
        f"{hashlib.sha256(bytes(range(256))).hexdigest()}  other/b.bin\n"
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  text/file.txt\n"
    )
    assert command.main([str(out)], (Part("other", "", make=breaks),), tree) == 1
    assert (out / "other/b.bin").stat().st_size == 256


def test_machines_add_to_one_folder(tree: Path, tmp_path: Path) -> None:
    def made_on(machine: str) -> list[str]:
        part = Part(
            "archive", "", make=lambda it: (it.out / machine).write_text(machine), per_machine=True
        )
        assert command.main([str(tmp_path / "out")], (part,), tree) == 0
        return sorted(path.name for path in (tmp_path / "out/archive").iterdir())

    assert made_on("all-2.3.0-linux.tar") == ["all-2.3.0-linux.tar"]
    assert made_on("all-2.3.1-linux.tar") == ["all-2.3.1-linux.tar"]  # an earlier version's goes
    assert made_on("all-2.3.1-mac.tar") == ["all-2.3.1-linux.tar", "all-2.3.1-mac.tar"]


def test_folders_of_others_are_left_alone(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    assert command.main([str(tmp_path / "mine")], (writes("x"),), tree) == 2
    assert "expected an empty folder or an earlier release" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["out", "--only", "txt"], "expected some of text; found txt"),
        ([], "expected a folder, or --list"),
    ],
)
def test_wrong_words(
    tree: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(words, (writes("x"),), tree)
    assert message in capsys.readouterr().err


@pytest.mark.req("PRJ-032")
def test_tags_are_printed_for_a_committed_tree_of_a_released_version(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def output() -> str:
        assert command.main([str(tmp_path / "out")], (writes("x"),), tree) == 0
        return capsys.readouterr().out

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tree, check=True
        )

    assert "not to be tagged yet: docs/CHANGELOG.md has no section of 2.3.1 that is not" in output()
    (tree / "docs" / "CHANGELOG.md").write_text("## 2.3.1\n\n- all\n")
    assert "not to be tagged yet: this is no checkout" in output()
    git("init", "-q")
    assert "not to be tagged yet: files differ from the commit" in output()
    git("add", ".")
    git("commit", "-q", "-m", "all")
    printed = output()
    assert "git branch release/2.3 " in printed and "swiftpm" not in printed
    assert f"git tag -a v2.3.1 -F {tmp_path}/out/notes/notes.md" in printed
    (tmp_path / "out/swift").mkdir()
    assert "git branch swiftpm-2.3.1 " in output()


def test_the_list_names_every_part_and_what_is_not_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANDROID_NDK", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command.main(["--list"]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines() if line[0] != " "] == [
        part.name for part in PARTS
    ]
    for missing in (
        "an Android NDK (ANDROID_NDK)",
        "javac (default-jdk-headless)",
        "emcmake (emscripten)",
    ):
        assert f"not here: {missing}\n" in printed


def test_what_is_read_is_made_before(tmp_path: Path) -> None:
    """The recipe has the sum of the source archive; notes stand ready for the tag."""
    names = [part.name for part in PARTS]
    assert len(set(names)) == len(names) and names.index("sdist") < names.index("conda")
    conda = PARTS[names.index("conda")]
    release = Release(tmp_path, tmp_path, "2.3.1", tmp_path)
    assert conda.missing(release) == ["a source archive (sdist)"]
    (tmp_path / "sdist").mkdir()
    (tmp_path / "sdist/executorch-2.3.1.tar.gz").write_bytes(b"abc")
    assert conda.missing(release) == []


def a_project_prints(prefix: Path, folder: Path) -> str:
    """What test/consumer says of ones through a linear layer of {{1, 2}, {3, 4}} and {0.5, -0.5}: 1 + 2 + 0.5 first."""
    project = ["-S", command.ROOT / "test/consumer", "-B", folder / "consumer", "-G", "Ninja"]
    run("cmake", *project, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "consumer", "--target", "consumer")
    return run(folder / "consumer/consumer", command.ROOT / "test/golden/linear_1_4_1.pte")


@pytest.mark.full
def test_the_tree_as_a_release(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if not (command.ROOT / "pyproject.toml").is_file():
        pytest.skip("the wheel has no sources to make a release of")
    out = tmp_path / "out"
    parts = "notes sdist archive swift-plan conda sbom".split()
    assert command.main([str(out), "--only", *parts]) == 0, capfd.readouterr()
    assert {path.name for path in out.iterdir()} == {SUMS, *parts}
    checked = run("sha256sum", "-c", "--strict", SUMS, cwd=out)
    assert checked.count(": OK\n") == len(command.files(out)) >= 7
    (sources,) = (out / "sdist").iterdir()
    with tarfile.open(sources) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "runtime/executor/program.h", "tools/packaging/release.py"} <= names
    assert hashlib.sha256(sources.read_bytes()).hexdigest() in (out / "conda/meta.yaml").read_text()
    (libraries,) = (out / "archive").iterdir()
    with tarfile.open(libraries) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    assert a_project_prints(next((tmp_path / "unpacked").iterdir()), tmp_path) == "3.500000\n"
    assert str(command.ROOT) not in (out / "swift-plan/build.sh").read_text()
