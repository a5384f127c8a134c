# SPDX-License-Identifier: BSD-3-Clause
"""Arm's model converter, which makes VGF files of TOSA graphs, as a program."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from torch.export import ExportedProgram

from executorch.backends.arm.aot.lowering import tosa_of
from executorch.backends.arm.vgf.compile_spec import VgfCompileSpec
from executorch.exir.backend.lowering.external.compiler import Refused, specs_of
from executorch.exir.backend.lowering.external.tool import ExternalTool, tool_path

_NAMED, _LIBRARIES = "MODEL_CONVERTER_PATH", "MODEL_CONVERTER_LIB_DIR"


def find_model_converter_binary() -> str | None:
    named = os.environ.get(_NAMED)
    if named and os.access(named, os.X_OK):
        return named
    for name in ("model-converter", "model_converter"):
        found = tool_path("arm", name)
        if found:
            return str(found)
    return None


def require_model_converter_binary() -> str:
    found = find_model_converter_binary()
    if found is None:
        raise RuntimeError(f"{CONVERTER.why_missing()}, or name the program in {_NAMED}")
    return found


def resolve_model_converter_executable(name: str) -> str | None:
    return shutil.which(name)


def model_converter_env() -> dict[str, str]:
    environment = dict(os.environ)
    libraries = environment.get(_LIBRARIES)
    if libraries:
        before = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = f"{libraries}:{before}" if before else libraries
    return environment


def vgf_compile(
    tosa_flatbuffer: bytes, compile_flags: Sequence[str], artifact_path: str | None = None
) -> bytes:
    """A VGF file. Raises Refused for what the converter does not take."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = (Path(folder, f"output.{ending}") for ending in ("tosa", "tosa.vgf"))
        source.write_bytes(tosa_flatbuffer)
        program = require_model_converter_binary()
        command = [program, *compile_flags, "-i", str(source), "-o", str(target)]
        ran = subprocess.run(command, capture_output=True, text=True, env=model_converter_env())
        if ran.returncode or not target.exists():
            if artifact_path:
                kept = Path(artifact_path)
                kept.mkdir(parents=True, exist_ok=True)
                (kept / "failed_model_converter_input.tosa").write_bytes(tosa_flatbuffer)
            output = " ".join((ran.stderr or ran.stdout).split())[-400:]
            raise Refused(f"Vgf compiler failed. Repro command: {' '.join(command)}: {output}")
        made = target.read_bytes()
        if artifact_path:
            Path(artifact_path).mkdir(parents=True, exist_ok=True)
            Path(artifact_path, "output.tosa.vgf").write_bytes(made)
        return made


def _compile_program(
    program: ExportedProgram, options: Mapping[str, str], place: Path | None
) -> bytes:
    spec = VgfCompileSpec._from_list(specs_of(options))
    graph = tosa_of(program, spec, "VgfBackend", place)
    return vgf_compile(graph, spec.compiler_flags, spec.get_intermediate_path())


CONVERTER = ExternalTool(
    "The model converter",
    "ai_ml_sdk_model_converter",
    ">=0.9,<1",
    "",
    _compile_program,
    backend="arm",
    tool="model-converter",
)
