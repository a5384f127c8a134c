# SPDX-License-Identifier: BSD-3-Clause
"""The older classes for one program at a time: `capture(...)`, `.to_edge()`, `.to_executorch()`. Each step is the
managers' (_program.py)."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.utils._pytree import TreeSpec, tree_map_only

from executorch.exir._serialize._cord import Cord
from executorch.exir.capture._config import (
    CaptureConfig,
    EdgeCompileConfig,
    ExecutorchBackendConfig,
)
from executorch.exir.emit import EmitterOutput
from executorch.exir.program._program import (
    EdgeProgramManager,
    ExecutorchProgramManager,
    Pass,
    to_edge,
)
from executorch.exir.program._programs import apply_passes
from executorch.exir.program_copies import own_copy
from executorch.exir.schema import Program


@dataclass
class CallSpec:
    """How a program's inputs and outputs nest."""

    in_spec: TreeSpec | None = None
    out_spec: TreeSpec | None = None


def capture(
    f: Callable[..., Any] | torch.nn.Module,
    args: tuple[Any, ...],
    config: CaptureConfig | None = None,
    dynamic_shapes: Any = None,
) -> ExirExportedProgram:
    """torch.export of a module (or of a function, wrapped as one)."""
    module = f if isinstance(f, torch.nn.Module) else _Function(f)
    program = torch.export.export(module, args, dynamic_shapes=dynamic_shapes)
    return ExirExportedProgram(program, after_to_edge_passes=False)


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any) -> Any:
        return self._function(*args)


class ExirExportedProgram:
    """One captured program, before or after `to_edge`."""

    def __init__(
        self,
        exported_program: ExportedProgram,
        after_to_edge_passes: bool,
        compile_config: EdgeCompileConfig | None = None,
    ) -> None:
        self.exported_program = exported_program
        self.after_to_edge_passes = after_to_edge_passes
        self.compile_config = compile_config

    def transform(self, *passes: Pass) -> ExirExportedProgram:
        program = apply_passes(own_copy(self.exported_program), passes)
        return ExirExportedProgram(program, self.after_to_edge_passes, self.compile_config)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.exported_program.module()(*args, **kwargs)

    def to_edge(self, config: EdgeCompileConfig | None = None) -> ExirExportedProgram:
        manager = to_edge(self.exported_program, compile_config=config)
        return ExirExportedProgram(manager.exported_program(), True, config)

    def to_executorch(self, config: ExecutorchBackendConfig | None = None) -> ExecutorchProgram:
        if not self.after_to_edge_passes:
            raise RuntimeError("call to_edge() before to_executorch()")
        config = config or ExecutorchBackendConfig()
        return ExecutorchProgram(
            self,
            config.emit_stacktrace,
            config.extract_delegate_segments,
            config.segment_alignment,
            config.constant_tensor_alignment,
            config.delegate_alignment,
            backend_config=config,
        )

    def dump(self) -> None:
        print(self.exported_program.graph_module.graph)


class ExecutorchProgram:
    """One emitted program with the single method "forward"."""

    def __init__(
        self,
        exir_exported_program: ExirExportedProgram,
        emit_stacktrace: bool,
        extract_delegate_segments: bool,
        segment_alignment: int,
        constant_tensor_alignment: int | None = None,
        delegate_alignment: int | None = None,
        *,
        backend_config: ExecutorchBackendConfig | None = None,
    ) -> None:
        if not exir_exported_program.after_to_edge_passes:
            raise ValueError("expected a program after to_edge()")
        config = backend_config or ExecutorchBackendConfig()
        config.emit_stacktrace = emit_stacktrace
        config.extract_delegate_segments = extract_delegate_segments
        config.segment_alignment = segment_alignment
        config.constant_tensor_alignment = constant_tensor_alignment
        config.delegate_alignment = delegate_alignment
        edge = EdgeProgramManager(exir_exported_program.exported_program)
        self._manager: ExecutorchProgramManager = edge.to_executorch(config)

    @property
    def program(self) -> Program:
        return self._manager.executorch_program

    @property
    def buffer(self) -> bytes:
        return self._manager.buffer

    @property
    def data_files(self) -> dict[str, Cord]:
        return self._manager._data_files()

    @property
    def debug_handle_map(self) -> dict[Any, Any]:
        return self._manager.debug_handle_map

    @property
    def delegate_map(self) -> dict[str, Any]:
        return self._manager.delegate_map

    @property
    def instruction_id_to_num_outs_map(self) -> dict[str, dict[int, int]]:
        return self._manager.instruction_id_to_num_outs_map

    @property
    def graph_module(self) -> GraphModule:
        return self.dump_graph_module()

    def dump_graph_module(self) -> GraphModule:
        return self.dump_exported_program().graph_module

    def dump_exported_program(self) -> ExportedProgram:
        return self._manager.exported_program()

    def write_to_file(self, open_file: io.BufferedIOBase) -> None:
        self._manager.write_to_file(open_file)

    def write_tensor_data_to_file(self, outdir: str | os.PathLike[str]) -> None:
        self._manager.write_tensor_data_to_file(outdir)

    def _get_emitter_output(self) -> EmitterOutput:
        return self._manager._emitter_output

    def _get_pte_data(self) -> Cord:
        return self._manager._pte()


class MultiMethodExecutorchProgram:
    """Several methods in one emitted program."""

    def __init__(self, manager: ExecutorchProgramManager) -> None:
        self._manager = manager

    @property
    def buffer(self) -> bytes:
        return self._manager.buffer

    @property
    def program(self) -> Program:
        return self._manager.executorch_program

    @property
    def debug_handle_map(self) -> dict[Any, Any]:
        return self._manager.debug_handle_map

    def write_to_file(self, open_file: io.BufferedIOBase) -> None:
        self._manager.write_to_file(open_file)

    def dump_exported_program(self, method_name: str = "forward") -> ExportedProgram:
        return self._manager.exported_program(method_name)

    def dump_graph_module(self, method_name: str = "forward") -> GraphModule:
        return self._manager.exported_program(method_name).graph_module


def get_fake_program(real_exported_program: ExportedProgram) -> ExportedProgram:
    """The program over fake parameters and constants: same graph, no data."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    program = own_copy(real_exported_program)
    program._state_dict = tree_map_only(torch.Tensor, mode.from_tensor, dict(program.state_dict))
    program._constants = tree_map_only(torch.Tensor, mode.from_tensor, dict(program.constants))
    return program
