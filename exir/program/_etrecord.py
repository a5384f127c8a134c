# SPDX-License-Identifier: BSD-3-Clause
"""`ETRecord`: what export knows of a model, for tools that explain what its program does at run time."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from enum import Enum
from typing import Any, BinaryIO

import torch
from torch.export import ExportedProgram

from executorch.exir.capture.diagnostics.containers import with_stand_ins
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.serde.compact import compact
from executorch.exir.serde.export_serialize import SerializedArtifact
from executorch.exir.serde.serialize import deserialize, serialize
from executorch.exir.serde.upstream_form import from_upstream, to_upstream


class ETRecordReservedFileNames(str, Enum):
    """Names of files in a record, which are their values as texts, too."""

    __str__, __format__ = str.__str__, str.__format__

    ETRECORD_IDENTIFIER = "ETRECORD_V0"
    EXPORTED_PROGRAM = "exported_program"
    EXPORT_GRAPH_ID = "export_graph_id"
    EDGE_DIALECT_EXPORTED_PROGRAM = "edge_dialect_exported_program"
    ET_DIALECT_GRAPH_MODULE = "et_dialect_graph_module"
    DEBUG_HANDLE_MAP_NAME = "debug_handle_map"
    DELEGATE_MAP_NAME = "delegate_map"
    INSTRUCTION_ID_TO_NUM_OUTS_MAP_NAME = "instruction_id_to_num_outs_map"
    REFERENCE_OUTPUTS = "reference_outputs"
    REPRESENTATIVE_INPUTS = "representative_inputs"


_Files = ETRecordReservedFileNames
_IDENTIFIER = _Files.ETRECORD_IDENTIFIER
_EXPORTED, _EDGE = _Files.EXPORTED_PROGRAM, _Files.EDGE_DIALECT_EXPORTED_PROGRAM
_PARTS = ("state_dict", "constants", "example_inputs")
_MAPS = (
    _Files.DEBUG_HANDLE_MAP_NAME,
    _Files.DELEGATE_MAP_NAME,
    _Files.INSTRUCTION_ID_TO_NUM_OUTS_MAP_NAME,
)
_TENSORS = (_Files.REFERENCE_OUTPUTS, _Files.REPRESENTATIVE_INPUTS)
Programs = ExportedProgram | Mapping[str, ExportedProgram]


class ETRecordError(ExportError, RuntimeError):
    """A file that is no record."""


class ETRecord:
    """Opaque to users: the managers fill it, `save` writes it, the Inspector reads it. Holds programs, no copies."""

    def __init__(
        self,
        exported_program: ExportedProgram | None = None,
        export_graph_id: int | None = None,
        edge_dialect_program: Programs | None = None,
        graph_map: dict[str, ExportedProgram] | None = None,
        _debug_handle_map: dict[Any, Any] | None = None,
        _delegate_map: dict[str, Any] | None = None,
        _instruction_id_to_num_outs_map: dict[str, Any] | None = None,
        _reference_outputs: dict[str, list[Any]] | None = None,
        _representative_inputs: list[Any] | None = None,
    ) -> None:
        self.exported_program = exported_program
        self.export_graph_id = export_graph_id
        self.edge_dialect_program = edge_dialect_program
        self.graph_map = graph_map
        self._debug_handle_map = _debug_handle_map
        self._delegate_map = _delegate_map
        self._instruction_id_to_num_outs_map = _instruction_id_to_num_outs_map
        self._reference_outputs = _reference_outputs
        self._representative_inputs = _representative_inputs

    def copy(self) -> ETRecord:
        """Another record of the same programs, without what belongs to one lowering of them: maps, inputs, outputs."""
        graph_map = dict(self.graph_map) if self.graph_map is not None else None
        return ETRecord(
            self.exported_program, self.export_graph_id, self.edge_dialect_program, graph_map
        )

    def add_exported_program(self, exported_program: Programs | None) -> None:
        """The program before to_edge; of several methods the one called "forward"."""
        _refuse_second(
            "Exported program", "exported program", self.exported_program, self.export_graph_id
        )
        program = _forward(exported_program)
        self.exported_program = program
        self.export_graph_id = id(program.graph) if program is not None else None

    def add_edge_dialect_program(self, edge_dialect_program: Any) -> None:
        """A manager after to_edge (or the older class for one program), before anything is delegated."""
        _refuse_second("Edge dialect program", "edge dialect program", self.edge_dialect_program)
        self._set_edge_dialect_program(edge_dialect_program)

    def _set_edge_dialect_program(self, edge_dialect_program: Any) -> None:
        """Instead of the one there is, when a step made another."""
        programs = _programs_of(edge_dialect_program)
        self.edge_dialect_program = (
            next(iter(programs.values())) if len(programs) == 1 else programs or None
        )

    def add_executorch_program(self, executorch_program: Any) -> None:
        """What to_executorch gave: which instruction comes from which nodes. A bundled program's cases become
        reference outputs and representative inputs."""
        _refuse_second(
            "Executorch program data",
            "executorch program data",
            *(getattr(self, f"_{name}") for name in (*_MAPS, *_TENSORS)),
        )
        program = executorch_program
        if _is_bundled(executorch_program):
            program = executorch_program.executorch_program
            if program is None:
                raise ValueError(
                    "expected a bundled program made from a program, found one made from a file, which does not "
                    "say where its instructions come from"
                )
            self.update_reference_outputs(executorch_program)
            self.update_representative_inputs(executorch_program)
        self._debug_handle_map = program.debug_handle_map
        self._delegate_map = program.delegate_map
        self._instruction_id_to_num_outs_map = program.instruction_id_to_num_outs_map

    def add_extra_export_modules(self, extra_recorded_export_modules: Mapping[str, Any]) -> None:
        """Other programs worth keeping, by name: before a pass, after a stage."""
        found: dict[str, ExportedProgram] = {}
        for name, module in extra_recorded_export_modules.items():
            if any(reserved in name for reserved in ETRecordReservedFileNames):
                raise RuntimeError(
                    f"The name {name} provided in the extra_recorded_export_modules dict is a reserved name in the "
                    "ETRecord namespace; choose another one"
                )
            for method, program in _programs_of(module).items():
                found[f"{name}/{method}"] = program
        self.graph_map = {**(self.graph_map or {}), **found}

    def update_reference_outputs(self, reference_outputs: Any) -> None:
        """What the model gives for the representative inputs: by method, or a list, those of "forward"; or a bundled
        program, whose cases have them. Raises ValueError for a case without."""
        if _is_bundled(reference_outputs):
            reference_outputs = _expected_outputs(reference_outputs)
        by_method = isinstance(reference_outputs, Mapping)
        self._reference_outputs = (
            dict(reference_outputs) if by_method else {"forward": list(reference_outputs)}
        )

    def update_representative_inputs(self, representative_inputs: Any) -> None:
        """A list, or a bundled program: the inputs of the first case of "forward". Raises ValueError when that has no
        case."""
        if _is_bundled(representative_inputs):
            self._representative_inputs = _first_inputs(representative_inputs)
        else:
            self._representative_inputs = list(representative_inputs)

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Raises RuntimeError, and writes nothing, for a record that lacks the program of a stage."""
        if self.edge_dialect_program is None or self._debug_handle_map is None:
            raise RuntimeError(
                "ETRecord must contain edge dialect program and executorch program to be saved: call "
                "add_edge_dialect_program() and add_executorch_program(), or export with generate_etrecord=True"
            )
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(_IDENTIFIER, "")
            for name, program in self._named_programs().items():
                artifact = serialize(program)
                archive.writestr(name, to_upstream(artifact.exported_program))
                for part in _PARTS:
                    archive.writestr(f"{name}_{part}", getattr(artifact, part))
            for name in _MAPS:
                if getattr(self, f"_{name}") is not None:
                    archive.writestr(name, json.dumps(getattr(self, f"_{name}")))
            for name in _TENSORS:
                if getattr(self, f"_{name}") is not None:
                    stream = io.BytesIO()
                    torch.save(compact(getattr(self, f"_{name}")), stream)
                    archive.writestr(name, stream.getvalue())
            if self.export_graph_id is not None:
                archive.writestr(_Files.EXPORT_GRAPH_ID, json.dumps(self.export_graph_id))

    def _named_programs(self) -> dict[str, ExportedProgram]:
        named = dict(self.graph_map or {})
        if self.exported_program is not None:
            named[_EXPORTED] = self.exported_program
        if self.edge_dialect_program is not None:
            for method, program in _programs_of(self.edge_dialect_program).items():
                named[f"{_EDGE}/{method}"] = program
        return named


