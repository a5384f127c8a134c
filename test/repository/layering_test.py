# SPDX-License-Identifier: BSD-3-Clause
"""Layers point one way: every #include and import of the product is held against the tables below."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.test.repository.sources import imports, includes, with_suffix

# folder -> root folders that its C++ may include (itself always)
CPP_LAYERS = {
    "schema": set(),
    "runtime": {"schema"},
    "kernels": {"runtime", "schema", "extension"},
    "backends": {"runtime", "schema", "extension", "kernels"},
    "extension": {"runtime", "schema", "kernels"},
    "devtools": {"runtime", "schema", "extension"},
    "exir": {"runtime", "schema", "extension"},
}
# What kernels may take from extension/: the unboxing template and the thread pool, both below kernels.
KERNEL_EXTENSIONS = ("extension/kernel_util/", "extension/threadpool/", "extension/parallel/")

# What stands above the developer tools, at the paths that are documented: the Python runtime and BundledModule.
ABOVE_DEVTOOLS = ("extension/pybindings/", "extension/module/bundled_module")

# A documented header that reads files for the runtime and returns its errors; it is compiled into the core.
PART_OF_RUNTIME = ("schema/extended_header.h", "schema/extended_header.cpp")

# folder -> root packages that its Python may import (itself always)
PYTHON_LAYERS = {
    "schema": set(),
    "runtime": {"extension"},
    "exir": {"schema", "extension"},
    "codegen": {"schema", "exir"},
    "kernels": {"schema", "exir", "codegen"},
    "backends": {"schema", "exir"},
    "extension": {"schema", "exir", "runtime"},
    "export": {"schema", "exir", "backends", "extension", "runtime", "devtools"},
    "devtools": {"schema", "exir", "extension", "runtime", "codegen"},
}
ROOTS = {*CPP_LAYERS, *PYTHON_LAYERS, "examples", "test", "tools"}
# Documented paths above what their root may import: the command that exports language models is under extension/, and
# packs weights for torchao's kernels.
ABOVE = {"extension/llm/": {"backends", "devtools", "kernels"}}
# What a backend offers to executorch.export, which finds it by registration.
RECIPES = "recipes"


def is_test(path: Path) -> bool:
    return (
        path.stem.endswith(("_test", "_bench"))
        or path.stem.startswith("test_")
        or any(part in ("test", "testing_util") for part in path.parts[:-1])
    )


def cpp_offence(path: Path, included: str) -> str | None:
    """Why `path` may not include `included`; None when it may."""
    folder, parts = path.parts[0], included.split("/")
    if str(path) in PART_OF_RUNTIME:
        folder = "runtime"
    if parts[0] != "executorch" or len(parts) < 3:
        return None
    target = parts[1]
    if target not in ROOTS or target == folder:
        return None
    if target in ("examples", "test", "tools"):
        return f"nothing includes {target}/"
    if target == "devtools" and str(path).startswith(ABOVE_DEVTOOLS):
        return None
    if target not in CPP_LAYERS[folder]:
        return f"{folder}/ may not include {target}/"
    if folder == "kernels" and target == "extension":
        inside = "/".join(parts[1:])
        if not inside.startswith(KERNEL_EXTENSIONS):
            return f"kernels/ may take only {', '.join(KERNEL_EXTENSIONS)} from extension/"
    return None


def python_offence(path: Path, module: str) -> str | None:
    """Why `path` may not import `module`; None when it may."""
    folder, parts = path.parts[0], module.split(".")
    if parts[0] == "executorch":
        parts = parts[1:]
    if not parts or parts[0] not in ROOTS or parts[0] == folder:
        return None
    if parts[0] in ("examples", "test", "tools"):
        return f"nothing imports from {parts[0]}/"
    if parts[0] == "export" and folder == "backends" and RECIPES in path.parts:
        return None
    for place, more in ABOVE.items():
        if str(path).startswith(place) and parts[0] in more:
            return None
    if parts[0] not in PYTHON_LAYERS[folder]:
        return f"{folder}/ may not import {parts[0]}"
    return None


def test_includes_point_down() -> None:
    offences = [
        f"{path}:{line}: <{included}>: {why}"
        for path in with_suffix(".h", ".cpp")
        if path.parts[0] in CPP_LAYERS and not is_test(path)
        for line, included in includes(path)
        if (why := cpp_offence(path, included))
    ]
    assert not offences, "\n".join(offences)


def test_imports_point_down() -> None:
    offences = [
        f"{path}:{line}: {module}: {why}"
        for path in with_suffix(".py")
        if path.parts[0] in PYTHON_LAYERS and not is_test(path)
        for line, module in imports(path)
        if (why := python_offence(path, module))
    ]
    assert not offences, "\n".join(offences)


@pytest.mark.req("RT-046", "EMB-031")
def test_runtime_includes_no_file_of_another_project() -> None:
    """flatbuffers and the headers of systems aside: the core depends on nothing else."""
    allowed = ("executorch/", "flatbuffers/", "c10/", "torch/headeronly/")
    offences = [
        f"{path}:{line}: <{included}>"
        for path in with_suffix(".h", ".cpp")
        if path.parts[0] in ("runtime", "schema") and not is_test(path)
        for line, included in includes(path)
        if "/" in included and not included.startswith((*allowed, "sys/", "android/"))
    ]
    assert not offences, "\n".join(offences)


@pytest.mark.parametrize(
    "path, included",
    [
        ("runtime/core/x.h", "executorch/kernels/portable/y.h"),
        ("runtime/core/x.h", "executorch/extension/module/module.h"),
        ("kernels/portable/x.cpp", "executorch/extension/module/module.h"),
        ("extension/module/x.cpp", "executorch/backends/xnnpack/y.h"),
        ("schema/x.h", "executorch/runtime/core/error.h"),
        ("runtime/core/x.h", "executorch/test/y.h"),
    ],
)
def test_an_include_that_points_up_is_found(path: str, included: str) -> None:
    assert cpp_offence(Path(path), included)


@pytest.mark.parametrize(
    "path, module",
    [
        ("exir/x.py", "executorch.backends.xnnpack"),
        ("exir/x.py", "export"),
        ("schema/x.py", "executorch.exir"),
        ("backends/a/x.py", "executorch.examples.models"),
    ],
)
def test_an_import_that_points_up_is_found(path: str, module: str) -> None:
    assert python_offence(Path(path), module)
