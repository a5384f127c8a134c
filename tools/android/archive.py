# SPDX-License-Identifier: BSD-3-Clause
"""Zip files of one form: the AAR, the jar for desktops. The same contents give the same bytes and sum."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from executorch.tools.android.classes import PROJECT, ROOT, kotlin_library

VERSION = (ROOT / "version.txt").read_text().split()[0]
ABIS = ("arm64-v8a", "x86_64", "armeabi-v7a")
LIBRARY = "libexecutorch.so"
# By os.name and os.arch, as internal/Library.java asks for them.
DESKTOPS = ("linux-x86_64", "linux-aarch64")
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="org.pytorch.executorch">
    <uses-sdk android:minSdkVersion="23" />
</manifest>
"""
METADATA = """aarFormatVersion=1.0
aarMetadataVersion=1.0
minCompileSdk=1
"""


class BadContents(ValueError):
    """What an archive is asked to hold does not belong there."""


def write_zip(path: Path, entries: Mapping[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name)  # of 1980: an archive says nothing of when it was made
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, entries[name])
    return path


def class_entries(classes: Path) -> dict[str, bytes]:
    """Of a folder of classes, or a jar."""
    if classes.is_file():
        with zipfile.ZipFile(classes) as jar:
            return {name: jar.read(name) for name in jar.namelist() if not name.endswith("/")}
    files = (file for file in classes.rglob("*") if file.is_file())
    return {file.relative_to(classes).as_posix(): file.read_bytes() for file in files}


def libraries_by_abi(folder: Path) -> dict[str, list[Path]]:
    """`folder`/<abi>/*.so, as scripts/build_android_library.sh leaves them."""
    found = {
        place.name: sorted(place.glob("*.so"))
        for place in sorted(folder.iterdir())
        if place.is_dir()
    }
    for abi, files in found.items():
        if abi not in ABIS:
            raise BadContents(f"{folder / abi}: no ABI of Android; expected {', '.join(ABIS)}")
        if LIBRARY not in [file.name for file in files]:
            raise BadContents(
                f"{folder / abi}: expected {LIBRARY}, found {[f.name for f in files]}"
            )
    if not found:
        raise BadContents(f"{folder}: expected folders {', '.join(ABIS)} with {LIBRARY} in them")
    return found


def write_aar(out: Path, classes: Path, libraries: Path) -> Path:
    """executorch.aar, and its sum beside it."""
    jar = out / "classes.jar"
    write_zip(jar, class_entries(classes))
    entries = {
        "AndroidManifest.xml": MANIFEST.encode(),
        "R.txt": b"",
        "META-INF/com/android/build/gradle/aar-metadata.properties": METADATA.encode(),
        "proguard.txt": (PROJECT / "consumer-proguard-rules.pro").read_bytes(),
        "classes.jar": jar.read_bytes(),
    }
    jar.unlink()
    for abi, files in libraries_by_abi(libraries).items():
        entries |= {f"jni/{abi}/{file.name}": file.read_bytes() for file in files}
    aar = write_zip(out / "executorch.aar", entries)
    write_sums(aar)
    return aar


def write_sums(file: Path) -> Path:
    """What `sha256sum --check` reads."""
    sums = file.with_name(f"{file.name}.sha256sums")
    sums.write_text(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n")
    return sums


def write_jvm_jar(
    out: Path, classes: Path, libraries: Mapping[str, Path], standalone: bool
) -> Path:
    """Classes, libraries by DESKTOPS; `standalone`: with Kotlin's, so that `java -cp` needs this file alone."""
    entries = class_entries(classes)
    if standalone:
        kotlin = class_entries(kotlin_library())
        entries |= {name: data for name, data in kotlin.items() if name.startswith("kotlin/")}
    for desktop, library in libraries.items():
        if desktop not in DESKTOPS:
            raise BadContents(f"{desktop}: expected {' or '.join(DESKTOPS)}")
        entries[f"native/{desktop}/{LIBRARY}"] = library.read_bytes()
    entries["META-INF/MANIFEST.MF"] = (
        f"Manifest-Version: 1.0\r\nImplementation-Version: {VERSION}\r\n\r\n".encode()
    )
    return write_zip(out, entries)


def names(archive: Path) -> Iterable[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()