def parse_etrecord(etrecord_path: str | os.PathLike[str] | BinaryIO) -> ETRecord:
    """Reads a file that `ETRecord.save` wrote. Tensors are read with torch.load: open files of your own only."""
    if not zipfile.is_zipfile(etrecord_path):
        raise _not_a_record(etrecord_path, "found something else")
    with zipfile.ZipFile(etrecord_path) as archive:
        names = set(archive.namelist())
        if _IDENTIFIER not in names:
            raise _not_a_record(etrecord_path, "etrecord identifier missing")
        programs = {
            name: _read_program(archive, name)
            for name in names
            if all(f"{name}_{part}" in names for part in _PARTS)
        }
        edge = {
            name.partition("/")[2]: programs.pop(name)
            for name in sorted(programs)
            if name.startswith(f"{_EDGE}/")
        }
        maps = {f"_{n}": json.loads(archive.read(n)) if n in names else None for n in _MAPS}
        tensors = {
            f"_{n}": torch.load(io.BytesIO(archive.read(n)), weights_only=True)
            for n in _TENSORS
            if n in names
        }
        graph_id = _Files.EXPORT_GRAPH_ID
        return ETRecord(
            exported_program=programs.pop(_EXPORTED, None),
            export_graph_id=json.loads(archive.read(graph_id)) if graph_id in names else None,
            edge_dialect_program=next(iter(edge.values())) if len(edge) == 1 else edge or None,
            graph_map=programs,
            **maps,
            **tensors,
        )


