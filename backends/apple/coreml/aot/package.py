# SPDX-License-Identifier: BSD-3-Clause
"""The payload of a model: a flattened directory with the model's package, its metadata and what is known of its
operations. Equal models give equal bytes: the identifier is a hash of what the model is, so that a device that has
compiled one compiles it only once."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import uuid
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from executorch.backends.apple.coreml.aot.library import ct, quiet
from executorch.backends.apple.coreml.aot.specs import MODEL_TYPE
from executorch.backends.apple.coreml.executorchcoreml import (
    flatten_directory_contents,
    read_files,
)
from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.error import ExportError, ExportErrorType

ROOT = "lowered_module"


class MODEL_PATHS(Enum):
    """Below the root of a payload."""

    MODEL = "model.mlpackage"
    COMPILED_MODEL = "model.mlmodelc"
    METADATA = "metadata.json"
    DEBUG_INFO = "debug_info.json"


_MODEL = "Data/com.apple.CoreML/model.mlmodel"
_HANDLES = "executorch_debug_handle_mapping.json"


@dataclass(frozen=True)
class MethodMetadata:
    """Names, in the order in which a delegate is given its inputs and outputs."""

    inputNames: list[str]
    outputNames: list[str]


@dataclass(frozen=True)
class ModelMetadata(MethodMetadata):
    identifier: str


@dataclass(frozen=True)
class MultifunctionModelMetadata:
    identifier: str
    methods: dict[str, MethodMetadata]


@dataclass(frozen=True)
class ModelDebugInfo:
    """A symbol is `<output>:<operator>` of an operation of the model."""

    versionInfo: str
    debugSymbolToOperationPath: dict[str, list[dict[str, str]]]
    debugSymbolToHandles: dict[str, list[int]]


def payload_of(model: ct.models.MLModel, model_type: MODEL_TYPE) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, ROOT)
        root.mkdir()
        saved = root / MODEL_PATHS.MODEL.value
        with quiet():
            model.save(str(saved))
        spec = settled(saved)
        metadata = model_metadata_from_spec(spec, identifier_of(saved))
        save_json(metadata, root / MODEL_PATHS.METADATA.value)
        debug_info = debug_info_of(saved)
        if debug_info is not None:
            save_json(debug_info, root / MODEL_PATHS.DEBUG_INFO.value)
        if model_type is MODEL_TYPE.COMPILED_MODEL:
            shutil.rmtree(saved)
            shutil.copytree(_compiled(model), root / MODEL_PATHS.COMPILED_MODEL.value)
        return flatten_directory_contents(str(root))


def result_of(payload: bytes) -> PreprocessResult:
    """With the handles of the program's calls, as the payload has them."""
    text = read_files(payload).get(MODEL_PATHS.DEBUG_INFO.value)
    handles = json.loads(text)["debugSymbolToHandles"] if text else {}
    return PreprocessResult(
        payload, debug_handle_map={symbol: tuple(each) for symbol, each in handles.items()} or None
    )


def settled(saved: Path) -> Any:
    """A saved package without what differs from run to run; returns the model's description."""
    file = saved / _MODEL
    spec = ct.proto.Model_pb2.Model()
    spec.ParseFromString(file.read_bytes())
    spec.description.metadata.userDefined.pop("com.github.apple.coremltools.conversion_date", None)
    file.write_bytes(spec.SerializeToString(deterministic=True))
    manifest = saved / "Manifest.json"
    record = json.loads(manifest.read_text())
    names = {
        old: str(uuid.uuid5(uuid.NAMESPACE_URL, entry["path"])).upper()
        for old, entry in record["itemInfoEntries"].items()
    }
    record["itemInfoEntries"] = {
        names[old]: entry for old, entry in record["itemInfoEntries"].items()
    }
    record["rootModelIdentifier"] = names[record["rootModelIdentifier"]]
    manifest.write_text(json.dumps(record, sort_keys=True))
    return spec


def identifier_of(saved: Path) -> str:
    """Of what Core ML compiles: the model and its weights."""
    digest = hashlib.sha256()
    for file in sorted((saved / "Data").rglob("*")):
        if file.is_file():
            digest.update(f"{file.relative_to(saved)}\0{file.stat().st_size}\0".encode())
            digest.update(file.read_bytes())
    return f"executorch_{digest.hexdigest()[:32]}"


def model_metadata_from_spec(model_spec: Any, identifier: str) -> ModelMetadata:
    """`model_spec`: a model's description, as coremltools reads it."""
    names = method_names(model_spec.description)
    return ModelMetadata(names.inputNames, names.outputNames, identifier)


def method_names(described: Any) -> MethodMetadata:
    """Of a description of a model, or of a function of one."""
    return MethodMetadata(
        [each.name for each in described.input], [each.name for each in described.output]
    )


def debug_symbol(operation_path: list[dict[str, str]]) -> str | None:
    """Of the operation at the end of a path; None for one without an output."""
    last = operation_path[-1] if operation_path else {}
    operator, output = last.get("Operator"), last.get("Output")
    return None if operator is None or output is None else f"{output}:{operator}"


def debug_info_of(saved: Path) -> ModelDebugInfo | None:
    """What coremltools wrote of the calls that operations come from; None where it wrote nothing."""
    file = saved / _HANDLES
    if not file.is_file():
        return None
    record = json.loads(file.read_text())
    paths: dict[str, list[dict[str, str]]] = {}
    handles: dict[str, list[int]] = {}
    for handle, operations in record["mapping"].items():
        for path in operations:
            symbol = debug_symbol(path)
            if symbol is not None and handle.isdigit():
                paths[symbol] = path
                handles.setdefault(symbol, []).append(int(handle))
    return ModelDebugInfo(str(record["version"]), paths, handles)


def save_json(what: Any, path: Path) -> None:
    path.write_text(json.dumps(asdict(what)))


def _compiled(model: ct.models.MLModel) -> str:
    try:
        return model.get_compiled_model_path()
    except Exception as error:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            "MODEL_TYPE.COMPILED_MODEL needs macOS, whose Core ML compiles the model "
            f"({str(error).strip()}); MODEL_TYPE.MODEL is compiled where the file is loaded",
        ) from error
