# SPDX-License-Identifier: BSD-3-Clause
"""The whole way of a program, top to bottom: torch.export -> edge -> delegates -> planned -> flat plan -> bytes.

to_edge                   one re-trace (exir/retrace)
EdgeProgramManager        .transform: user passes; .to_backend: delegates; .to_executorch: planned and emitted
ExecutorchProgramManager  the emitted program and its files (exir/emit, exir/_serialize)

The passes on this way, in their order, are the lists of _passes.py.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TextIO

from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.infra.pass_manager import PassManager as FxPassManager

from executorch.exir._serialize._cord import Cord, write_atomically
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize._serialize import serialize_for_executorch
from executorch.exir._serialize.data_serializer import DataSerializer
from executorch.exir.capture._config import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.emit import EmitterOutput, emit_program
from executorch.exir.passes.external_constants_pass import mark_as_before_export
from executorch.exir.program._arguments import (
    check_constant_methods,
    check_passes,
    checked_config,
)
from executorch.exir.program._bounds import with_bounded_inputs
from executorch.exir.program._delegation import (
    Source,
    check_methods,
    kept_by,
    lower_in_rounds,
    named_data_store_of,
    partitioners_of,
)
from executorch.exir.program._etrecord import ETRecord
from executorch.exir.program._passes import (
    AFTER_PARTITIONING,
    BEFORE_PARTITIONING,
    Delegation,
    planned_programs,
    run_steps,
)
from executorch.exir.program._programs import Pass, collector_paused, finish_plans, named_programs
from executorch.exir.program._training_mode import warn_of_training_mode
from executorch.exir.program._transform import _transform, _transform_with_pass_manager
from executorch.exir.program_copies import own_copy
from executorch.exir.retrace.program import retrace_to_edge
from executorch.exir.retrace.tensor_subclasses import with_plain_tensors
from executorch.exir.schema import Program
from executorch.exir.verification.verifier import EdgeDialect, check_edge_program

Programs = ExportedProgram | dict[str, ExportedProgram]
Passes = Sequence[Pass] | dict[str, Sequence[Pass]] | FxPassManager


# ---- torch.export -> edge ----


def to_edge(
    programs: Programs,
    constant_methods: dict[str, Any] | None = None,
    compile_config: EdgeCompileConfig | None = None,
    generate_etrecord: bool = False,
) -> EdgeProgramManager:
    """Edge programs of what torch.export.export returned (one: the method "forward", or a dict by method name).
    The given programs are not changed. `constant_methods` become methods that return these values."""
    manager = _edge_manager(programs, {}, constant_methods, compile_config, generate_etrecord)
    config = manager.compile_config
    exported = {name: _plain(each, config) for name, each in named_programs(programs).items()}
    manager._source = Source.of(exported, manager._edge_programs)
    return manager


def to_edge_transform_and_lower(
    programs: Programs,
    transform_passes: Passes | None = None,
    partitioner: Any = None,
    constant_methods: dict[str, Any] | None = None,
    compile_config: EdgeCompileConfig | None = None,
    generate_etrecord: bool = False,
) -> EdgeProgramManager:
    """to_edge, then `transform_passes`, then delegation to the partitioners' backends in order of priority (one, a
    list, or a dict by method name). What the partitioners preserve is not decomposed on the way."""
    config = checked_config(compile_config, EdgeCompileConfig, "compile_config")
    programs = {name: _plain(each, config) for name, each in named_programs(programs).items()}
    check_methods(partitioner, programs.keys())
    partitioners = {name: partitioners_of(partitioner, name) for name in programs}
    kept = {name: kept_by(partitioners[name], program) for name, program in programs.items()}
    manager = _edge_manager(programs, kept, constant_methods, compile_config, generate_etrecord)
    if transform_passes is not None:
        manager = manager.transform(transform_passes)
        if manager._etrecord is not None:
            copies = {name: own_copy(manager.exported_program(name)) for name in manager.methods}
            manager._etrecord.add_extra_export_modules({"edge_after_transform": copies})
    return manager._simplified_and_lowered(partitioners, kept)


def _edge_manager(
    programs: Programs,
    kept: dict[str, frozenset[Node]],
    constant_methods: dict[str, Any] | None,
    compile_config: EdgeCompileConfig | None,
    generate_etrecord: bool,
) -> EdgeProgramManager:
    check_constant_methods(constant_methods)
    config = checked_config(compile_config, EdgeCompileConfig, "compile_config")
    for name, program in named_programs(programs).items():
        warn_of_training_mode(name, program, stacklevel=4)
    with collector_paused():
        edge = {
            name: _edge_program(_plain(program, config), kept.get(name, frozenset()), config)
            for name, program in named_programs(programs).items()
        }
    manager = EdgeProgramManager(edge, constant_methods, config)
    if generate_etrecord:
        manager._etrecord = ETRecord()
        manager._etrecord.add_exported_program(programs)
        manager._etrecord.add_edge_dialect_program(manager)
    return manager


def _plain(program: ExportedProgram, config: EdgeCompileConfig) -> ExportedProgram:
    return with_plain_tensors(with_bounded_inputs(program, config.max_dynamic_size))


def _gen_edge_manager_for_partitioners(
    partitioner: dict[str, list[Any]],
    aten_programs: dict[str, ExportedProgram],
    config: EdgeCompileConfig,
    constant_methods: dict[str, Any] | None,
    generate_etrecord: bool | None = False,
) -> EdgeProgramManager:
    """Edge programs in which what the partitioners preserve is preserved."""
    kept = {name: kept_by(partitioner.get(name, []), each) for name, each in aten_programs.items()}
    return _edge_manager(aten_programs, kept, constant_methods, config, bool(generate_etrecord))


def _generate_edge_program(
    config: EdgeCompileConfig,
    program: ExportedProgram,
    core_aten_ops_exception_list: list[Any] | None = None,
    preserve_ops: list[Any] | None = None,
) -> ExportedProgram:
    """One program, in which `preserve_ops` stay whole, too."""
    whole = [*config.preserve_ops, *(preserve_ops or ())]
    return _edge_program(program, frozenset(), replace(config, preserve_ops=whole))


def et_logger(api_name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that leaves a function as it is, but for a name in its `api_name`: calls are not counted here."""

    def named(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__dict__["api_name"] = api_name
        return function

    return named


def _edge_program(
    program: ExportedProgram, kept: frozenset[Node], config: EdgeCompileConfig
) -> ExportedProgram:
    edge = retrace_to_edge(
        program,
        preserve=config.preserve_ops,
        keep=kept.__contains__,
        skip_dim_order=config._skip_dim_order,
        decompose=config.decompose_ops,
        verifier=EdgeDialect,
    )
    mark_as_before_export(edge, program)
    if config._check_ir_validity:
        check_edge_program(edge, "to_edge", config)
    return edge


class EdgeProgramManager:
    """Edge programs by method name. Every step returns a new manager; this one stays as it is."""

    def __init__(
        self,
        edge_programs: Programs,
        constant_methods: dict[str, Any] | None = None,
        compile_config: EdgeCompileConfig | None = None,
        core_aten_ops_exception_list: list[Any] | None = None,
        preserve_ops: list[Any] | None = None,
    ) -> None:
        check_constant_methods(constant_methods)
        config = checked_config(compile_config, EdgeCompileConfig, "compile_config")
        # Later steps check under the same rules.
        self.compile_config = replace(
            config,
            _core_aten_ops_exception_list=[
                *config._core_aten_ops_exception_list,
                *(core_aten_ops_exception_list or ()),
            ],
            preserve_ops=[*config.preserve_ops, *(preserve_ops or ())],
        )
        self._edge_programs = named_programs(edge_programs)
        self._config_methods = dict(constant_methods) if constant_methods else None
        self._etrecord: ETRecord | None = None
        self._source: Source | None = None  # while the programs are as to_edge has made them
        self._is_lowered = False  # what is done around partitioners, is done
        if self.compile_config._check_ir_validity:
            for program in self._edge_programs.values():
                check_edge_program(program, "EdgeProgramManager(...)", self.compile_config)

    @property
    def _named_data_store(self) -> NamedDataStore:
        """What the backends of all methods have filed."""
        return named_data_store_of(self._edge_programs)

    @property
    def methods(self) -> set[str]:
        return set(self._edge_programs)

    @property
    def config_methods(self) -> set[str]:
        """Names of the methods that return constants."""
        return set(self._config_methods or ())

    def exported_program(self, method_name: str = "forward") -> ExportedProgram:
        return self._edge_programs[method_name]

    def transform(
        self, passes: Passes, compile_config: EdgeCompileConfig | None = None
    ) -> EdgeProgramManager:
        """Runs passes, in order, on all methods (a sequence, or a pass manager) or on the methods named (a dict).
        What each method became is checked."""
        check_passes(passes)
        config = checked_config(
            compile_config or self.compile_config, EdgeCompileConfig, "compile_config"
        )
        programs = {
            name: _transformed(
                program, passes.get(name, ()) if isinstance(passes, dict) else passes, config
            )
            for name, program in self._edge_programs.items()
        }
        manager = self._next(programs, config)
        changed = any(programs[name] is not self._edge_programs[name] for name in programs)
        if not changed and config == self.compile_config:
            manager._source = self._source
        if manager._etrecord is not None and changed:  # instructions come from these nodes
            manager._etrecord._set_edge_dialect_program(manager)
        return manager

    def to_backend(self, partitioner: Any = None) -> EdgeProgramManager:
        """Hands what the partitioner claims to its backend: one (or its class), a list in order of priority, or a dict
        by method; without one, nothing. Straight after to_edge, backends get what to_edge_transform_and_lower gives
        them; what a pass has been run on keeps the form that it has."""
        check_methods(partitioner, self.methods)
        wanted = {name: partitioners_of(partitioner, name) for name in self._edge_programs}
        if self._is_lowered or not any(wanted.values()):
            return self._lowered(wanted)
        manager, kept = self._made_for(wanted)
        return manager._simplified_and_lowered(wanted, kept)

    def _made_for(
        self, partitioners: dict[str, list[Any]]
    ) -> tuple[EdgeProgramManager, dict[str, frozenset[Node]]]:
        """A manager of its own, with what partitioners preserve, as far as that can still be made."""
        programs, kept = dict(self._edge_programs), {}
        for name in filter(partitioners.get, programs):
            program = programs[name]
            if self._source is not None:
                kept[name] = self._source.preserved_nodes(name, program, partitioners[name])
            if kept.get(name):
                exported = self._source.programs[name]
                programs[name] = _edge_program(exported, kept[name], self.compile_config)
            else:
                programs[name] = own_copy(program)
        manager = self._next(programs, replace(self.compile_config, _check_ir_validity=False))
        if manager._etrecord is not None and any(kept.values()):
            manager._etrecord._set_edge_dialect_program(manager)
        return manager, kept

    def _simplified_and_lowered(
        self, partitioners: dict[str, list[Any]], kept: dict[str, frozenset[Node]]
    ) -> EdgeProgramManager:
        """Changes the programs of this manager. `kept`: nodes that are whole for a partitioner's sake."""
        chosen = [name for name in self._edge_programs if partitioners[name]]
        for name in chosen:
            around = Delegation(frozenset(), self.compile_config)
            run_steps(BEFORE_PARTITIONING, self._edge_programs[name], around)
        lowered = self._lowered(partitioners)
        for name in chosen:
            wanted = frozenset(node.target for node in kept.get(name, ()))
            after = Delegation(wanted, self.compile_config)
            run_steps(AFTER_PARTITIONING, lowered._edge_programs[name], after)
        return lowered

    def _lowered(self, partitioners: dict[str, list[Any]]) -> EdgeProgramManager:
        with collector_paused():
            programs = lower_in_rounds(self._edge_programs, partitioners)
        lowered = self._next(programs, replace(self.compile_config, _check_ir_validity=False))
        lowered._is_lowered = any(partitioners.values()) or self._is_lowered
        return lowered

    def _next(
        self, programs: dict[str, ExportedProgram], config: EdgeCompileConfig
    ) -> EdgeProgramManager:
        """The manager after a step, with a record of its own when there is one."""
        manager = EdgeProgramManager(programs, self._config_methods, config)
        manager._etrecord = self._etrecord.copy() if self._etrecord is not None else None
        manager._is_lowered = self._is_lowered
        return manager

    def to_executorch(
        self, config: ExecutorchBackendConfig | None = None
    ) -> ExecutorchProgramManager:
        """Planned programs and their emitted form."""
        config = checked_config(config, ExecutorchBackendConfig, "config")
        with collector_paused():
            planned = planned_programs(
                self._edge_programs, config, self.compile_config._skip_dim_order
            )
            finish_plans(config.memory_planning_pass)
            named_data = self._named_data_store.get_named_data_store_output()
            manager = ExecutorchProgramManager(planned, self._config_methods, config, named_data)
        if self._etrecord is not None:
            manager._etrecord = self._etrecord.copy()
            manager._etrecord.add_executorch_program(manager)
        return manager


def _transformed(
    program: ExportedProgram, passes: Any, config: EdgeCompileConfig
) -> ExportedProgram:
    if isinstance(passes, FxPassManager):
        result = _transform_with_pass_manager(program, passes)
    else:
        result = _transform(program, *passes)
    if config._check_ir_validity and result is not program:
        check_edge_program(result, "transform", config)
    return result


# ---- planned -> flat plan -> bytes ----


class ExecutorchProgramManager:
    """The emitted program of all methods. The bytes are laid out on first use; constants are not copied."""

    def __init__(
        self,
        execution_programs: dict[str, ExportedProgram],
        config_methods: dict[str, Any] | None = None,
        backend_config: ExecutorchBackendConfig | None = None,
        named_data: Any = None,
    ) -> None:
        config = backend_config or ExecutorchBackendConfig()
        self._execution_programs = execution_programs
        self._config_methods = config_methods
        self._backend_config = config
        self._named_data = named_data
        self._emitter_output: EmitterOutput = emit_program(
            execution_programs,
            config.emit_stacktrace,
            config_methods,
            config.emit_mutable_buffer_names,
            config.user_metadata,
        )
        self._files: tuple[Cord, dict[str, Cord]] | None = None
        self._buffer: bytes | None = None
        self._data_serializer: DataSerializer = _data_serializer()
        self._etrecord: ETRecord | None = None

    def _file_named_data(self, blobs: dict[str, bytes]) -> None:
        """More under keys of their own, before the bytes are laid out."""
        store = NamedDataStore()
        if self._named_data is not None:
            store.merge_named_data_store(self._named_data)
        for key, data in blobs.items():
            store.add_named_data(key, data)
        self._named_data = store.get_named_data_store_output()

    @property
    def methods(self) -> set[str]:
        return set(self._execution_programs)

    @property
    def config_methods(self) -> set[str]:
        return set(self._config_methods or ())

    def exported_program(self, method_name: str = "forward") -> ExportedProgram:
        return self._execution_programs[method_name]

    @property
    def executorch_program(self) -> Program:
        return self._emitter_output.program

    @property
    def debug_handle_map(self) -> dict[Any, Any]:
        return self._emitter_output.debug_handle_map

    @property
    def delegate_map(self) -> dict[str, Any]:
        return self._emitter_output.method_to_delegate_debug_id_map

    @property
    def instruction_id_to_num_outs_map(self) -> dict[str, dict[int, int]]:
        return self._emitter_output.instruction_id_to_num_outs_map

    def get_etrecord(self) -> ETRecord:
        """The record of a program lowered with `generate_etrecord=True`."""
        if self._etrecord is None:
            raise RuntimeError(
                "ETRecord was not generated: pass generate_etrecord=True to the first step"
            )
        return self._etrecord

    @property
    def buffer(self) -> bytes:
        """The file as bytes: a copy of all constants, made on first use and kept. `write_to_file` and `save` need
        none."""
        if self._buffer is None:
            self._buffer = bytes(self._pte())
        return self._buffer

    def write_to_file(self, open_file: io.BufferedIOBase) -> None:
        self._pte().write_to_file(open_file)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the program file; what stood at `path` is replaced when all bytes are there."""
        if not os.fspath(path).endswith(".pte"):
            raise ValueError(f"Path {os.fspath(path)} does not end with .pte")
        write_atomically(path, self._pte())

    def write_tensor_data_to_file(self, outdir: str | os.PathLike[str]) -> None:
        """Writes each data file (`<tag>.ptd`) of constants that live outside the program."""
        for name, data in self._data_files().items():
            file_name = name if name.endswith(".ptd") else f"{name}.ptd"
            write_atomically(os.path.join(outdir, file_name), data)

    def dump_executorch_program(self, verbose: bool = False, out: TextIO | None = None) -> None:
        """Prints the program: short, or with every value."""
        from executorch.exir.print_program import pretty_print, print_program

        target = out or sys.stdout
        if verbose:
            pretty_print(self.executorch_program, out=target)
        else:
            print_program(self.executorch_program, show_meminfo=True, out=target)

    @property
    def _pte_data(self) -> Cord:
        return self._pte()

    @property
    def _tensor_data(self) -> dict[str, Cord]:
        return self._data_files()

    def _pte(self) -> Cord:
        return self._laid_out()[0]

    def _data_files(self) -> dict[str, Cord]:
        return self._laid_out()[1]

    def _laid_out(self) -> tuple[Cord, dict[str, Cord]]:
        if self._files is None:
            self._files = serialize_for_executorch(
                self._emitter_output,
                self._backend_config,
                self._data_serializer,
                self._named_data,
            )
        return self._files


def _data_serializer() -> DataSerializer:
    """The writer of data files; imported late, because it stands in a layer above."""
    from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

    return FlatTensorSerializer()
