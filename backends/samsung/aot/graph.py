# SPDX-License-Identifier: BSD-3-Clause
"""The boundary: a graph as plain data, of the operators, parameters and tensors of Samsung's graph library. Rows write
it; the door, a recorder or an evaluator reads it, also from a file."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch

NCHW, UNDEFINED = "NCHW", "UNDEFINED"  # layouts: of four dimensions, of others
AINT8 = "AINT8"
# Of tensors; quantized ones are INT8.
DTYPES = {
    torch.float32: "FLOAT32",
    torch.float16: "FLOAT16",
    torch.int8: "INT8",
    torch.uint8: "UINT8",
    torch.int16: "INT16",
    torch.uint16: "UINT16",
    torch.int32: "INT32",
    torch.int64: "INT64",
}
Parameter = bool | int | float | str | tuple[int | float, ...]


@dataclass(frozen=True)
class QParams:
    """value = scale * (stored - zero point): one for all, or one for each index of the first dimension."""

    type: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]


FLOATS = QParams("", (1.0,), (0,))  # of floats that are quantized, or were


@dataclass(frozen=True)
class Tensor:
    """`data`: of constants, dense in the order of `dims`."""

    name: str
    dims: tuple[int, ...]
    dtype: str = "FLOAT32"
    qparams: QParams | None = None
    data: torch.Tensor | None = field(default=None, compare=False, repr=False)

    @property
    def layout(self) -> str:
        return NCHW if len(self.dims) == 4 else UNDEFINED


@dataclass(frozen=True)
class Operator:
    """`type`: such as CONV2D; `inputs`, `outputs`: places in the graph's tensors."""

    name: str
    type: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """Operators in an order in which they can run."""

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def of(self, places: Iterable[int]) -> list[Tensor]:
        return [self.tensors[place] for place in places]

    def pack(self) -> bytes:
        """A file of NumPy (.npz): `graph`, JSON, and the data of tensor 3 as `3`."""
        tensors = [
            {name: value for name, value in vars(each).items() if name != "data"}
            | {"qparams": each.qparams and asdict(each.qparams)}
            for each in self.tensors
        ]
        operators = [{**vars(each), "parameters": dict(each.parameters)} for each in self.operators]
        found = {
            "tensors": tensors,
            "operators": operators,
            "inputs": self.inputs,
            "outputs": self.outputs,
        }
        text = np.frombuffer(json.dumps(found).encode(), dtype=np.uint8)
        constants = [(n, each) for n, each in enumerate(self.tensors) if each.data is not None]
        data = {str(n): each.data.numpy() for n, each in constants}
        file = io.BytesIO()
        np.savez(file, graph=text, **data)
        return file.getvalue()

    @classmethod
    def load(cls, path: str | Path | io.BytesIO) -> Graph:
        """Of such a file."""
        with np.load(path) as file:
            found = json.loads(bytes(file["graph"]))
            data = {int(name): torch.from_numpy(file[name]) for name in file if name != "graph"}
        tensors = [
            Tensor(each["name"], tuple(each["dims"]), each["dtype"], _qparams(each), data.get(n))
            for n, each in enumerate(found["tensors"])
        ]
        operators = [
            Operator(each["name"], each["type"], tuple(each["inputs"]), tuple(each["outputs"]),
                     {name: _parameter(value) for name, value in each["parameters"].items()})
            for each in found["operators"]
        ]  # fmt: skip
        return cls(
            tuple(tensors), tuple(operators), tuple(found["inputs"]), tuple(found["outputs"])
        )


def _qparams(tensor: dict) -> QParams | None:
    found = tensor["qparams"]
    return found and QParams(found["type"], tuple(found["scales"]), tuple(found["zero_points"]))


def _parameter(value: object) -> Parameter:
    return tuple(value) if isinstance(value, list) else value
