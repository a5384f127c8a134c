# SPDX-License-Identifier: BSD-3-Clause
"""In the place of the module over Samsung's graph library: a graph's bytes are the types of its operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import LOG


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

    def AddQuantizeParam(self, kind: str, scales: list[float], points: list[int]) -> None:
        self.record.append([kind, scales, points])

    def AddData(self, data: np.ndarray) -> None:
        assert isinstance(data, np.ndarray) and data.flags["C_CONTIGUOUS"]
        self.record.append(data.nbytes)


class PyEnnOpWrapper:
    def __init__(self, name: str, kind: str, inputs: list[int], outputs: list[int]) -> None:
        self.record: list[Any] = ["DefineOpNode", name, kind, inputs, outputs]

    def AddOpParam(self, parameter: OpParamWrapper) -> None:
        self.record.append((parameter.name, parameter.value))


class PyEnnGraphWrapper:
    """Ids begin at 10."""

    def Init(self) -> None:
        LOG.append(["Init"])
        self._count, self._kinds = 10, []

    def DefineTensor(self, tensor: PyEnnTensorWrapper) -> int:
        LOG.append(tensor.record)
        self._count += 1
        return self._count - 1

    def DefineOpNode(self, operator: PyEnnOpWrapper) -> None:
        LOG.append(operator.record)
        self._kinds.append(operator.record[2])

    def SetGraphInputTensors(self, ids: list[int]) -> None:
        LOG.append(["SetGraphInputTensors", ids])

    def SetGraphOutputTensors(self, ids: list[int]) -> None:
        LOG.append(["SetGraphOutputTensors", ids])

    def FinishBuild(self) -> None:
        LOG.append(["FinishBuild"])

    def Serialize(self) -> bytes:
        return " ".join(self._kinds).encode()
