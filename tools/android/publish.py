# SPDX-License-Identifier: BSD-3-Clause
"""Where archives go: a Maven repository, and the folders that releases and snapshots are downloaded from."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from xml.sax.saxutils import escape

from executorch.tools.android.archive import VERSION, write_sums

# Flavour: what its artifact is called, and dependencies beyond those of all.
FLAVORS: dict[str, tuple[str, tuple[tuple[str, str, str], ...]]] = {
    "xnnpack": ("executorch-android", ()),
    "vulkan": ("executorch-android-vulkan", ()),
    "qnn": ("executorch-android-qnn", (("com.qualcomm.qti", "qnn-runtime", "{qnn_version}"),)),
}
QNN_VERSION = "2.37.0"
KOTLIN = ("org.jetbrains.kotlin", "kotlin-stdlib", "1.9.23")
# Older apps declare these themselves; this library loads without them.
DEPENDENCIES = (
    KOTLIN,
    ("com.facebook.fbjni", "fbjni", "0.7.0"),
    ("com.facebook.soloader", "nativeloader", "0.10.5"),
    ("androidx.core", "core-ktx", "1.13.1"),
)
_DEPENDENCY = """    <dependency>
      <groupId>{}</groupId>
      <artifactId>{}</artifactId>
      <version>{}</version>
      <scope>runtime</scope>
    </dependency>"""
_POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.pytorch</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <packaging>{packaging}</packaging>
  <name>{name}</name>
  <description>{description}</description>
  <licenses>
    <license>
      <name>BSD 3-Clause</name>
      <url>https://opensource.org/license/bsd-3-clause</url>
    </license>
  </licenses>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""


def pom(
    artifact: str, version: str, packaging: str, dependencies: tuple[tuple[str, str, str], ...]
) -> str:
    rows = "\n".join(_DEPENDENCY.format(*map(escape, row)) for row in dependencies)
    place = "Android" if packaging == "aar" else "the JVM"
    return _POM.format(
        artifact=artifact, version=escape(version), packaging=packaging, name=f"ExecuTorch for {place}",
        description=f"Runs PyTorch models on {place}", dependencies=rows,
    )  # fmt: skip


def publish(
    repository: Path, archive: Path, flavor: str, version: str = VERSION, qnn: str = QNN_VERSION
) -> Path:
    """Into a local Maven repository, which `maven(url)` of Gradle and `mvn` read; the artifact's folder."""
    artifact, more = FLAVORS[flavor]
    dependencies = DEPENDENCIES + tuple(
        (group, name, wanted.format(qnn_version=qnn)) for group, name, wanted in more
    )
    return _deposit(repository, archive, artifact, version, "aar", dependencies)


def publish_jvm(repository: Path, jar: Path, version: str = VERSION) -> Path:
    return _deposit(repository, jar, "executorch-jvm", version, "jar", (KOTLIN,))


def _deposit(
    repository: Path,
    archive: Path,
    artifact: str,
    version: str,
    packaging: str,
    dependencies: tuple[tuple[str, str, str], ...],
) -> Path:
    folder = repository / "org" / "pytorch" / artifact / version
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{artifact}-{version}"
    shutil.copyfile(archive, folder / f"{stem}.{packaging}")
    (folder / f"{stem}.pom").write_text(pom(artifact, version, packaging, dependencies))
    for name in (f"{stem}.{packaging}", f"{stem}.pom"):
        for kind in ("sha256", "sha1"):
            digest = hashlib.new(kind, (folder / name).read_bytes()).hexdigest()
            (folder / f"{name}.{kind}").write_text(digest)
    return folder


def release_folder(flavor: str, version: str = VERSION, snapshot: str = "") -> str:
    """Of a release by flavour; `snapshot`: YYYYMMDD, which has one flavour."""
    if not snapshot:
        return f"executorch/release/{version}-{flavor}"
    if len(snapshot) != 8 or not snapshot.isdigit():
        raise ValueError(f"{snapshot}: expected a day as YYYYMMDD")
    return f"executorch/release/snapshot-{snapshot}"


def release(out: Path, archive: Path, folder: str) -> Path:
    place = out / folder
    place.mkdir(parents=True, exist_ok=True)
    copy = place / "executorch.aar"
    shutil.copyfile(archive, copy)
    write_sums(copy)
    return place
