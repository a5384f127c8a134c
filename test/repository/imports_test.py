# SPDX-License-Identifier: BSD-3-Clause
"""Import paths as the documents print them, and the same modules under their root-relative names."""

from __future__ import annotations

import importlib
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.extension.pybindings import portable_lib
from executorch.test.repository.sources import ROOT

# module -> names that documents import from it
DOCUMENTED = {
    "executorch.exir": (
        "CaptureConfig",
        "EdgeCompileConfig",
        "EdgeProgramManager",
        "ExecutorchBackendConfig",
        "ExecutorchProgramManager",
        "to_edge",
        "to_edge_transform_and_lower",
    ),
    "executorch.exir.capture": ("CaptureConfig",),
    "executorch.exir.dialects._ops": ("ops",),
    "executorch.exir.memory_planning": ("greedy", "naive"),
    "executorch.exir.pass_base": ("ExportPass",),
    "executorch.exir.pass_manager": ("PassManager",),
    "executorch.exir.passes": ("MemoryPlanningPass",),
    "executorch.exir.print_program": ("inspect_node",),
    "executorch.exir.program": ("to_edge",),
    "executorch.exir.schema": ("Program",),
    "executorch.exir.tensor": ("TensorSpec",),
    "executorch.extension.export_util.utils": ("save_pte_program",),
    "executorch.extension.pybindings.portable_lib": ("_load_for_executorch",),
    "executorch.runtime": ("BackendRegistry", "Method", "OperatorRegistry", "Program", "Runtime"),
    "executorch.examples.models": ("MODEL_NAME_TO_MODEL",),
}


@pytest.mark.req("CMP-009")
@pytest.mark.parametrize("module", DOCUMENTED)
def test_documented_imports(module: str) -> None:
    loaded = importlib.import_module(module)
    missing = [name for name in DOCUMENTED[module] if not hasattr(loaded, name)]
    assert not missing


# Packages that documents import.
MODULES = """exir export runtime devtools devtools.backend_debug devtools.inspector devtools.bundled_program.config
    devtools.bundled_program.core devtools.bundled_program.serialize extension.pybindings extension.export_util.utils
    util.activation_memory_profiler backends.xnnpack backends.vulkan backends.arm backends.apple backends.cadence
    backends.mediatek backends.openvino backends.nxp backends.qualcomm backends.samsung
    backends.transforms examples""".split()


@pytest.mark.req("PY-021")
def test_every_documented_module_imports() -> None:
    """All in one process that has imported nothing else."""
    code = f"import importlib\nfor each in {MODULES}: importlib.import_module('executorch.' + each)"
    done = from_root("-W", "error::ImportWarning", "-c", code)
    assert done.returncode == 0, done.stderr


SOURCES_NAMED = (
    "exir.pass_base",
    "exir.memory_planning",
    "exir.capture._config",
    "exir.backend.backend_api",
    "exir.backend.backend_details",
    "exir.backend.utils",
    "exir.backend.partitioner",
    "exir.backend.canonical_partitioners.pattern_op_partitioner",
    "exir.backend.test.backend_with_compiler_demo",
    "exir.backend.test.backend_with_delegate_mapping_demo",
    "exir.backend.test.op_partitioner_demo",
    "exir.passes._quant_patterns_and_replacements",
    "exir.passes.replace_edge_with_backend_pass",
    "exir.passes.external_constants_pass",
)


@pytest.mark.req("CMP-013")
@pytest.mark.parametrize("module", SOURCES_NAMED)
def test_sources_that_documents_name_import(module: str) -> None:
    loaded = importlib.import_module(f"executorch.{module}")
    home = Path(os.environ.get("EXECUTORCH_INSTALLED", ROOT))
    assert Path(loaded.__file__ or "").resolve() == home / f"{module.replace('.', '/')}.py"
    assert (ROOT / "exir/dialects/edge/edge.yaml").stat().st_size > 0


@pytest.mark.req("CMP-C08")
def test_the_delegate_call_is_a_higher_order_operator() -> None:
    from executorch.exir.delegate import executorch_call_delegate

    assert torch.ops.higher_order.executorch_call_delegate is executorch_call_delegate


def from_root(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "name", ["exir", "exir.tensor", "runtime", "extension.export_util", "test.e2e"]
)
def test_root_relative_names_are_the_same_modules(name: str) -> None:
    code = (
        f"import sys, {name}, executorch.{name};"
        f"sys.exit(sys.modules['{name}'] is not sys.modules['executorch.{name}'])"
    )
    done = from_root("-c", code)
    assert done.returncode == 0, done.stderr


@pytest.mark.req("NPU-058")
@pytest.mark.parametrize("package", ["examples", "executorch.examples"])
def test_the_exporter_runs_from_the_root(package: str, tmp_path: Path) -> None:
    script = f"{package}.portable.scripts.export"
    done = from_root("-m", script, "--model_name=add", "--output_dir", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["add.pte"]


@pytest.mark.req("CMP-035", "BLD-069")
def test_the_test_exporter_writes_program_and_data(tmp_path: Path) -> None:
    done = from_root(
        *("-m", "test.models.export_program", "--modules", "ModuleAddMul"),
        *("--external-constants", "--outdir", str(tmp_path)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.suffix for path in tmp_path.iterdir()} == {".pte", ".ptd"}
    data = (tmp_path / "ModuleAddMulProgram.ptd").read_bytes()
    root, magic = struct.unpack_from("<I4s", data)
    extended, size, flatbuffer, length, segments, total = struct.unpack_from("<4sIQQQQ", data, 8)
    assert (magic, extended, size) == (b"FT01", b"FH01", 40)
    assert flatbuffer <= root < flatbuffer + length <= segments
    assert segments + total == len(data)
    assert struct.pack("<4f", *[3.0] * 4) in data[segments:]  # the factor
    (program,) = tmp_path.glob("*.pte")
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    module = portable_lib._load_for_executorch(
        str(program), str(tmp_path / "ModuleAddMulProgram.ptd")
    )
    torch.testing.assert_close(module.forward([x])[0], torch.full((2, 2), 3.0) @ x + 2)
