# SPDX-License-Identifier: BSD-3-Clause
"""What is in the wheel that `make test` installs, and what it says of itself."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from executorch.codegen.c import kernel_sources
from executorch.codegen.c.__main__ import TABLES, rows_by_operator
from executorch.codegen.c.libraries import LIBRARIES
from executorch.test.repository.sources import ROOT, files, imports

WHEEL = os.environ.get("EXECUTORCH_WHEEL", "")
pytestmark = pytest.mark.skipif(not WHEEL, reason="this run takes the packages of the tree")


@pytest.fixture(scope="module")
def names() -> set[str]:
    return {name.removeprefix("executorch/") for name in zipfile.ZipFile(WHEEL).namelist()}


@pytest.fixture(scope="module")
def metadata() -> email.message.Message:
    archive = zipfile.ZipFile(WHEEL)
    (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(archive.read(name))


def is_data(path: Path) -> bool:
    """Files that code opens when it runs."""
    folders = (
        "backends",
        "codegen",
        "devtools",
        "examples",
        "exir",
        "export",
        "extension",
        "kernels",
    )
    # The last is the package pytorch_tokenizers beside executorch.
    left_out = (
        "kernels/test",
        "exir/_native",
        "extension/text/tokenizers/pytorch_tokenizers",
        "extension/text/tokenizers/test",
        "extension/android/test",
        "extension/apple",
        "extension/wasm",
        "extension/c/examples/run.py",
    )
    suffixes = (".py", ".fbs", ".yaml", ".json", ".typed")
    test = path.name.endswith(("_test.py", "_bench.py")) or path.name.startswith(
        ("test_", "conftest")
    )
    if path.parts[:3] == ("backends", "test", "suite"):  # users run it on backends of their own
        test = path.name.endswith("_test.py")
    inside = path.parts[0] in (*folders, "schema", "runtime") and not str(path).startswith(left_out)
    return inside and path.suffix in suffixes and not test


@pytest.mark.req("PY-007")
def test_the_wheel_has_every_module_and_its_data(names: set[str]) -> None:
    missing = sorted(str(path) for path in files() if is_data(path) and str(path) not in names)
    assert not missing
    made_files = (
        "exir/schema.py",
        "backends/xnnpack/serialization/schema.bfbs",
        "devtools/etdump/etdump_schema_flatcc.bfbs",
        "devtools/bundled_program/schema/bundled_program_schema.bfbs",
        "py.typed",
    )
    for made in made_files:
        assert made in names
    for module in (
        "extension/pybindings/_portable_lib",
        "extension/pybindings/data_loader",
        "exir/_native",
    ):
        found = [n for n in names if n.startswith(module) and n.endswith((".so", ".pyd"))]
        assert len(found) == 1, f"{module}: {found}"


@pytest.mark.req("BLD-028", "BLD-064")
def test_the_wheel_has_what_programs_in_c_plus_plus_need(names: set[str]) -> None:
    for name in (
        "libexecutorch.a",
        "libportable_kernels.a",
        "libportable_ops_lib.a",
        "libxnnpack_backend.a",
        "libetdump.a",
        "libbundled_program.a",
    ):
        assert f"lib/{name}" in names
    for name in (
        "lib/cmake/ExecuTorch/executorch-config.cmake",
        "share/cmake/executorch-config.cmake",
    ):
        assert name in names
    assert "include/executorch/extension/module/module.h" in names
    assert "include/executorch/schema/program_generated.h" in names
    assert {"data/bin/flatc", "data/bin/executor_runner"} <= names
    # Of other languages, and of extension/c/python.
    assert [name for name in names if re.fullmatch(r"lib/(lib)?executorch_c\.[a-z]+", name)]


@pytest.mark.req("KS-017")
def test_the_wheel_has_the_sources_of_kernels(names: set[str]) -> None:
    """`executorch c --project` copies them, and the headers that they include."""
    listed = {
        str(path)
        for library in LIBRARIES
        for path in files()
        if str(path).startswith(f"{library.folder}/") and path.suffix == ".cpp"
    }
    listed = {each for each in listed if not each.endswith(("_test.cpp", "_bench.cpp"))}
    held = {n.removeprefix("share/executorch/") for n in names if n.startswith("share/executorch/")}
    assert {each for each in listed if "/test/" not in each} <= held
    assert {"LICENSE", "runtime/platform/default/minimal.cpp"} <= held
    assert not [each for each in held if each.endswith("_test.cpp")]
    assert {f"{each.folder}/{each.table}" for each in LIBRARIES} <= names
    kernels = [kernel for row in rows_by_operator(TABLES).values() for kernel in row.kernels]
    needed = set(kernel_sources.with_includes(kernel_sources.sources_of(kernels)))
    assert "backends/cortex_m/runtime/dot.h" in needed
    headers = {n.removeprefix("include/executorch/") for n in names}
    assert needed - set(kernel_sources.GENERATED) <= held | headers


@pytest.mark.skipif(not shutil.which("readelf"), reason="needs binutils")
def test_interpreters_without_libpython_load_its_modules(tmp_path: Path) -> None:
    """Those of distributions are often linked statically."""
    archive = zipfile.ZipFile(WHEEL)
    modules = [name for name in archive.namelist() if name.endswith(".so")]
    assert len(modules) >= 3
    for name in modules:
        command = ["readelf", "-d", archive.extract(name, tmp_path)]
        needs = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "NEEDED" in needs and "libpython" not in needs, (name, needs)


def test_the_wheel_has_nothing_superfluous(names: set[str]) -> None:
    dev = ("include/", "lib/", "share/")
    unwanted = (
        ".c",
        ".cpp",
        ".h",
        ".h.in",
        ".o",
        ".a",
        "_test.py",
        "CMakeLists.txt",
        ".sh",
        ".map",
    )
    for_devices = {"backends/test/device_check/check.sh"}
    read_in_python = {"examples/raspberry_pi/pico2/digits.h"}
    # by `executorch new-backend`
    copied = ("examples/projects/", "backends/skeleton/runtime/", "backends/skeleton_compiler/")
    superfluous = {n for n in names if n.endswith(unwanted) and not n.startswith((*dev, *copied))}
    assert superfluous == read_in_python | for_devices
    assert not [n for n in names if n.startswith(("test/", "tools/", "kernels/test/", "bin/"))]
    size = Path(WHEEL).stat().st_size
    # 4 MB are the C library, which programs in other languages need no build for.
    assert size < 26e6, f"the wheel has {size} bytes"


@pytest.mark.req("PY-020", "PY-C02")
def test_dependencies_are_few(metadata: email.message.Message) -> None:
    lines = metadata.get_all("Requires-Dist", [])
    needed = {re.match(r"[\w-]+", line)[0] for line in lines if "extra ==" not in line}
    allowed = "torch torchao numpy packaging pyyaml sympy typing-extensions tabulate pandas hydra-core omegaconf"
    assert needed == set(allowed.split())
    assert ">=3.10" in metadata["Requires-Python"] and "<3.14" in metadata["Requires-Python"]


@pytest.mark.req("PY-020")
def test_a_backend_imports_what_the_wheel_brings_or_its_own_requirements_name(
    metadata: email.message.Message,
) -> None:
    lines = metadata.get_all("Requires-Dist", [])
    brought = {
        re.match(r"[\w-]+", line)[0].replace("-", "_") for line in lines if "extra ==" not in line
    }
    brought |= {"executorch", "pytorch_tokenizers", "yaml", "pytest", *sys.stdlib_module_names}
    missing = []
    for path in files():
        if path.parts[0] != "backends" or path.suffix != ".py" or len(path.parts) < 3:
            continue
        if path.parts[1] == "test":  # what tests of backends are written with
            continue
        named = ROOT / path.parts[0] / path.parts[1] / "requirements.txt"
        own = set(re.findall(r"^[\w-]+", named.read_text(), re.M)) if named.exists() else set()
        for line, module in imports(path):
            root = module.partition(".")[0]
            if root not in brought | {name.replace("-", "_") for name in own}:
                missing.append(f"{path}:{line}: {root}")
    assert not missing


@pytest.mark.req("PY-020")
def test_extras_have_the_names_that_users_know(metadata: email.message.Message) -> None:
    assert {"vgf", "ethos-u", "openvino"} <= set(metadata.get_all("Provides-Extra", []))


def test_the_version_is_the_trees(metadata: email.message.Message) -> None:
    assert metadata["Version"] == (ROOT / "version.txt").read_text().strip()
    import executorch.version

    assert executorch.version.__version__ == metadata["Version"]
    assert f"cp3{sys.version_info.minor}" in Path(WHEEL).name
