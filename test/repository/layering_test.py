# SPDX-License-Identifier: BSD-3-Clause
"""Layers point one way: every #include and import of the product is held against the tables below."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from executorch.test.repository.compiler_modules import UP, imported_modules
from executorch.test.repository.sources import imports, includes, is_test, with_suffix

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

# What stands above the developer tools, at the paths that are documented: the Python runtime and BundledModule; and the
# interfaces for C and Java, which have events.
ABOVE_DEVTOOLS = (
    "extension/pybindings/",
    "extension/module/bundled_module",
    "extension/c/parts/events.cpp",
    "extension/android/jni/etdump.cpp",
)

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
# packs weights for torchao's kernels. Commands of a backend stand in its scripts/: they load example models and write
# bundled programs.
ABOVE = {
    "extension/llm/*": {"backends", "devtools", "kernels"},
    "extension/audio/*": {"backends"},  # the documented command writes programs for XNNPACK
    "backends/*/scripts/*": {"devtools", "examples"},
    # runs bundled programs and reads their events; its compiler writes records
    "backends/cadence/runtime/*": {"devtools"},
    "backends/cadence/aot/compiler.py": {"devtools"},
}
# Rooms on which others of their root stand: all that they take of ours, in C++ and Python (themselves always).
ROOMS = {
    "extension/text": ("runtime",),
    "extension/text/tokenizers": (),
    "extension/llm/formats": (),
    "extension/llm/custom_ops": ("exir", "kernels", "runtime", "extension/llm/formats"),
    "extension/llm/model": ("extension/llm/custom_ops",),
    "extension/llm/checkpoint": ("exir", "extension/llm/formats", "extension/llm/model"),
    "extension/llm/quantization": (
        "devtools",
        "exir",
        "kernels",
        *(f"extension/llm/{room}" for room in ("formats", "custom_ops", "model", "checkpoint")),
    ),
}
# The compiler's floors, from the ground: patterns of modules below exir, of which the longest that fits counts. A
# module imports what is on its own floor or below.
COMPILER_FLOORS = {
    "names, errors, specs, dialects, facts about graphs": """
        error version types common _warnings scalar_type sym_util dynamic_shape dim_order_utils tensor tensor_layout
        memory debug_handle_utils graph graph_module graph_facts control_flow delegate dialects dialects.* operator
        operator.* passes.*_ops_registry _pass_values""",
    "edits of graphs and programs, and how passes run": """
        program_copies pass_base memory_lifetimes tracer wrap capture._unlift""",
    "the re-trace, and what becomes of operators": """
        pass_manager retrace retrace.* decompositions decompositions.* dialects.edge.op dialects.edge.op.*
        _program_utils""",
    "bytes": "_serialize.*",
    "passes, and what stands for a delegate in a graph": """
        passes passes.* memory_planning verification verification.* capture capture._config lowered_backend_module
        backend._submodules backend.backend_details backend.compile_spec_schema backend.partitioner
        backend.lowering.quantized backend.lowering.quantized_steps""",
    "delegates": "backend backend.*",
    "emitting": "emit emit.* print_program dump dump.* _serialize _serialize._serialize",
    "the way of a program": """
        program program.* serde serde.* capture._capture capture._names capture.diagnostics capture.diagnostics.*
        passes.quantize_io_pass""",
}
# What a backend offers to executorch.export, which finds it by registration.
RECIPES = "recipes"


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
    for place, more in ABOVE.items():
        if fnmatchcase(str(path), place) and parts[0] in more:
            return None
    if parts[0] in ("examples", "test", "tools"):
        return f"nothing imports from {parts[0]}/"
    if parts[0] == "export" and folder == "backends" and RECIPES in path.parts:
        return None
    if parts[0] not in PYTHON_LAYERS[folder]:
        return f"{folder}/ may not import {parts[0]}"
    return None


def room_offence(path: Path, target: str) -> str | None:
    """Why `path` may not take `target`, an included file or an imported module; None when it may."""
    inside = target.replace(".", "/").removeprefix("executorch/")
    room = max((room for room in ROOMS if path.is_relative_to(room)), key=len, default=None)
    if room is None or inside.split("/")[0] not in ROOTS:
        return None
    if any(Path(inside).is_relative_to(each) for each in (room, *ROOMS[room])):
        return None
    return f"{room}/ takes of ours only {', '.join(ROOMS[room]) or 'itself'}"


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


def test_rooms_take_what_is_below_them() -> None:
    offences = [
        f"{path}:{line}: {target}: {why}"
        for path in with_suffix(".h", ".cpp", ".py")
        if not is_test(path)
        for line, target in (imports if path.suffix == ".py" else includes)(path)
        if (why := room_offence(path, target))
    ]
    assert not offences, "\n".join(offences)


def floor_of(module: str) -> int:
    """Of a module of the compiler, such as "exir.passes.cse_pass"; -1 for one without a floor."""
    inside = module.removeprefix("exir").removeprefix(".")
    fitting = [
        (len(pattern), floor)
        for floor, patterns in enumerate(COMPILER_FLOORS.values())
        for pattern in patterns.split()
        if fnmatchcase(inside, pattern)
    ]
    return max(fitting, default=(0, -1))[1]


def test_the_compiler_imports_from_its_own_floor_or_below() -> None:
    modules = imported_modules()
    assert [name for name in modules if name != "exir" and floor_of(name) < 0] == []
    offences = [
        f"{module} imports {imported}, which is {floor_of(imported) - floor_of(module)} floors above"
        for module, all_imported in modules.items()
        for imported in all_imported
        if module != "exir" and imported != "exir" and (module, imported) not in UP
        if floor_of(imported) > floor_of(module)
    ]
    assert not offences, "\n".join(offences)


@pytest.mark.req("RT-046", "EMB-031")
def test_runtime_includes_no_file_of_another_project() -> None:
    """flatbuffers, the headers of systems, and PyTorch's in ATen mode aside: the core depends on nothing else."""
    allowed = ("executorch/", "flatbuffers/", "c10/", "torch/headeronly/")
    # Portable builds compile no x_aten.cpp.
    aten_mode = ("exec_aten.h", "aten_tensor.h", "_aten.cpp")
    offences = [
        f"{path}:{line}: <{included}>"
        for path in with_suffix(".h", ".cpp")
        if path.parts[0] in ("runtime", "schema") and not is_test(path)
        for line, included in includes(path)
        if "/" in included and not included.startswith((*allowed, "sys/", "android/"))
        if not (included.startswith("ATen/") and path.name.endswith(aten_mode))
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


@pytest.mark.parametrize(
    "path, target",
    [
        ("extension/text/sampler/x.h", "executorch/extension/llm/runner/irunner.h"),
        ("extension/text/tokenizers/x.h", "executorch/runtime/core/error.h"),
        ("extension/text/x.py", "executorch.extension.llm.model"),
        ("extension/llm/custom_ops/x.py", "executorch.extension.llm.checkpoint.gguf"),
        ("extension/llm/checkpoint/x.py", "executorch.extension.llm.quantization.weights"),
    ],
)
def test_a_room_that_takes_of_those_above_is_found(path: str, target: str) -> None:
    assert room_offence(Path(path), target)
