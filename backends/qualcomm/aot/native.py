# SPDX-License-Identifier: BSD-3-Clause
"""Graphs for the module that calls QNN's C API (bindings.cpp), which is imported when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from executorch.backends.qualcomm.aot.graph import (
    Array,
    DataType,
    Encoding,
    Graph,
    Operator,
    Parameter,
    Tensor,
)
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchOptions
from executorch.backends.qualcomm.serialization.qc_schema_serialize import option_to_flatbuffer
from executorch.exir.backend.lowering.external.compiler import Refused

# Of parameters; others are not among the operators' definitions.
_NUMBERS = {
    DataType.FLOAT_32: "<f4",
    DataType.UINT_32: "<u4",
    DataType.INT_32: "<i4",
    DataType.BOOL_8: "|u1",
}


def why_missing(library: Path) -> str:
    """What keeps the module from using a library; empty when nothing does."""
    try:
        from executorch.backends.qualcomm import _qnn
    except ImportError:
        return (
            "this package was built without its module for QNN: build ExecuTorch from its sources with "
            "-DEXECUTORCH_BUILD_QNN=ON -DQNN_SDK_ROOT=$QNN_SDK_ROOT"
        )
    try:
        _qnn.build_id(str(library))
    except RuntimeError as error:
        return str(error)
    return ""


def why_refused(library: Path, graph: Graph, options: QnnExecuTorchOptions) -> str:
    return _compiler(library, option_to_flatbuffer(options)).why_refused(_graph(graph))


def compiled(library: Path, graphs: Sequence[Graph], options: QnnExecuTorchOptions) -> bytes:
    """One context binary. Raises Refused."""
    from executorch.backends.qualcomm import _qnn

    compiler = _compiler(library, option_to_flatbuffer(options))
    try:
        return compiler.compile([_graph(each) for each in graphs])
    except _qnn.Refused as refused:
        raise Refused(str(refused)) from refused


@lru_cache(maxsize=4)
def _compiler(library: Path, options: bytes) -> Any:
    """Open as long as it is used again and again: of each call of a program it is asked."""
    from executorch.backends.qualcomm import _qnn

    return _qnn.Compiler(str(library), options)


def _graph(graph: Graph) -> Any:
    from executorch.backends.qualcomm import _qnn

    made = _qnn.Graph(graph.name)
    for tensor in graph.tensors:
        _add_tensor(made, tensor)
    for operator in graph.operators:
        _add_operator(made, operator)
    made.set_arguments(graph.inputs, graph.outputs)
    return made


def _add_tensor(made: Any, tensor: Tensor) -> None:
    data = None if tensor.data is None else _bytes(tensor.data)
    encoding = None if tensor.encoding is None else _encoding(tensor.encoding)
    made.add_tensor(tensor.name, tensor.type, tensor.dtype, tensor.dims, encoding, data)


def _bytes(data: torch.Tensor) -> np.ndarray:
    """As they are in memory."""
    return data.detach().contiguous().reshape(-1).view(torch.uint8).numpy()


def _encoding(encoding: Encoding) -> tuple[Any, ...]:
    axis = 0 if encoding.axis is None else encoding.axis
    return (
        encoding.type,
        encoding.scales,
        encoding.offsets,
        axis,
        encoding.bitwidth,
        encoding.block_scales,
    )


def _add_operator(made: Any, operator: Operator) -> None:
    parameters = [_parameter(name, each) for name, each in operator.parameters.items()]
    places = operator.inputs, operator.outputs
    made.add_operator(operator.name, operator.package, operator.type, *places, parameters)


def _parameter(name: str, parameter: Parameter) -> tuple[Any, ...]:
    is_array = isinstance(parameter, Array)
    values = parameter.values if is_array else (parameter.value,)
    dims = parameter.dims if is_array else ()
    data = np.array(values, dtype=_NUMBERS[parameter.dtype]).tobytes()
    return name, parameter.dtype, dims, data
