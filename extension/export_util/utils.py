# SPDX-License-Identifier: BSD-3-Clause
"""Export, lower and save in one call each, as scripts and tutorials use them."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram, export

from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge,
)
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

_EDGE_COMPILE_CONFIG = EdgeCompileConfig(_check_ir_validity=True, _skip_dim_order=True)


def _to_core_aten(
    model: torch.fx.GraphModule | torch.nn.Module,
    example_inputs: tuple[Any, ...],
    *,
    example_kwarg_inputs: dict[str, Any] | None = None,
    dynamic_shapes: dict[str, Any] | tuple[Any] | None = None,
    strict: bool = True,
    verbose: bool = True,
) -> ExportedProgram:
    """torch.export."""
    if not isinstance(model, (torch.fx.GraphModule, torch.nn.Module)):
        raise ValueError(
            f"Expected passed in model to be an instance of nn.Module, got {type(model)}"
        )
    program = export(
        model, example_inputs, example_kwarg_inputs, dynamic_shapes=dynamic_shapes, strict=strict
    )
    if verbose:
        logging.info("Core ATen graph:\n%s", program.graph)
    return program


def _core_aten_to_edge(
    core_aten_exir_ep: ExportedProgram,
    edge_constant_methods: dict[str, Any] | None = None,
    edge_compile_config: EdgeCompileConfig | None = None,
    verbose: bool = True,
) -> EdgeProgramManager:
    """to_edge."""
    edge = to_edge(
        core_aten_exir_ep,
        constant_methods=edge_constant_methods,
        compile_config=edge_compile_config or _EDGE_COMPILE_CONFIG,
    )
    if verbose:
        logging.info("Exported graph:\n%s", edge.exported_program())
    return edge


def export_to_edge(
    model: torch.fx.GraphModule | torch.nn.Module,
    example_inputs: tuple[Any, ...],
    *,
    example_kwarg_inputs: dict[str, Any] | None = None,
    dynamic_shapes: dict[str, Any] | tuple[Any] | None = None,
    edge_constant_methods: dict[str, Any] | None = None,
    edge_compile_config: EdgeCompileConfig = _EDGE_COMPILE_CONFIG,
    strict: bool = True,
    verbose: bool = True,
) -> EdgeProgramManager:
    """torch.export, then to_edge."""
    program = _to_core_aten(
        model,
        example_inputs,
        example_kwarg_inputs=example_kwarg_inputs,
        dynamic_shapes=dynamic_shapes,
        strict=strict,
        verbose=verbose,
    )
    return _core_aten_to_edge(program, edge_constant_methods, edge_compile_config, verbose)


def export_to_exec_prog(
    model: torch.fx.GraphModule | torch.nn.Module,
    example_inputs: tuple[Any, ...],
    *,
    example_kwarg_inputs: dict[str, Any] | None = None,
    dynamic_shapes: dict[str, Any] | tuple[Any] | None = None,
    edge_constant_methods: dict[str, Any] | None = None,
    edge_compile_config: EdgeCompileConfig = _EDGE_COMPILE_CONFIG,
    backend_config: ExecutorchBackendConfig | None = None,
    strict: bool = True,
) -> ExecutorchProgramManager:
    """torch.export, to_edge, to_executorch."""
    edge = export_to_edge(
        model,
        example_inputs,
        example_kwarg_inputs=example_kwarg_inputs,
        dynamic_shapes=dynamic_shapes,
        edge_constant_methods=edge_constant_methods,
        edge_compile_config=edge_compile_config,
        strict=strict,
        verbose=False,
    )
    return edge.to_executorch(backend_config)


def save_pte_program(prog: ExecutorchProgramManager, model_name: str, output_dir: str = "") -> str:
    """Writes `model_name` (with .pte added when it lacks it) into `output_dir` and its data files beside it; gives
    the path."""
    file_name = model_name if model_name.endswith(".pte") else f"{model_name}.pte"
    path = os.path.join(output_dir, file_name)
    prog.save(path)
    prog.write_tensor_data_to_file(os.path.dirname(path))
    logging.info("Saved exported program to %s", path)
    return path


def save_processed_bytes(edge: EdgeProgramManager, base: str | os.PathLike[str]) -> None:
    """Writes the payloads of the first method's delegates as `base`.bin, `base`_1.bin and so on."""
    modules = get_lowered_backend_modules(edge.exported_program().graph_module)
    for place, each in enumerate(modules):
        Path(f"{os.fspath(base)}{f'_{place}' if place else ''}.bin").write_bytes(
            each.processed_bytes
        )
