# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a release, in the order in which they are made: what each is, needs, and which command makes it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from executorch.tools.packaging import conda
from executorch.tools.packaging.notes import notes
from executorch.tools.packaging.sbom import bill
from executorch.tools.packaging.sources import project

SUMS = "SHA256SUMS"


class PartFailed(Exception):
    """A part could not be made; the message says why."""


@dataclass(frozen=True)
class Release:
    """`made` has a folder for each part; `out` is where the part at hand goes until it is complete."""

    root: Path
    build: Path
    version: str
    made: Path

    @property
    def out(self) -> Path:
        return self.made / ".unfinished"

    @property
    def ndk(self) -> Path:
        return Path(os.environ.get("ANDROID_NDK", "/opt/ndk"))

    @property
    def archives(self) -> list[Path]:
        """The source archive, if it was made."""
        return list((self.made / "sdist").glob(f"executorch-{self.version}.tar.gz"))

    @property
    def wheels(self) -> list[Path]:
        return sorted((self.root / "dist").glob(f"executorch-{self.version}-*.whl"))


@dataclass(frozen=True)
class Need:
    what: str
    is_there: Callable[[Release], bool]


@dataclass(frozen=True)
class Part:
    """commands: run one after the other in the tree's root, with {root}, {build}, {out}, {made}, {version} and {python}
    filled in; `make` comes after them."""

    name: str
    what: str
    needs: tuple[Need, ...] = ()
    commands: tuple[str, ...] = ()
    make: Callable[[Release], None] | None = None
    per_machine: bool = False  # files of other machines stay beside its own

    def missing(self, release: Release) -> list[str]:
        return [need.what for need in self.needs if not need.is_there(release)]

    def run(self, release: Release) -> None:
        for command in self.commands:
            words = [word.format(**_places(release)) for word in shlex.split(command)]
            if code := subprocess.run(words, cwd=release.root, check=False).returncode:
                raise PartFailed(
                    f"`{shlex.join(words)}` ended with code {code}; see the lines above"
                )
        if self.make:
            self.make(release)


def _places(release: Release) -> dict[str, str]:
    return {
        "root": str(release.root),
        "build": str(release.build),
        "out": str(release.out),
        "made": str(release.made),
        "version": release.version,
        "python": sys.executable,
    }


def program(name: str, package: str = "") -> Need:
    """A program on the PATH."""
    return Need(
        f"{name}{f' ({package})' if package else ''}", lambda _: shutil.which(name) is not None
    )


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _wheels(release: Release) -> None:
    for wheel in release.wheels:
        shutil.copy2(wheel, release.out)


def _pack(release: Release) -> None:
    """The installed prefix as one archive, which is the same for the same files."""
    (prefix,) = release.out.iterdir()

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(f"{prefix}.tar.xz", "w:xz", preset=1) as archive:
        archive.add(prefix, prefix.name, filter=plain)  # sorted by name
    shutil.rmtree(prefix)


def _swift_plan(release: Release) -> None:
    command = [sys.executable, "-m", "executorch.tools.apple", "build", "--dry-run"]
    done = subprocess.run(command, cwd=release.root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PartFailed(
            f"`{shlex.join(command)}` ended with code {done.returncode}: {done.stderr}"
        )
    # Frameworks are built in the tree, whose paths a plan for other machines has not.
    plan = done.stdout.replace(f"{release.root}/", "")
    (release.out / "build.sh").write_text(f"set -eu\n{plan}")
    shutil.copy2(release.root / "Package.swift", release.out)


def _conda(release: Release) -> None:
    (archive,) = release.archives
    text = conda.recipe(release.root, release.version, f"../sdist/{archive.name}", sha256(archive))
    (release.out / "meta.yaml").write_text(text)


def _notes(release: Release) -> None:
    changelog = (release.root / "docs" / "CHANGELOG.md").read_text(encoding="utf-8")
    (release.out / "notes.md").write_text(notes(changelog, release.version), encoding="utf-8")


def _sbom(release: Release) -> None:
    given = os.environ.get("EXECUTORCH_SOURCE_CACHE")
    cache = Path(given) if given else release.root / "third-party" / ".cache"
    written = json.dumps(bill(release.root, release.version, cache), indent=1) + "\n"
    (release.out / f"{project(release.root)['project']['name']}.cdx.json").write_text(written)


_NDK = Need(
    "an Android NDK (ANDROID_NDK)",
    lambda release: (release.ndk / "build" / "cmake" / "android.toolchain.cmake").is_file(),
)
_FRAMEWORKS = Need(
    "frameworks of this version in cmake-out (macOS: scripts/build_apple_frameworks.sh, zipped as NAME-VERSION.zip)",
    lambda release: (release.build / f"executorch-{release.version}.zip").is_file(),
)

PARTS = (
    Part("notes", "notes.md: the changelog of the version", make=_notes),
    Part(
        "wheel", "wheels, as `make wheel` left them",
        (Need("a wheel of this version in dist/ (make wheel)", lambda release: bool(release.wheels)),),
        make=_wheels,
        per_machine=True,
    ),
    Part(
        "sdist", "source archive with third-party sources",
        (Need("scikit-build-core (make setup)", lambda _: find_spec("scikit_build_core") is not None),
         program("cmake")),
        ('{python} -c "import sys, scikit_build_core.build as b; b.build_sdist(sys.argv[1])" {out}',),
    ),
    Part(
        "archive", "libraries, headers, programs and CMake package for C++",
        (Need("a build (make build)", lambda release: (release.build / "cmake_install.cmake").is_file()),
         program("cmake")),
        (f"cmake --install {{build}} --prefix {{out}}/executorch-{{version}}-{sys.platform}-{platform.machine()}",),
        _pack,
        per_machine=True,
    ),
    Part(
        "aar", "executorch.aar and its sum",
        (_NDK, program("kotlinc", "kotlin"), program("javac", "default-jdk-headless")),
        ("env BUILD_AAR_DIR={out} PYTHON_EXECUTABLE={python} scripts/build_android_library.sh",),
    ),
    Part(
        "npm", "folder for npm: WebAssembly, CommonJS, modules, types",
        (program("emcmake", "emscripten"), program("cmake")),
        ("emcmake cmake -S {root} --preset wasm",
         "cmake --build {root}/cmake-out-wasm --target executorch_wasm_package",
         "cmake -E copy_directory {root}/cmake-out-wasm/extension/wasm/package {out}/executorch"),
    ),
    Part("swift-plan", "Package.swift of a checkout, and the commands that a Mac runs", make=_swift_plan),
    Part(
        "swift", "Package.swift of the release, with the sums of its frameworks",
        (_FRAMEWORKS,),
        ("{python} -m executorch.tools.apple release --version {version} --archives {build} --out {out}/Package.swift",
         "cmake -E copy_directory {root}/.Package.swift {out}/.Package.swift"),
    ),
    Part(
        "conda", "meta.yaml for conda-build",
        (Need("a source archive (sdist)", lambda release: bool(release.archives)),),
        make=_conda,
    ),
    Part("sbom", "executorch.cdx.json: what is inside, with licences (CycloneDX)", make=_sbom),
)  # fmt: skip
