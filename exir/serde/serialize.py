# SPDX-License-Identifier: BSD-3-Clause
"""`save` and `load` of exported programs in any dialect, delegated parts included.

The file is a zip archive: the program as JSON, then its tensors. Load files of your own only: tensors are read with
torch.load, and custom operators must be imported before."""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import zipfile
from typing import Any

from torch.export import ExportedProgram

import executorch.exir.serde._operators  # noqa: F401  (teaches PyTorch's serializer our operators)
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.operator.convert import DEFINED_BY
from executorch.exir.serde import _delegates, _planned, export_serialize
from executorch.exir.serde._node_meta import node_meta, restore_node_meta
from executorch.exir.serde.compact import compact_program
from executorch.exir.serde.export_serialize import (
    GraphModuleDeserializer,
    GraphModuleSerializer,
    SerializedArtifact,
)
from executorch.exir.verification import verifier  # noqa: F401  (the dialects by name)

__all__ = [
    "ExportedProgramDeserializer",
    "ExportedProgramSerializer",
    "GraphModuleDeserializer",
    "GraphModuleSerializer",
    "deserialize",
    "load",
    "save",
    "serialize",
]

_DELEGATES = "delegates"
_NODE_META = "node_meta"
_PLANNED = "is_planned"  # a program after to_executorch
_PROGRAM = "serialized_exported_program.json"
_TENSORS = {
    "state_dict": "serialized_state_dict.pt",
    "constants": "serialized_constants.pt",
    "example_inputs": "serialized_example_inputs.pt",
}
_EXTRA = "extra_files/"


class ExportedProgramSerializer:
    """Gives PyTorch's in-memory form; `serialize` below also packs lowered modules into it."""

    def __init__(self, opset_version: dict[str, int] | None = None) -> None:
        self._serializer = export_serialize.ExportedProgramSerializer(opset_version)

    def serialize(self, exported_program: ExportedProgram) -> export_serialize._SerializedProgram:
        with _delegates.named_modules(exported_program):
            return self._serializer.serialize(exported_program)


class ExportedProgramDeserializer:
    """The way back; calls of lowered modules keep a string in their place until `put_back`."""

    def __init__(self, expected_opset_version: dict[str, int] | None = None) -> None:
        self._deserializer = export_serialize.ExportedProgramDeserializer(expected_opset_version)

    def deserialize(
        self,
        exported_program: Any,
        state_dict: dict[str, Any] | bytes,
        constants: dict[str, Any] | bytes,
        example_inputs: Any = None,
    ) -> ExportedProgram:
        return self._deserializer.deserialize(
            exported_program, state_dict, constants, example_inputs
        )


def serialize(
    exported_program: ExportedProgram, opset_version: dict[str, int] | None = None
) -> SerializedArtifact:
    is_planned = _planned.is_planned(exported_program)
    if is_planned:
        exported_program = _planned.with_operators(exported_program)
    with _delegates.named_modules(exported_program) as modules:
        artifact = export_serialize.serialize(compact_program(exported_program), opset_version)
    program = json.loads(artifact.exported_program)
    if is_planned:  # a key that other readers refuse
        program[_PLANNED] = True
    program[_NODE_META] = node_meta(exported_program.graph_module)
    program[_DELEGATES] = {
        name: _delegates.module_record(module, serialize) for name, module in modules.items()
    }
    artifact.exported_program = json.dumps(program).encode()
    return artifact


def _import_operators(program: bytes) -> None:
    """Those of this package's libraries of kernels that the program may call."""
    for namespace, module in DEFINED_BY.items():
        if re.search(rf"[.:]{namespace}\.".encode(), program):
            importlib.import_module(module)


def deserialize(artifact: SerializedArtifact) -> ExportedProgram:
    saved = json.loads(artifact.exported_program)
    records, meta = saved.get(_DELEGATES), saved.get(_NODE_META)
    _import_operators(artifact.exported_program)
    if saved.get(_PLANNED):
        _planned.define_list_writers(artifact.exported_program.decode())
    program = export_serialize.deserialize(artifact)
    if meta:
        restore_node_meta(program.graph_module, meta)
    if records:
        modules = {
            name: _delegates.module_of(record, deserialize) for name, record in records.items()
        }
        _delegates.put_back(program, modules)
    if saved.get(_PLANNED):
        _planned.with_functions(program)
    return program


def save(
    ep_save: ExportedProgram,
    f: str | os.PathLike[str] | io.BytesIO,
    *,
    extra_files: dict[str, Any] | None = None,
    opset_version: dict[str, int] | None = None,
) -> None:
    """`extra_files`: name -> text or bytes to store beside the program."""
    if not isinstance(ep_save, ExportedProgram):
        raise TypeError(f"save() expects an ExportedProgram but got {type(ep_save)}")
    artifact = serialize(ep_save, opset_version)
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr(_PROGRAM, artifact.exported_program)
        for attribute, name in _TENSORS.items():
            archive.writestr(name, getattr(artifact, attribute))
        for name, content in (extra_files or {}).items():
            archive.writestr(_EXTRA + name, content)


def load(
    f: str | os.PathLike[str] | io.BytesIO, *, extra_files: dict[str, Any] | None = None
) -> ExportedProgram:
    """Fills the values of `extra_files` with the text stored under its keys."""
    if not zipfile.is_zipfile(f):
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"expected a file that executorch.exir.save wrote, found something else: {f}",
        )
    with zipfile.ZipFile(f) as archive:
        if _PROGRAM not in archive.namelist():
            raise ExportError(
                ExportErrorType.INVALID_INPUT_TYPE,
                f"{f} is an archive without {_PROGRAM}; expected one that executorch.exir.save wrote",
            )
        parts = {attribute: archive.read(name) for attribute, name in _TENSORS.items()}
        artifact = SerializedArtifact(archive.read(_PROGRAM), **parts)
        for name in {name for name in extra_files or () if _EXTRA + name in archive.namelist()}:
            extra_files[name] = archive.read(_EXTRA + name).decode()
    return deserialize(artifact)
