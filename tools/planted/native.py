# SPDX-License-Identifier: BSD-3-Clause
"""Compiles one changed source as the build did, and links the module that tests load with it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path


def build_folder(root: Path) -> Path:
    return Path(os.environ.get("EXECUTORCH_BUILD_DIR", root / "cmake-out"))


def _output(words: list[str], folder: Path) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(words)[:400]}\nended with {done.returncode}: {done.stderr[-2000:]}"
        )
    return done.stdout


def built_from(build: Path) -> str:
    """The tree that the build was configured for."""
    cache = (build / "CMakeCache.txt").read_text()
    found = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.+)$", cache, re.M)
    if found is None:
        raise RuntimeError(f"{build} is no build folder; configure it with `make configure`")
    return found[1]


def _sources(home: str, entries: list[dict[str, str]], file: str) -> list[dict[str, str]]:
    """The entries that compile a source, or what includes a header that is not one."""
    own = [e for e in entries if e["file"] == f"{home}/{file}"]
    if own:
        return own
    header = f"executorch/{file}"
    folder = str(Path(home) / Path(file).parts[0])
    near = [e for e in entries if e["file"].startswith(folder) and "_test" not in e["file"]]
    return [e for e in near if f"<{header}>" in Path(e["file"]).read_text(errors="replace")]


def _generated(
    commands: list[str], home: str, copy: Path, file: str, work: Path
) -> tuple[str, str] | None:
    """Of a shader: the source that the build makes of its folder, and what the same command makes of the copy's; None
    for any other file."""
    folder = str(Path(file).parent)
    line = next((each for each in commands if f" --glsl-path {home}/{folder} " in each), None)
    if line is None:
        return None
    words = shlex.split(line.split(" && ")[-1])
    old, new = words[words.index("--output-path") + 1], str(work / "generated")
    changed = {f"{home}/{folder}": f"{copy}/{folder}", old: new, f"{old}/tmp": f"{new}/tmp"}
    _output([changed.get(word, word) for word in words], work)
    (made,) = Path(new).glob("*.cpp")
    return f"{old}/{made.name}", str(made)


def _alone(words: list[str]) -> list[str]:
    """A compiler's words without its cache, its output and its list of headers."""
    words = [word for word in words if Path(word).name not in ("ccache", "-MD")]
    with_value = {i for i, word in enumerate(words) if word in ("-o", "-MT", "-MF")}
    return [w for i, w in enumerate(words) if i not in with_value and i - 1 not in with_value]


def linked_again(
    root: Path, copy: Path, file: str, target: str, replaced: Callable[[Path], None]
) -> None:
    """Puts the module of the target, with the changed `file`, into the copy; `replaced` puts the old one aside."""
    build = build_folder(root)
    home = built_from(build)
    entries = json.loads((build / "compile_commands.json").read_text())
    work = copy / "planted-objects"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    commands = _output(["ninja", "-t", "commands", target], build).splitlines()
    links = [line for line in commands if re.search(r" -o \S+\.(so|pyd|dylib)\b", line)]
    if not links:
        raise RuntimeError(f"{target} is no module that is linked")
    link = links[-1]
    compiled = "\n".join(commands)
    changed = []
    own = re.escape(build.name)  # what the build made stays where it is
    in_copy = re.compile(rf"{re.escape(home)}/(?!{own}/)")
    made_of = _generated(commands, home, copy, file, work)
    if made_of is None:
        sources = _sources(home, entries, file)
    else:
        sources = [entry for entry in entries if entry["file"] == made_of[0]]
    for entry in sources:
        words = shlex.split(entry["command"])
        words = [made_of[1] if made_of and word == made_of[0] else word for word in words]
        made = words[words.index("-o") + 1]
        if made not in compiled:
            continue
        new = work / f"{len(changed)}.o"
        words = _alone([in_copy.sub(f"{copy}/", word) for word in words])
        _output([*words, "-o", str(new)], Path(entry["directory"]))
        changed.append((made, new))
    if not changed:
        raise RuntimeError(f"no source of {target} is made of {file}")
    made = _linked(build, work, link, dict(changed), compiled)
    place = [path for path in copy.rglob(made.name) if work not in path.parents]
    if len(place) != 1:
        raise RuntimeError(f"expected {made.name} once in {copy}, found it {len(place)} times")
    replaced(place[0])
    made.rename(place[0])
    shutil.rmtree(work)


def _linked(build: Path, work: Path, link: str, changed: dict[str, Path], compiled: str) -> Path:
    """The link's own objects are replaced by name, members of its archives in copies of these."""
    command = link
    for made, new in changed.items():
        if made in link:
            command = command.replace(made, str(new))
            continue
        archive = re.search(rf"(?:ar|llvm-ar)\S* \w+ +(\S+\.a) [^\n]*{re.escape(made)}", compiled)
        if archive is None:
            raise RuntimeError(f"{made} is in no archive of the module")
        own = work / Path(archive[1]).name
        if not own.exists():
            shutil.copy(build / archive[1], own)
        member = work / Path(made).name
        shutil.copy(new, member)
        _output(["ar", "r", str(own), str(member)], build)
        command = command.replace(archive[1], str(own))
    found = re.search(r" -o (\S+)", command)
    if found is None:
        raise RuntimeError(f"the command that links has no -o: {command[:300]}")
    made = work / Path(found[1]).name
    command = command.replace(f" -o {found[1]}", f" -o {made}")
    _output(["bash", "-c", command.split(" && : && ")[-1].removeprefix(": && ")], build)
    return made
