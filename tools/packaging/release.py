# SPDX-License-Identifier: BSD-3-Clause
"""Makes a release into a folder, and prints the commands that tag it.

python -m executorch.tools.packaging.release FOLDER [--only PART ...]
python -m executorch.tools.packaging.release --list
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from executorch.tools.packaging.notes import is_released
from executorch.tools.packaging.parts import PARTS, SUMS, Part, PartFailed, Release, sha256

ROOT = Path(__file__).resolve().parents[2]


def files(folder: Path) -> list[Path]:
    """All that was made, relative to the folder."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if str(path) != SUMS)


def write_sums(folder: Path) -> int:
    """SHA256SUMS as `sha256sum -c` reads it; returns of how many files."""
    made = files(folder)
    lines = [f"{sha256(folder / path)}  {path.as_posix()}\n" for path in made]
    (folder / SUMS).write_text("".join(lines))
    return len(made)


def make(part: Part, release: Release) -> str:
    """What became of it: made, skipped or failed, and why. An earlier part of that name stays unless it is made."""
    if missing := part.missing(release):
        return f"skipped: needs {'; '.join(missing)}"
    shutil.rmtree(release.out, ignore_errors=True)
    release.out.mkdir()
    try:
        part.run(release)
        if not files(release.out):
            raise PartFailed("no file was written")
        target = release.made / part.name
        for earlier in target.glob(f"*-{release.version}-*") if part.per_machine else ():
            if not (release.out / earlier.name).exists():
                shutil.copy2(earlier, release.out)
        shutil.rmtree(target, ignore_errors=True)
        release.out.rename(target)
    except (PartFailed, OSError, ValueError) as problem:
        return f"failed: {problem}"
    finally:
        shutil.rmtree(release.out, ignore_errors=True)
    size = sum((target / path).stat().st_size for path in files(target))
    return f"made: {len(files(target))} files, {size / 2**20:.1f} MiB"


def tag_commands(release: Release) -> list[str]:
    """Of the branch that fixes go to, the tag, and the branch from which Swift packages come."""
    version, minor = release.version, release.version.rpartition(".")[0]
    commands = [
        f"git branch release/{minor}  # of the first release of {minor}",
        f"git tag -a v{version} -F {release.made / 'notes' / 'notes.md'} --cleanup=whitespace",
    ]
    if (release.made / "swift").is_dir():
        commands.append(
            f"git branch swiftpm-{version}  # with {release.made / 'swift'} committed on it"
        )
    return commands


def untaggable(release: Release) -> str:
    """Why this tree is not to be tagged, or nothing."""
    changelog = (release.root / "docs" / "CHANGELOG.md").read_text(encoding="utf-8")
    if not is_released(changelog, release.version):
        return f"docs/CHANGELOG.md has no section of {release.version} that is not (unreleased)"
    command = ["git", "status", "--porcelain"]
    done = subprocess.run(command, cwd=release.root, capture_output=True, text=True, check=False)
    if done.returncode:
        return "this is no checkout"
    return "files differ from the commit" if done.stdout else ""


def release(made: Release, parts: Sequence[Part]) -> int:
    made.made.mkdir(parents=True, exist_ok=True)
    if any(made.made.iterdir()) and not (made.made / SUMS).is_file():
        print(
            f"error: {made.made}: expected an empty folder or an earlier release with {SUMS}, found other files",
            file=sys.stderr,
        )
        return 2
    (made.made / SUMS).touch()  # the folder is ours, also where this is interrupted
    ends = []
    for number, part in enumerate(parts, 1):
        print(f"[{number}/{len(parts)}] {part.name}: {part.what}", flush=True)
        ends.append(make(part, made))
        print(f"  {ends[-1]}", flush=True)
    print(f"{SUMS}: {write_sums(made.made)} files in {made.made}")
    if any(end.startswith("failed") for end in ends):
        return 1
    if reason := untaggable(made):
        print(f"not to be tagged yet: {reason}")
    else:
        print("to publish:", *tag_commands(made), sep="\n  ")
    return 0


def table(parts: Sequence[Part], here: Release) -> str:
    lines = []
    for part in parts:
        missing = part.missing(here)
        lines.append(f"{part.name:11} {part.what}")
        lines += [f"{'':11}   {command}" for command in part.commands]
        lines += [f"{'':11}   not here: {what}" for what in missing]
    return "\n".join(lines)


def main(argv: list[str] | None = None, parts: Sequence[Part] = PARTS, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=Path, nargs="?", help="where it goes, a folder for each part"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="PART", help="these parts; others stay as they are"
    )
    parser.add_argument(
        "--list", action="store_true", help="the parts, and what they need that is not here"
    )
    given = parser.parse_args(argv)
    names = [part.name for part in parts]
    if unknown := sorted(set(given.only or ()) - set(names)):
        parser.error(f"--only: expected some of {', '.join(names)}; found {', '.join(unknown)}")
    if not given.folder and not given.list:
        parser.error("expected a folder, or --list")
    here = Release(
        root=root,
        build=Path(os.environ.get("EXECUTORCH_BUILD_DIR") or root / "cmake-out"),
        version=(root / "version.txt").read_text().strip(),
        made=(given.folder or root / "build" / "release").resolve(),
    )
    if given.list:
        print(table(parts, here))
        return 0
    return release(here, [part for part in parts if not given.only or part.name in given.only])


if __name__ == "__main__":
    sys.exit(main())
