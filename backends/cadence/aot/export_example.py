# SPDX-License-Identifier: BSD-3-Clause
"""What each example calls: a model quantized, lowered, written as CadenceDemoModel.pte, and run."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from executorch.backends.cadence.aot import compiler
from executorch.backends.cadence.aot.programs import save_pte_program
from executorch.backends.cadence.aot.quantizer.quantizer import CadenceDefaultQuantizer
from executorch.backends.cadence.runtime import runtime
from executorch.exir import ExecutorchProgramManager

FILE_NAME = "CadenceDemoModel"


def _exported(
    model: nn.Module, example_inputs: Sequence[Any], file_name: str, folder: str
) -> tuple[ExecutorchProgramManager, Any]:
    """The program, and what the converted model gives."""
    inputs, quantizer = tuple(example_inputs), CadenceDefaultQuantizer()
    converted = compiler.quantize_pt2(model, inputs, quantizer)
    with torch.no_grad():
        expected = converted.module()(*inputs)
    program = compiler._lower_ep_to_cadence_gen_etrecord(converted, output_dir=folder)
    save_pte_program(program, file_name, folder)
    return program, expected


def export_model(
    model: nn.Module,
    example_inputs: Sequence[Any],
    file_name: str = FILE_NAME,
    working_dir: str | None = None,
) -> ExecutorchProgramManager:
    """Writes <file_name>.pte and etrecord.bin into `working_dir`, or a new folder of /tmp, and says where."""
    folder = working_dir or tempfile.mkdtemp(dir="/tmp")
    program, _ = _exported(model, example_inputs, file_name, folder)
    print(f"{folder}/{file_name}.pte")
    return program


def export_and_run_model(
    model: nn.Module,
    example_inputs: Sequence[Any],
    file_name: str = FILE_NAME,
    eps_error: float = 1e-1,
    eps_warn: float = 1e-5,
    force_rebuild: bool = False,
) -> ExecutorchProgramManager:
    """Runs it on the computer, too, and compares with the converted model in PyTorch."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    folder = tempfile.mkdtemp(dir="/tmp")
    program, expected = _exported(model, example_inputs, file_name, folder)
    runtime.run_and_compare(
        program, example_inputs, expected, folder, file_name, eps_error, eps_warn, force_rebuild
    )
    print(f"{folder}/{file_name}.pte")
    return program
