# SPDX-License-Identifier: BSD-3-Clause
"""In the place of the module over Samsung's graph library: a graph's bytes are a line of the types of its operators,
and the graph as it was given, packed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from executorch.backends.samsung.aot.graph import Graph, Operator, QParams, Tensor

from . import LOG

FIRST = 10  # id


class OpParamWrapper:
    def __init__(self, name: str) -> None:
        self.name, self.value = name, None

    def SetScalarValue(self, value: float | int | bool) -> None:
        assert isinstance(value, float | int)
        self.value = value

    def SetStringValue(self, value: str) -> None:
        assert isinstance(value, str)
        self.value = value

    def SetVectorValue(self, value: list[Any]) -> None:
        assert isinstance(value, list)
        self.value = value


class PyEnnTensorWrapper:
    def __init__(self, name: str, dims: list[int], dtype: str, layout: str) -> None:
        self.record: list[Any] = ["DefineTensor", name, dims, dtype, layout]
        self.qparams, self.data = None, None

    def AddQuantizeParam(self, kind: str, scales: list[float], points: list[int]) -> None:
        self.record.append([kind, scales, points])
        self.qparams = QParams(kind, tuple(scales), tuple(points))

    def AddData(self, data: np.ndarray) -> None:
        assert isinstance(data, np.ndarray) and data.flags["C_CONTIGUOUS"]
        self.record.append(data.nbytes)
        self.data = torch.from_numpy(data.copy())

    def tensor(self) -> Tensor:
        _, name, dims, dtype, *_ = self.record
        return Tensor(name, tuple(dims), dtype, self.qparams, self.data)


class PyEnnOpWrapper:
    def __init__(self, name: str, kind: str, inputs: list[int], outputs: list[int]) -> None:
        self.record: list[Any] = ["DefineOpNode", name, kind, inputs, outputs]

    def AddOpParam(self, parameter: OpParamWrapper) -> None:
        self.record.append((parameter.name, parameter.value))

    def operator(self) -> Operator:
        _, name, kind, inputs, outputs, *given = self.record
        values = {name: tuple(v) if isinstance(v, list) else v for name, v in given}
        return Operator(
            name, kind, *(tuple(n - FIRST for n in each) for each in (inputs, outputs)), values
        )


class PyEnnGraphWrapper:
    def Init(self) -> None:
        LOG.append(["Init"])
        self._tensors: list[Tensor] = []
        self._operators: list[Operator] = []
        self._ends: list[tuple[int, ...]] = []

    def DefineTensor(self, tensor: PyEnnTensorWrapper) -> int:
        LOG.append(tensor.record)
        self._tensors.append(tensor.tensor())
        return FIRST + len(self._tensors) - 1

    def DefineOpNode(self, operator: PyEnnOpWrapper) -> None:
        LOG.append(operator.record)
        self._operators.append(operator.operator())

    def SetGraphInputTensors(self, ids: list[int]) -> None:
        LOG.append(["SetGraphInputTensors", ids])
        self._ends.append(tuple(n - FIRST for n in ids))

    def SetGraphOutputTensors(self, ids: list[int]) -> None:
        LOG.append(["SetGraphOutputTensors", ids])
        self._ends.append(tuple(n - FIRST for n in ids))

    def FinishBuild(self) -> None:
        LOG.append(["FinishBuild"])

    def Serialize(self) -> bytes:
        kinds = " ".join(each.type for each in self._operators)
        graph = Graph(tuple(self._tensors), tuple(self._operators), *self._ends)
        return kinds.encode() + b"\n" + graph.pack()
