# SPDX-License-Identifier: BSD-3-Clause
"""Bundled programs: a program with the case that it is run on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from executorch.backends.cadence.aot.programs import with_end, written
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    serialize_from_bundled_program_to_flatbuffer,
)
from executorch.exir import ExecutorchProgramManager


def save_bpte_program(
    prog: ExecutorchProgramManager,
    model_name: str,
    inputs: Sequence[Any],
    expected: Sequence[Any],
    output_dir: str = "",
) -> None:
    """The program with one case: its inputs and what it is expected to give."""
    case = MethodTestCase(inputs=inputs, expected_outputs=expected)
    bundled = BundledProgram(prog, [MethodTestSuite("forward", [case])])
    data = serialize_from_bundled_program_to_flatbuffer(bundled)
    written(Path(output_dir) / with_end(model_name, ".bpte"), data)
