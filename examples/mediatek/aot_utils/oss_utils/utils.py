# SPDX-License-Identifier: BSD-3-Clause
"""What scripts of single models share: quantize, lower, save."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.mediatek import NeuropilotPartitioner, NeuropilotQuantizer, Precision
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec

PLATFORM = "mt6989"


def build_executorch_binary(
    model: torch.nn.Module,
    inputs: tuple[Any, ...],
    file_name: str | Path,
    dataset: Iterable[tuple[Any, ...]],
    quant_dtype: Precision | None = None,
    skip_op_name: set[str] | None = None,
    skip_op_type: set[str] | None = None,
) -> None:
    """Writes FILE_NAME.pte, for Dimensity 9300. `quant_dtype`: None for floats; else `dataset` is run to calibrate.
    `skip_op_name`, `skip_op_type`: nodes and operators that stay on the CPU."""
    program = export(model, inputs)
    if quant_dtype is not None:
        quantizer = NeuropilotQuantizer()
        quantizer.setup_precision(quant_dtype)
        prepared = prepare_pt2e(program.module(), quantizer)
        with torch.no_grad():
            for sample in dataset:
                prepared(*sample)
        program = export(convert_pt2e(prepared, fold_quantize=False), inputs)
    specs = [CompileSpec("platform-config", PLATFORM.encode())]
    partitioner = NeuropilotPartitioner(specs, skip_op_type, skip_op_name)
    manager = to_edge_transform_and_lower(program, partitioner=[partitioner])
    Path(f"{file_name}.pte").write_bytes(manager.to_executorch().buffer)


def make_output_dir(path: str | Path) -> Path:
    """An empty folder: files of an older run are removed."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.is_file():
            file.unlink()
    return folder
