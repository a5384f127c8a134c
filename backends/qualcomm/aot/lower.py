# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Models of PyTorch to programs for the NPU in one call, and context binaries out of programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.export import export

from executorch.backends.qualcomm.aot.compiler import context_binary_in
from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType

FORWARD = "forward"


def qnn_edge_config() -> EdgeCompileConfig:
    return EdgeCompileConfig(_check_ir_validity=False)


def to_edge_transform_and_lower_to_qnn(
    module: torch.nn.Module | Mapping[str, torch.nn.Module],
    inputs: tuple[Any, ...] | Mapping[str, tuple[Any, ...]],
    compiler_specs: Sequence[CompileSpec] | Mapping[str, Sequence[CompileSpec]],
    constant_methods: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
    dep_table: Any = None,
    passes_job: Any = None,
    skip_node_id_set: set[str] | None = None,
    skip_node_op_set: set[str] | None = None,
    skip_mutable_buffer: bool = False,
    generate_etrecord: bool = False,
    convert_linear_to_conv2d: bool = False,
) -> EdgeProgramManager:
    """Of one module, `forward`, or of methods by name, with inputs and specs, and dynamic shapes, of each. ExportError
    for upstream's passes, which are no passes here."""
    _check_passes(dep_table, passes_job, convert_linear_to_conv2d)
    modules = module if isinstance(module, Mapping) else {FORWARD: module}
    programs = {
        name: export(
            each,
            tuple(_of(inputs, name)),
            dynamic_shapes=_of(dynamic_shapes, name) if len(modules) > 1 else dynamic_shapes,
            strict=True,
        )
        for name, each in modules.items()
    }
    partitioners = {
        name: [
            QnnPartitioner(
                _of(compiler_specs, name), skip_node_id_set, skip_node_op_set, skip_mutable_buffer
            )
        ]
        for name in programs
    }
    return to_edge_transform_and_lower(
        programs,
        partitioner=partitioners,
        constant_methods=constant_methods,
        compile_config=qnn_edge_config(),
        generate_etrecord=generate_etrecord,
    )


def _of(given: Any, method: str) -> Any:
    """What is given by method, or for all."""
    return given[method] if isinstance(given, Mapping) else given


def _check_passes(dep_table: Any, passes_job: Any, convert_linear_to_conv2d: bool) -> None:
    given = {"dep_table": dep_table, "passes_job": passes_job} | (
        {"convert_linear_to_conv2d": True} if convert_linear_to_conv2d else {}
    )
    named = [name for name, value in given.items() if value]
    if named:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"{', '.join(named)}: expected none, as rows of a table write graphs here (backends/qualcomm/aot/ops.py), "
            "not passes that are switched; skip_node_op_set keeps operators on the CPU",
        )


def dump_context_from_pte(path: str | Path) -> list[str]:
    """Writes the context binary of each delegate beside the program, as {method}_{i}.bin; as {method}_{i}.dlc a graph
    that is compiled on the device. Gives the files. FormatError, a ValueError, for bytes that are no program."""
    path = Path(path)
    program = deserialize_pte_binary(path.read_bytes(), verify=True).program
    written = []
    for plan in program.execution_plan:
        delegates = [each for each in plan.delegates if each.id == "QnnBackend"]
        for number, delegate in enumerate(delegates):
            payload = bytes(program.backend_delegate_data[delegate.processed.index].data)
            try:
                data, ending = context_binary_in(payload), "bin"
            except ValueError:
                data, ending = payload, "dlc"
            file = path.parent / f"{plan.name}_{number}.{ending}"
            file.write_bytes(data)
            written.append(str(file))
    return written
