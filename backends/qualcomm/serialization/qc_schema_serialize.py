# SPDX-License-Identifier: BSD-3-Clause
"""Options to the bytes of a compile spec, and back; no tool is run."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchOptions
from executorch.exir.backend.lowering.payload.schema import PayloadSchema

SCHEMA = PayloadSchema(Path(__file__).parent / "qc_compiler_spec.fbs")


def option_to_flatbuffer(qnn_executorch_options: QnnExecuTorchOptions) -> bytes:
    """The bytes that flatc makes of the same options in JSON. TypeError or ValueError that names a wrong field."""
    return SCHEMA.pack(_to_schema(qnn_executorch_options))


def flatbuffer_to_option(flatbuffers: bytes) -> QnnExecuTorchOptions:
    """Fields in any order; what is left out has the schema's default. ValueError for bytes that are no options."""
    return _from_schema(QnnExecuTorchOptions, SCHEMA.unpack(bytes(flatbuffers)))


def _to_schema(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        made = {each.name: _to_schema(getattr(value, each.name)) for each in fields(value)}
        return SCHEMA.make(type(value).__name__, **made)
    if isinstance(value, list):
        return [_to_schema(each) for each in value]
    return value


def _from_schema(kind: Any, value: Any) -> Any:
    if isinstance(kind, UnionType):
        return None if value is None else _from_schema(get_args(kind)[0], value)
    if get_origin(kind) is list:
        return [_from_schema(get_args(kind)[0], each) for each in value or ()]
    if not is_dataclass(kind):
        return kind(value or 0) if issubclass(kind, int) else kind(value or "")
    hints = get_type_hints(kind)
    if value is None:
        value = SCHEMA.make(kind.__name__)
    try:
        return kind(
            **{name: _from_schema(hint, getattr(value, name)) for name, hint in hints.items()}
        )
    except ValueError as error:
        raise ValueError(f"{kind.__name__} of a compile spec: {error}") from error
