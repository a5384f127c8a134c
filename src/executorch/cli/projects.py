# SPDX-License-Identifier: BSD-3-Clause
"""Projects that begin as copies: `executorch new-backend` and `new-operator` write one beside what is installed.

A template is a folder whose files are valid as they stand, of a project that is called `skeleton`; a copy has the new
name in its place, in file names too. What a backend consists of is no template of its own: it is `backends/skeleton`,
or `backends/skeleton_compiler`, which the conformance suite tests and `tools.new_backend` copies inside of a checkout.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import executorch

SKELETON = "skeleton"
TEMPLATES = Path(executorch.__path__[0]) / "examples" / "projects"
BACKENDS = Path(executorch.__path__[0]) / "backends"
# What a backend is -> the folder to copy.
KINDS = {"delegate": SKELETON, "compiler": f"{SKELETON}_compiler"}
# Of that folder; the rest a project has otherwise: files of the same names in its template, and the build's.
_PARTS = ("aot", "runtime", "schema", "vendor")
SUFFIXES = (".py", ".cpp", ".h", ".fbs", ".md", ".txt", ".toml", ".yaml", ".cmake")
# Where a package of its own is not inside of this one.
_MOVED = {"executorch.backends.skeleton": SKELETON, "executorch/backends/skeleton": SKELETON}


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def renamed(text: str, name: str, skeleton: str = SKELETON) -> str:
    """`text` of a skeleton as it is of `name`, in all three spellings."""
    spellings = {
        skeleton: name,
        camel(skeleton): camel(name),
        skeleton.upper(): name.upper(),
    }
    return re.sub("|".join(spellings), lambda found: spellings[found[0]], text)


def check_name(name: str) -> None:
    """ValueError for what cannot be the name of a folder, a Python package, a C++ namespace and an operator."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise ValueError(f"{name!r}: expected lower case words joined by _, such as my_device")
    found = importlib.util.find_spec(name)
    if name == SKELETON or keyword.iskeyword(name) or (found is not None and found.origin):
        raise ValueError(f"{name}: this is a word or a package of Python already: choose another")


def sources(folder: Path) -> Iterator[Path]:
    """The files below it that a copy has, as paths from it; none that a build made, and no test in C++, which would
    need more than is installed."""
    for path in sorted(folder.rglob("*")):
        made = "__pycache__" in path.parts or path.name.endswith("_test.cpp")
        if path.suffix in SUFFIXES and not made:
            yield path.relative_to(folder)


def copy(files: Mapping[Path, str], name: str, target: Path) -> list[Path]:
    """Writes texts of a skeleton under `name`; the paths written, from `target`. ValueError where it is there."""
    if target.exists():
        raise ValueError(f"{target} is there already: choose another name or --dir, or remove it")
    written = []
    for path, text in files.items():
        place = Path(renamed(path.as_posix(), name))
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        (target / place).write_text(renamed(text, name))
        written.append(place)
    return written


def template(kind: str) -> dict[Path, str]:
    """The files of a template: backend, compiler or operator."""
    folder = TEMPLATES / kind
    return {path: (folder / path).read_text() for path in sources(folder)}


def backend_files(kind: str = "delegate") -> dict[Path, str]:
    """Those of a backend's project: the skeleton's own folders, in a package of its own. What a kind has otherwise than
    a delegate is in the template of its name."""
    skeleton = KINDS[kind]
    files = template("backend") | (template(kind) if skeleton != SKELETON else {})
    for part in _PARTS:
        folder = BACKENDS / skeleton / part
        for path in sources(folder):
            text = renamed((folder / path).read_text(), SKELETON, skeleton)
            for inside, own in _MOVED.items():
                text = text.replace(inside, own)
            files[Path(SKELETON) / part / renamed(path.as_posix(), SKELETON, skeleton)] = text
    return files


def next_steps(target: Path, written: list[Path]) -> str:
    """What to do next, for the terminal."""
    lines = [f"wrote {target}: {len(written)} files", "", f"    cd {target}"]
    readme = (target / "README.md").read_text()
    commands = re.search(r"```bash\n(.*?)```", readme, re.S)[1]
    lines += [f"    {line}" for line in commands.splitlines()]
    return "\n".join([*lines, "", f"{target / 'README.md'} says what to change, in which order."])
