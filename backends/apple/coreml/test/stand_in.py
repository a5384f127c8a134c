# SPDX-License-Identifier: BSD-3-Clause
"""CoreMLBackend in the Python runtime, where there is no Core ML: the delegate of runtime/ on a stand-in, whose models
the evaluator of ML Programs runs. Load times, errors and conversions are the delegate's."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import shutil
import tempfile
import traceback
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import torch

from executorch.backends.apple.coreml.test.mil_evaluator import Machine
from executorch.exir.scalar_type import ScalarType
from executorch.extension.pybindings import libraries

_LIBRARY = "libcoreml_stand_in.so"  # of a build with tests: in EXECUTORCH_BUILD_DIR, else cmake-out
_OK, _FAILED = 0, 1
# Of what stands at the edge of a model: the number of ScalarType, and PyTorch's dtype.
_DTYPES = {
    "FLOAT32": (ScalarType.FLOAT, torch.float32),
    "FLOAT16": (ScalarType.HALF, torch.float16),
    "INT32": (ScalarType.INT, torch.int32),
    "DOUBLE": (ScalarType.DOUBLE, torch.float64),
}
_BY_NUMBER = {int(number): dtype for number, dtype in _DTYPES.values()}
_NUMBERS = {dtype: int(number) for number, dtype in _DTYPES.values()}


class _Value(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p),
        ("data", c_void_p),
        ("dtype", c_int32),
        ("rank", c_int32),
        ("sizes", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
    )


_Describe = ctypes.CFUNCTYPE(c_int, c_int, c_char_p, c_char_p, c_void_p)
_Predict = ctypes.CFUNCTYPE(c_int, c_int, c_int, POINTER(_Value), c_void_p)
_Reset = ctypes.CFUNCTYPE(None, c_int)


class _Callbacks(ctypes.Structure):
    _fields_ = (("describe", _Describe), ("predict", _Predict), ("reset", _Reset))


class StandIn:
    """`machines`: models that were loaded, each with the folder that it was loaded from."""

    def __init__(self) -> None:
        self.machines: list[tuple[Path, Machine]] = []
        self._folder = tempfile.mkdtemp(prefix="coreml-stand-in-")
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        library = Path(os.environ.get("EXECUTORCH_BUILD_DIR", "cmake-out"), _LIBRARY).resolve()
        libraries.load(library)
        self._library = ctypes.CDLL(str(library))
        self._callbacks = _Callbacks(
            _Describe(self._describe), _Predict(self._predict), _Reset(self._reset)
        )
        register = self._library.coreml_stand_in_register
        register.argtypes = [c_char_p, _Callbacks]
        if register(self._folder.encode(), self._callbacks) != _OK:
            raise RuntimeError("CoreMLBackend is registered already, by another library")

    def _describe(self, number: int, path: bytes, function: bytes, out: int) -> int:
        try:
            root = Path(path.decode())
            files = {
                f"model.mlpackage/{file.relative_to(root)}": file.read_bytes()
                for file in root.rglob("*")
                if file.is_file()
            }
            machine = Machine(files, function.decode())
            assert number == len(self.machines)
            self.machines.append((root, machine))
            described = machine.described
            message = {
                "inputs": [_feature(each) for each in described.input],
                "outputs": [_feature(each) for each in described.output],
                "has_state": len(described.state) > 0,
            }
            self._library.coreml_stand_in_describe(c_void_p(out), json.dumps(message).encode())
        except Exception:
            traceback.print_exc()
            return _FAILED
        return _OK

    def _predict(self, number: int, count: int, values: Any, take: int) -> int:
        try:
            machine = self.machines[number][1]
            given = {values[i].name.decode(): _tensor(values[i]) for i in range(count)}
            found = machine.run([given[each.name] for each in machine.described.input])
            outputs = [each.name for each in machine.described.output]
            for index, (_, result) in enumerate(zip(outputs, found, strict=True)):
                result = result.reshape(1) if result.dim() == 0 else result  # as Core ML does
                self._take(take, index, result.contiguous())
        except Exception:
            traceback.print_exc()
            return _FAILED
        return _OK

    def _take(self, take: int, index: int, result: torch.Tensor) -> None:
        sizes = (c_int64 * result.dim())(*result.shape)
        value = _Value(b"", result.data_ptr(), _NUMBERS[result.dtype], result.dim(), sizes, sizes)
        if self._library.coreml_stand_in_take(c_void_p(take), index, ctypes.byref(value)) != _OK:
            raise RuntimeError(f"output {index} is not taken")

    def _reset(self, number: int) -> None:
        self.machines[number][1].states.clear()


@cache
def stand_in() -> StandIn:
    """Registers the backend, once in a process."""
    return StandIn()


def _feature(described: Any) -> dict[str, Any]:
    kind = described.type.multiArrayType
    ranges = [
        (each.lowerBound, min(each.upperBound, 2**31) if each.upperBound >= 0 else -1)
        for each in kind.shapeRange.sizeRanges
    ]
    return {
        "name": described.name,
        "dtype": int(_DTYPES[kind.ArrayDataType.Name(kind.dataType)][0]),
        "sizes": list(kind.shape),
        "ranges": ranges,
        "listed": [list(each.shape) for each in kind.enumeratedShapes.shapes],
    }


def _tensor(value: Any) -> torch.Tensor:
    """A copy of what the delegate gives, in any order of dimensions."""
    sizes, strides = value.sizes[: value.rank], value.strides[: value.rank]
    dtype = _BY_NUMBER[value.dtype]
    count = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(value.data)
    return torch.frombuffer(bytearray(memory), dtype=dtype).as_strided(sizes, strides).clone()