def _read_program(archive: zipfile.ZipFile, name: str) -> ExportedProgram:
    parts = {part: archive.read(f"{name}_{part}") for part in _PARTS}
    data = from_upstream(archive.read(name))
    return with_stand_ins(lambda: deserialize(SerializedArtifact(data, **parts)))


def _not_a_record(path: Any, why: str) -> ETRecordError:
    return ETRecordError(
        ExportErrorType.INVALID_INPUT_TYPE,
        f"Invalid etrecord file passed in: expected a file that ETRecord.save wrote, {why}: {path}",
    )


def _refuse_second(name: str, what: str, *fields: Any) -> None:
    if any(field is not None for field in fields):
        raise RuntimeError(
            f"{name} already exists in the ETRecord. Cannot add {what} when it already exists."
        )


def _forward(programs: Programs | None) -> ExportedProgram | None:
    return programs.get("forward") if isinstance(programs, Mapping) else programs


def _programs_of(source: Any) -> dict[str, ExportedProgram]:
    """Of a program, programs by method, a manager, or the older class for one program."""
    if isinstance(source, ExportedProgram):
        return {"forward": source}
    if isinstance(source, Mapping):
        return dict(source)
    methods = getattr(source, "methods", None)
    if methods is not None and hasattr(source, "exported_program"):
        return {name: source.exported_program(name) for name in sorted(methods)}
    program = getattr(source, "exported_program", None)
    if not isinstance(program, ExportedProgram):
        raise RuntimeError(
            f"Unsupported graph module type. {type(source)}: expected an ExportedProgram or an EdgeProgramManager"
        )
    return {"forward": program}


def _is_bundled(source: Any) -> bool:
    """A BundledProgram of devtools, which this package does not import."""
    return hasattr(source, "method_test_suites")


def _expected_outputs(bundled: Any) -> dict[str, list[Any]]:
    found = {}
    for suite in bundled.method_test_suites:
        outputs = [case.expected_outputs for case in suite.test_cases]
        if not all(outputs):
            raise ValueError(
                f"Missing at least one set of expected outputs for method {suite.method_name}."
            )
        found[suite.method_name] = outputs
    return found


def _first_inputs(bundled: Any) -> list[Any] | None:
    for suite in bundled.method_test_suites:
        if suite.method_name == "forward":
            if not suite.test_cases:
                raise ValueError(
                    "The 'forward' method is defined, but no corresponding input test cases are provided."
                )
            return list(suite.test_cases[0].inputs)
    return None
