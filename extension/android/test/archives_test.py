# SPDX-License-Identifier: BSD-3-Clause
"""Archives, and the script that builds them, with stand-ins for CMake, the NDK and a phone's library."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from executorch.extension.android.test import jvm
from executorch.tools.android import archive
from executorch.tools.android.__main__ import main
from executorch.tools.android.classes import ROOT

SCRIPT = ROOT / "scripts" / "build_android_library.sh"
CLASS = "org/pytorch/executorch/Module.class"
POM = "{http://maven.apache.org/POM/4.0.0}"
# Says what it is asked for and writes what a build leaves.
CMAKE = """#!/bin/sh
echo "$@" >>"$CMAKE_LOG"
case $1 in
  --build) mkdir -p "$2/extension/android" && echo "library of $2" >"$2/extension/android/libexecutorch.so" ;;
esac
"""


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    file = tmp_path / "classes" / CLASS
    file.parent.mkdir(parents=True)
    file.write_bytes(b"class")
    return tmp_path / "classes"


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    folder = tmp_path / "so"
    for abi in ("arm64-v8a", "x86_64"):
        (folder / abi).mkdir(parents=True)
        (folder / abi / "libexecutorch.so").write_text(abi)
    return folder


@pytest.mark.req("AND-010", "AND-016", "AND-C04")
def test_the_archive_has_the_documented_layout(
    classes: Path, libraries: Path, tmp_path: Path
) -> None:
    (libraries / "arm64-v8a" / "libQnnHtp.so").write_text("vendor's")
    words = [
        "aar",
        "--classes",
        str(classes),
        "--libraries",
        str(libraries),
        "--out",
        str(tmp_path / "new" / "out"),
    ]
    assert main(words) == 0
    aar = tmp_path / "new" / "out" / "executorch.aar"
    assert sorted(archive.names(aar)) == [
        "AndroidManifest.xml",
        "META-INF/com/android/build/gradle/aar-metadata.properties",
        "R.txt",
        "classes.jar",
        "jni/arm64-v8a/libQnnHtp.so",
        "jni/arm64-v8a/libexecutorch.so",
        "jni/x86_64/libexecutorch.so",
        "proguard.txt",
    ]
    with zipfile.ZipFile(aar) as opened:
        manifest = ElementTree.fromstring(opened.read("AndroidManifest.xml"))
        assert manifest.get("package") == "org.pytorch.executorch"
        assert [child.tag for child in manifest] == ["uses-sdk"], "no components"
        assert opened.read("jni/x86_64/libexecutorch.so") == b"x86_64"
        assert {entry.external_attr >> 16 for entry in opened.infolist()} == {0o644}
        (tmp_path / "classes.jar").write_bytes(opened.read("classes.jar"))
        rules = opened.read("proguard.txt").decode()
    assert list(archive.names(tmp_path / "classes.jar")) == [CLASS]
    assert "internal.Natives" in rules and "native <methods>" in rules
    sums = aar.with_name("executorch.aar.sha256sums").read_text()
    assert sums == f"{hashlib.sha256(aar.read_bytes()).hexdigest()}  executorch.aar\n"
    again = archive.write_aar(tmp_path / "again", classes, libraries)
    assert again.read_bytes() == aar.read_bytes(), "the same contents have the same sum"


@pytest.mark.req("AND-011", "AND-012", "AND-027", "VK-020")
def test_flavours_in_a_maven_repository(classes: Path, libraries: Path, tmp_path: Path) -> None:
    artifacts = {
        "xnnpack": "executorch-android",
        "vulkan": "executorch-android-vulkan",
        "qnn": "executorch-android-qnn",
    }
    for flavor, artifact in artifacts.items():
        words = [
            "aar",
            "--classes",
            str(classes),
            "--libraries",
            str(libraries),
            "--out",
            str(tmp_path / flavor),
        ]
        words += ["--flavor", flavor, "--maven", str(tmp_path), "--version", "1.0.0"]
        assert main(words) == 0
        assert main(words) == 0, "again"
        folder = tmp_path / "org/pytorch" / artifact / "1.0.0"
        assert (folder / f"{artifact}-1.0.0.aar").exists()
        pom = ElementTree.parse(folder / f"{artifact}-1.0.0.pom").getroot()
        assert [pom.findtext(POM + tag) for tag in ("groupId", "artifactId", "version", "packaging")] == [
            "org.pytorch", artifact, "1.0.0", "aar",
        ]  # fmt: skip
        assert pom.findtext(f"{POM}name") == "ExecuTorch for Android"
        wanted = {
            d.findtext(f"{POM}artifactId"): d.findtext(f"{POM}version")
            for d in pom.iter(f"{POM}dependency")
        }
        assert (
            wanted["fbjni"] == "0.7.0"
            and wanted["nativeloader"] == "0.10.5"
            and "kotlin-stdlib" in wanted
        )
        assert wanted.get("qnn-runtime") == ("2.37.0" if flavor == "qnn" else None)


@pytest.mark.req("AND-013", "AND-014")
def test_folders_of_releases_and_snapshots(tmp_path: Path) -> None:
    aar = tmp_path / "executorch.aar"
    aar.write_bytes(b"archive")
    for flavor in ("xnnpack", "qnn", "vulkan"):
        words = ["release", "--aar", str(aar), "--out", str(tmp_path), "--flavor", flavor]
        for _ in ("once", "again"):
            assert main([*words, "--version", "1.0.0"]) == 0
        place = tmp_path / f"executorch/release/1.0.0-{flavor}"
        check = ["sha256sum", "--check", "executorch.aar.sha256sums"]
        subprocess.run(check, cwd=place, check=True, capture_output=True)
    assert (
        main(["release", "--aar", str(aar), "--out", str(tmp_path), "--snapshot", "20250412"]) == 0
    )
    assert (tmp_path / "executorch/release/snapshot-20250412/executorch.aar").exists()
    for day in ("today", "2025412", "2025-4-1"):
        assert main(["release", "--aar", str(aar), "--out", str(tmp_path), "--snapshot", day]) == 1


def test_what_does_not_belong_into_an_archive(
    classes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "so"
    folder.mkdir()
    words = ["aar", "--classes", str(classes), "--libraries", str(folder), "--out", str(tmp_path)]
    assert main(words) == 1 and "expected folders arm64-v8a" in capsys.readouterr().err
    (folder / "mips").mkdir()
    assert main(words) == 1 and "no ABI of Android" in capsys.readouterr().err
    (folder / "mips").rename(folder / "x86_64")
    assert main(words) == 1 and "expected libexecutorch.so, found []" in capsys.readouterr().err
    library = ["--library", f"windows-x86_64={classes / CLASS}"]
    assert main(["jvm", *library, "--classes", str(classes), "--out", str(tmp_path / "x.jar")]) == 1
    assert "expected linux-x86_64 or linux-aarch64" in capsys.readouterr().err


def test_the_jar_for_desktops(classes: Path, tmp_path: Path) -> None:
    library = tmp_path / "library.so"
    library.write_text("library")
    pairs = [word for desktop in archive.DESKTOPS for word in ("--library", f"{desktop}={library}")]
    jar = tmp_path / "executorch-jvm.jar"
    assert (
        main(
            ["jvm", *pairs, "--classes", str(classes), "--out", str(jar), "--maven", str(tmp_path)]
        )
        == 0
    )
    assert set(archive.names(jar)) == {
        CLASS, "META-INF/MANIFEST.MF", "native/linux-aarch64/libexecutorch.so", "native/linux-x86_64/libexecutorch.so",
    }  # fmt: skip
    name = f"executorch-jvm-{archive.VERSION}"
    pom = tmp_path / "org/pytorch/executorch-jvm" / archive.VERSION / f"{name}.pom"
    assert ElementTree.parse(pom).getroot().findtext(f"{POM}name") == "ExecuTorch for the JVM"


def script(folder: Path, program: str = CMAKE, **variables: str) -> tuple[int, str, str]:
    """The script in a tree of its own, so that nothing of this one is touched; its code, errors and cmake's words."""
    for name in ("bin", "scripts"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "scripts" / SCRIPT.name).write_text(SCRIPT.read_text())
    for name in ("src", "version.txt", "tools", "extension"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    cmake = folder / "bin" / "cmake"
    cmake.write_text(program)
    cmake.chmod(0o755)
    log = folder / "cmake.log"
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANDROID", "QNN", "NEURON"))
    }
    kept |= {"PATH": f"{folder / 'bin'}:{kept['PATH']}", "CMAKE_LOG": str(log)}
    done = subprocess.run(
        ["sh", folder / "scripts" / SCRIPT.name], cwd=folder, env=kept | variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stderr, log.read_text() if log.exists() else ""


@pytest.fixture
def ndk(tmp_path: Path) -> str:
    toolchain = tmp_path / "ndk/build/cmake/android.toolchain.cmake"
    toolchain.parent.mkdir(parents=True)
    toolchain.touch()
    return str(tmp_path / "ndk")


@pytest.mark.req("AND-017", "AND-C01")
@pytest.mark.parametrize("name", ["build_android_library.sh", "build_android_libraries.sh"])
def test_without_the_ndk_the_script_says_what_it_needs(name: str, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "ANDROID_NDK": str(tmp_path),
        "ANDROID_HOME": str(tmp_path),
    }
    done = subprocess.run(
        ["sh", SCRIPT.with_name(name)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"no Android NDK at {tmp_path}: set ANDROID_NDK to its folder, which has NOTICE" in line


@pytest.mark.req("AND-018", "AND-020", "AND-021")
@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        (
            {},
            (
                "android-arm64-v8a",
                "android-x86_64",
                "DCMAKE_BUILD_TYPE=Release",
                "DEXECUTORCH_BUILD_LLAMA_JNI=ON",
            ),
        ),
        (
            {"ANDROID_ABIS": "x86_64"},
            ("android-x86_64 ", "DANDROID_PLATFORM=android-26", "XNNPACK_ENABLE_ARM_SME2=ON"),
        ),
        (
            {"ANDROID_ABIS": "armeabi-v7a", "EXECUTORCH_CMAKE_BUILD_TYPE": "Debug"},
            ("android-armeabi-v7a", "=Debug"),
        ),
        ({"EXECUTORCH_BUILD_VULKAN": "ON"}, ("DEXECUTORCH_BUILD_VULKAN=ON",)),
        ({"QNN_SDK_ROOT": "/qnn"}, ("-DEXECUTORCH_BUILD_QNN=ON -DQNN_SDK_ROOT=/qnn",)),
        (
            {"NEURON_BUFFER_ALLOCATOR_LIB": "/a.so", "NEURON_USDK_ADAPTER_LIB": "/b.so"},
            (
                "DEXECUTORCH_BUILD_NEURON=ON -DNEURON_BUFFER_ALLOCATOR_LIB=/a.so -DNEURON_USDK_ADAPTER_LIB=/b.so",
            ),
        ),
        (
            {"EXECUTORCH_ANDROID_PROFILING": "ON", "EXECUTORCH_BUILD_EXTENSION_LLM": "OFF"},
            ("DEXECUTORCH_ANDROID_PROFILING=ON", "DEXECUTORCH_BUILD_EXTENSION_ASR_RUNNER=OFF"),
        ),
    ],
    ids=lambda value: next(iter(value), "none") if isinstance(value, dict) else "",
)
def test_variables_become_options(
    variables: dict[str, str], asked: tuple[str, ...], ndk: str, tmp_path: Path
) -> None:
    # The last step compiles classes; `false` ends the script there.
    _, errors, words = script(tmp_path, ANDROID_NDK=ndk, PYTHON_EXECUTABLE="false", **variables)
    for word in asked:
        assert word in words, words + errors
    if "ANDROID_ABIS" in variables:
        assert words.count("--preset") == 1


def test_an_unknown_abi_is_refused(ndk: str, tmp_path: Path) -> None:
    code, errors, words = script(tmp_path, ANDROID_NDK=ndk, ANDROID_ABIS="mips")
    assert code == 2 and "'mips' is none of arm64-v8a, x86_64, armeabi-v7a" in errors and not words


@pytest.mark.req("AND-019")
def test_the_archive_goes_where_it_is_wanted(ndk: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$@" >>"$CMAKE_LOG"\n')
    python.chmod(0o755)
    asked = {
        "ANDROID_ABIS": "arm64-v8a",
        "BUILD_AAR_DIR": "elsewhere",
        "EXECUTORCH_BUILD_VULKAN": "ON",
    }
    code, errors, words = script(tmp_path, ANDROID_NDK=ndk, PYTHON_EXECUTABLE=str(python), **asked)
    assert code == 0, errors
    last = words.splitlines()[-1]
    libraries = tmp_path / "cmake-out-android-so"
    assert (
        last
        == f"-m executorch.tools.android aar --libraries {libraries} --out elsewhere --flavor vulkan"
    )
    assert (libraries / "arm64-v8a" / "libexecutorch.so").exists()


@pytest.mark.full
def test_the_script_makes_an_archive_of_what_was_built(ndk: str, tmp_path: Path) -> None:
    """The whole script but CMake, whose place has the library for this computer: classes compiled, all of it in."""
    if reason := jvm.what_is_missing():
        pytest.skip(reason)
    copy = f'cp "{jvm.LIBRARY}" "$2/extension/android/libexecutorch.so"'
    cmake = re.sub(r'echo "library of.*?so"', lambda _: copy, CMAKE)
    asked = {"ANDROID_ABIS": "x86_64", "PYTHON_EXECUTABLE": sys.executable}
    code, errors, _ = script(tmp_path, cmake, ANDROID_NDK=ndk, **asked)
    assert code == 0, errors
    with zipfile.ZipFile(tmp_path / "aar-out" / "executorch.aar") as aar:
        assert aar.read("jni/x86_64/libexecutorch.so") == jvm.LIBRARY.read_bytes()
        (tmp_path / "classes.jar").write_bytes(aar.read("classes.jar"))
    found = set(archive.names(tmp_path / "classes.jar"))
    assert {CLASS, "org/pytorch/executorch/extension/llm/LlmModule.class"} <= found


@pytest.mark.req("AND-024")
def test_every_backend_of_android_has_its_option() -> None:
    """Some are refused by name for want of a vendor's SDK, which is an answer, too."""
    files = [ROOT / "tools/cmake/RefusedOptions.cmake", *(ROOT / "backends").rglob("options.cmake")]
    text = "\n".join(file.read_text() for file in files)
    for backend in ("XNNPACK", "VULKAN", "QNN", "NEURON", "ENN", "VGF"):
        assert f"EXECUTORCH_BUILD_{backend}" in text, backend
