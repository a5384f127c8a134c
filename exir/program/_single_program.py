# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The older classes for one program at a time: `capture(...)`, `.to_edge()`, `.to_executorch()`. Each step is the
managers' (_managers.py)."""

from __future__ import annotations

import io
import os
from collections import namedtuple
from typing import Any

import torch
from torch._export.verifier import Verifier
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, InputKind
from torch.fx import Graph, GraphModule
from torch.utils import _pytree as pytree

from executorch.exir._serialize._cord import Cord
from executorch.exir.capture._config import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.emit import EmitterOutput
from executorch.exir.program._managers import (
    EdgeProgramManager,
    ExecutorchProgramManager,
    Pass,
    to_edge,
)
from executorch.exir.program._transform import _transform
from executorch.exir.program_copies import own_copy
from executorch.exir.retrace.lifted_constants import lift_tensor_attributes
from executorch.exir.schema import Program

CallSpec = namedtuple("CallSpec", ["in_spec", "out_spec"])


class HackedUpExportedProgramDONOTUSE(ExportedProgram):
    """A program that names its nesting itself and runs its graph module."""

    def __init__(
        self,
        root: Any,
        graph: Graph,
        graph_signature: ExportGraphSignature,
        call_spec: CallSpec,
        state_dict: dict[str, Any],
        range_constraints: dict[Any, Any],
        module_call_graph: list[Any],
        example_inputs: Any,
        verifier: type[Verifier],
    ) -> None:
        super().__init__(
            root=root,
            graph=graph,
            graph_signature=graph_signature,
            state_dict=state_dict,
            range_constraints=range_constraints,
            module_call_graph=module_call_graph,
            example_inputs=example_inputs,
            verifiers=[verifier],
        )
        self._own_call_spec = call_spec

    @property
    def call_spec(self) -> CallSpec:
        return self._own_call_spec

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _run_graph(self, args, kwargs)


def _run_graph(program: ExportedProgram, args: Any, kwargs: dict[str, Any]) -> Any:
    """Runs the graph module of a program without lifted data."""
    leaves = pytree.tree_leaves((args, kwargs))
    results = torch.fx.Interpreter(program.graph_module).run(*leaves, enable_io_processing=False)
    return pytree.tree_unflatten(pytree.tree_leaves(results), program.call_spec.out_spec)


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
        """Works in place and gives this program back."""
        self.exported_program = _transform(self.exported_program, *passes)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _has_lifted_data(self.exported_program):
            return self.exported_program.module()(*args, **kwargs)
        return _run_graph(self.exported_program, args, kwargs)

    def to_edge(self, config: EdgeCompileConfig | None = None) -> ExirExportedProgram:
        return _to_edge(self, config or EdgeCompileConfig())

    def to_executorch(self, config: ExecutorchBackendConfig | None = None) -> ExecutorchProgram:
        if not self.after_to_edge_passes:
            raise RuntimeError("Must run to_edge before to_executorch.")
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


def _has_lifted_data(program: ExportedProgram) -> bool:
    return any(spec.kind != InputKind.USER_INPUT for spec in program.graph_signature.input_specs)


def _to_edge(ep: Any, config: EdgeCompileConfig) -> ExirExportedProgram:
    """The edge program of an ExirExportedProgram (or of what torch.export gives); `ep` stays as it is."""
    captured = ep.exported_program if isinstance(ep, ExirExportedProgram) else ep
    program = own_copy(captured)
    lift_tensor_attributes(program)
    manager = to_edge(program, compile_config=config)
    return ExirExportedProgram(manager.exported_program(), True, config)


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
        self.exported_program = exir_exported_program.exported_program
        self._edge = EdgeProgramManager(self.exported_program)
        self._config = config
        self._lowered: ExecutorchProgramManager | None = None

    @property
    def _manager(self) -> ExecutorchProgramManager:
        """Emits on first use."""
        if self._lowered is None:
            self._lowered = self._edge.to_executorch(self._config)
        return self._lowered

    @property
    def _buffer(self) -> bytes | None:
        return self._lowered and self._lowered._buffer

    @property
    def _emitter_output(self) -> EmitterOutput | None:
        return self._lowered and self._lowered._emitter_output

    @property
    def _pte_data(self) -> Cord | None:
        return self._lowered and self._lowered._pte_data

    @property
    def _tensor_data(self) -> dict[str, Cord] | None:
        return self._lowered and self._lowered._tensor_data

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


# What `_program`, where users look for it, takes from here.
