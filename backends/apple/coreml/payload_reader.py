# SPDX-License-Identifier: BSD-3-Clause
"""What tools may ask of the payloads of Core ML: operations of the model, what it takes and gives, the target it needs.
coremltools reads the model; without it a payload has files."""

from __future__ import annotations

import json
from typing import Any

from executorch.exir.backend.payload import PayloadOperator

BACKEND_ID = "CoreMLBackend"
MAGIC = b"CMJR"  # of a payload that names the one with the model, which several methods share
_MODEL = "model.mlpackage/Data/com.apple.CoreML/model.mlmodel"
# Operations that a model has for its constants.
_NO_WORK = ("const", "constexpr_")


def shared_model(payload: bytes) -> dict[str, str] | None:
    """Where the model of a payload without one is: `key` of named data, and `functionName`."""
    return json.loads(payload[len(MAGIC) :]) if payload.startswith(MAGIC) else None


def operators(payload: bytes) -> list[PayloadOperator]:
    """In the order in which they are written. ValueError for a payload without a model, and without coremltools."""
    files = _files(payload)
    (function,) = _spec(files).mlProgram.functions.values()
    record = json.loads(files.get("debug_info.json", "{}")).get("debugSymbolToHandles", {})
    found = []
    for operation in function.block_specializations[function.opset].operations:
        if not operation.type.startswith(_NO_WORK):
            symbol = f"{operation.outputs[0].name if operation.outputs else ''}:{operation.type}"
            handles = record.get(symbol, [None])
            found.append(PayloadOperator(operation.type, handles[0]))
    return found


def facts(payload: bytes) -> list[tuple[str, str]]:
    """What a payload says of itself. ValueError for bytes that are none."""
    if record := shared_model(payload):
        return [("model", f"named data {record['key']}, function {record.get('functionName', '')}")]
    files = _files(payload)
    metadata = json.loads(files["metadata.json"])
    found = [("identifier", metadata["identifier"])]
    weights = sum(len(data) for name, data in files.items() if name.endswith(".bin"))
    found.append(("bytes of weights", str(weights)))
    try:
        spec = _spec(files)
    except ValueError as reason:  # compiled, or no coremltools: the names alone
        return [*found, ("model", str(reason))]
    found.append(("specification version", str(spec.specificationVersion)))
    described = spec.description
    for kind, values in (("input", described.input), ("output", described.output)):
        found += [(kind, f"{each.name}: {_tensor(each)}") for each in values]
    return found + [("state", each.name) for each in described.state]


def _files(payload: bytes) -> dict[str, bytes]:
    from executorch.backends.apple.coreml.executorchcoreml import read_files

    if shared_model(payload):
        raise ValueError("the model is named data of the program, which several methods share")
    return {name: bytes(data) for name, data in read_files(payload).items()}


def _spec(files: dict[str, bytes]) -> Any:
    if _MODEL not in files:
        raise ValueError("the model is compiled: it has no operations to list")
    try:
        from executorch.backends.apple.coreml.aot.library import ct
    except ImportError as error:
        raise ValueError(str(error)) from error
    spec = ct.proto.Model_pb2.Model()
    spec.ParseFromString(files[_MODEL])
    return spec


def _tensor(described: Any) -> str:
    kind = described.type.multiArrayType
    dtype = kind.ArrayDataType.Name(kind.dataType).lower()
    return f"{dtype} [{', '.join(map(str, kind.shape))}]"
