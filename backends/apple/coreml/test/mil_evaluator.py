# SPDX-License-Identifier: BSD-3-Clause
"""Runs Core ML models on any computer: what each operation of an ML Program means, by PyTorch. Tests of values use it,
as Core ML itself is on Apple's devices alone. What it does not know is Unknown, with the operation's name."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from coremltools.libmilstoragepython import _BlobStorageReader as BlobReader

from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.aot.package import MODEL_PATHS
from executorch.backends.apple.coreml.executorchcoreml import read_files
from executorch.backends.apple.coreml.payload_reader import shared_model
from executorch.backends.apple.coreml.test.mil_data_movement import DATA_MOVEMENT
from executorch.backends.apple.coreml.test.mil_operations import OPERATIONS
from executorch.backends.test.conformance.backend import Run, Unknown

_INSIDE = f"{MODEL_PATHS.MODEL.value}/Data/com.apple.CoreML"
_TABLE = {**OPERATIONS, **DATA_MOVEMENT}
# Values are kept in these; what PyTorch lacks is in a wider one.
_DTYPES = {
    "BOOL": torch.bool, "FLOAT16": torch.float16, "FLOAT32": torch.float32, "FLOAT64": torch.float64,
    "INT8": torch.int8, "INT16": torch.int16, "INT32": torch.int32, "INT64": torch.int64, "UINT8": torch.uint8,
    "UINT16": torch.int32, "UINT32": torch.int64, "INT4": torch.int8,
    **{f"UINT{bits}": torch.uint8 for bits in (1, 2, 3, 4, 6)},
}  # fmt: skip
# What the files of weights are read with, by coremltools' reader.
_READERS = {"FLOAT16": "fp16", "FLOAT32": "float"}
_AS_BYTES = {
    "FLOAT16": np.float16, "INT8": np.int8, "UINT8": np.uint8, "INT16": np.int16, "UINT16": np.uint16,
    "UINT32": np.uint32,
}  # fmt: skip
_EDGE = {
    "FLOAT32": torch.float32,
    "FLOAT16": torch.float16,
    "INT32": torch.int32,
    "DOUBLE": torch.float64,
}


def load(payload: bytes, data: Mapping[str, bytes]) -> Run:
    """The reference of backends/test/conformance."""
    function = ""
    if record := shared_model(payload):
        payload, function = data[record["key"]], record["functionName"]
    return Machine(read_files(payload), function).run


class Machine:
    """One loaded model. States are zero at the start, and keep what runs left in them."""

    def __init__(self, files: Mapping[str, bytes], function: str = "") -> None:
        self.spec = ct.proto.Model_pb2.Model()
        self.spec.ParseFromString(files[f"{_INSIDE}/model.mlmodel"])
        described = self.spec.description
        self.described = next((f for f in described.functions if f.name == function), described)
        program = self.spec.mlProgram.functions
        self.function = program[function or described.defaultFunctionName or "main"]
        self.block = self.function.block_specializations[self.function.opset]
        self.states: dict[str, torch.Tensor] = {}
        self._types = {each.name: each.type for each in self.function.inputs}
        # Weights of constexpr operations are read as these run.
        self._folder = tempfile.TemporaryDirectory()
        self._weights = _reader(Path(self._folder.name), files)
        self._constants = self._all_constants()

    def run(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        names = [each.name for each in self.described.input]
        values = dict(self._constants)
        for name, given in zip(names, inputs, strict=True):
            values[name] = self._given(name, given)
        for name, kind in self._types.items():
            if kind.WhichOneof("type") == "stateType":
                self._start(name, kind.stateType.wrappedType)
                values[name] = name
        self._run_block(self.block, values)
        return [self._result(each, values) for each in self.described.output]

    # ---- The edge of a model, as the runtime has it ----

    def _given(self, name: str, value: torch.Tensor) -> torch.Tensor:
        dtype, sizes = _type(self._types[name])
        value = value.detach()
        value = value.reshape(1) if value.dim() == 0 else value
        (described,) = (each for each in self.described.input if each.name == name)
        return _checked(value.to(_edge_dtype(described)).to(dtype), sizes, name)

    def _start(self, name: str, kind: Any) -> None:
        dtype, sizes = _type(kind)
        self.states.setdefault(name, torch.zeros(sizes, dtype=dtype))

    def _result(self, described: Any, values: Mapping[str, Any]) -> torch.Tensor:
        return values[described.name].to(_edge_dtype(described), copy=True)

    # ---- Operations ----

    def _run_block(self, block: Any, values: dict[str, Any]) -> list[Any]:
        for operation in block.operations:
            if operation.type != "const":
                self._run(operation, values)
        return [values[name] for name in block.outputs]

    def _run(self, operation: Any, values: dict[str, Any]) -> None:
        found = self._results(operation, values)
        for output, value in zip(operation.outputs, found, strict=True):
            dtype, sizes = _type(output.type)
            values[output.name] = _checked(
                value.to(dtype), sizes, f"{operation.type} {output.name}"
            )

    def _results(self, operation: Any, values: dict[str, Any]) -> Sequence[Any]:
        kind = operation.type
        arguments = {
            name: self._argument(each, values, name) for name, each in operation.inputs.items()
        }
        if kind == "read_state":
            return [self.states[arguments["input"]]]
        if kind == "write_state":
            state = self.states[arguments["input"]]
            self.states[arguments["input"]] = arguments["data"].to(state.dtype)
            return []
        if kind == "cond":
            taken = operation.blocks[0 if bool(arguments["pred"]) else 1]
            return self._run_block(taken, dict(values))
        if kind == "while_loop":
            return self._loop(operation, arguments["loop_vars"], values)
        if kind not in _TABLE:
            raise Unknown(kind)
        attributes = {
            name: _wide(self._value(each))
            for name, each in operation.attributes.items()
            if name != "name"
        }
        found = _TABLE[kind](**arguments, **attributes)
        return found if isinstance(found, list | tuple) else [found]

    def _loop(self, operation: Any, current: list[Any], values: dict[str, Any]) -> list[Any]:
        condition, body = operation.blocks
        while True:
            given = zip((each.name for each in condition.inputs), current, strict=True)
            (goes_on,) = self._run_block(condition, {**values, **dict(given)})
            if not bool(goes_on):
                return current
            given = zip((each.name for each in body.inputs), current, strict=True)
            current = self._run_block(body, {**values, **dict(given)})

    def _argument(self, argument: Any, values: Mapping[str, Any], name: str) -> Any:
        given = [
            _wide(
                values[each.name]
                if each.WhichOneof("binding") == "name"
                else self._value(each.value)
            )
            for each in argument.arguments
        ]
        return given if len(given) > 1 or name in ("values", "loop_vars") else given[0]

    # ---- Constants ----

    def _all_constants(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        blocks = [self.block]
        while blocks:
            for operation in blocks.pop().operations:
                blocks += operation.blocks
                if operation.type == "const":
                    found[operation.outputs[0].name] = self._value(operation.attributes["val"])
        return found

    def _value(self, value: Any) -> Any:
        name, sizes = _type_name(value.type)
        if value.WhichOneof("value") == "blobFileValue":
            reader = _READERS.get(name, name.lower())
            read = getattr(self._weights, f"read_{reader}_data")(value.blobFileValue.offset)
            array = np.asarray(read)
            array = array.view(np.float16) if name == "FLOAT16" else array
        else:
            held = value.immediateValue.tensor
            kind = held.WhichOneof("value")
            listed = getattr(held, kind).values if kind else []
            if name == "STRING":
                return listed[0]
            array = np.frombuffer(listed, _AS_BYTES[name]) if kind == "bytes" else np.array(listed)
        if array.dtype in (np.uint16, np.uint32):
            array = array.astype(np.int64)
        return torch.from_numpy(array.copy()).reshape(sizes).to(_DTYPES[name])


def _reader(folder: Path, files: Mapping[str, bytes]) -> Any:
    """coremltools' reader of files of weights; None where a model has none."""
    weights = files.get(f"{_INSIDE}/weights/weight.bin")
    if weights is None:
        return None
    file = folder / "weight.bin"
    file.write_bytes(weights)
    return BlobReader(str(file))


def _type_name(kind: Any) -> tuple[str, list[int]]:
    tensor = kind.tensorType
    sizes = [
        each.constant.size if each.WhichOneof("dimension") == "constant" else -1
        for each in tensor.dimensions
    ]
    return ct.proto.MIL_pb2.DataType.Name(tensor.dataType), sizes


def _type(kind: Any) -> tuple[torch.dtype, list[int]]:
    name, sizes = _type_name(kind)
    return _DTYPES[name], sizes


def _edge_dtype(described: Any) -> torch.dtype:
    kind = described.type.multiArrayType
    return _EDGE[kind.ArrayDataType.Name(kind.dataType)]


def _checked(value: torch.Tensor, sizes: list[int], what: str) -> torch.Tensor:
    """Sizes that vary are -1."""
    fits = len(sizes) == value.dim() and all(
        size in (-1, found) for size, found in zip(sizes, value.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{what}: the model says sizes {sizes}, found {list(value.shape)}")
    return value


def _wide(value: Any) -> Any:
    """Operations compute in float32 and int64; only what they give is rounded."""
    if not isinstance(value, torch.Tensor) or value.dtype in (torch.bool, torch.float64):
        return value
    return value.float() if value.is_floating_point() else value.long()
