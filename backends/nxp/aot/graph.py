# SPDX-License-Identifier: BSD-3-Clause
"""A TFLite model as plain data, and as bytes: one subgraph, operators in an order in which they can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.backend.lowering.payload.schema import PayloadSchema

SCHEMA = PayloadSchema(Path(__file__).parents[1] / "schema" / "tflite.fbs")
TYPES = {torch.int8: "INT8", torch.int32: "INT32", torch.uint8: "UINT8", torch.float32: "FLOAT32"}
_VERSION = 3
_DESCRIPTION = "TFLite from EdgeProgram"
_LARGEST_BYTE = 127  # operators beyond have no number in the older field


@dataclass(frozen=True)
class QParams:
    """value = (quantized - zero point) * scale: one for all, or one for each index of `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0


@dataclass(frozen=True)
class Tensor:
    """`data`: of constants, dense in the order of `sizes`."""

    name: str
    sizes: tuple[int, ...]
    dtype: torch.dtype = torch.int8
    qparams: QParams | None = None
    data: torch.Tensor | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Operator:
    """`kind`: the name of a BuiltinOperator; `options`: a table of the schema, None where it has none. `handle`: the
    debug handle of the call that it comes from."""

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Any = None
    handle: int | None = None


@dataclass(frozen=True)
class Graph:
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def pack(self) -> bytes:
        """Tensors that nothing reads or writes are left out."""
        used = {*self.inputs, *self.outputs}
        used |= {each for op in self.operators for each in (*op.inputs, *op.outputs)}
        kept = sorted(used)
        place = {each: index for index, each in enumerate(kept)}
        buffers, tensors = [SCHEMA.make("Buffer")], []
        for each in kept:
            tensor = self.tensors[each]
            number = 0 if tensor.data is None else len(buffers)
            if number:
                data = bytes(tensor_bytes(tensor.data.contiguous()))
                buffers.append(SCHEMA.make("Buffer", data=data))
            tensors.append(_tensor(tensor, number))
        codes = list(dict.fromkeys(op.kind for op in self.operators))
        subgraph = SCHEMA.make(
            "SubGraph",
            tensors=tensors,
            inputs=[place[each] for each in self.inputs],
            outputs=[place[each] for each in self.outputs],
            operators=[
                SCHEMA.make(
                    "Operator",
                    opcode_index=codes.index(op.kind),
                    inputs=[place[each] for each in op.inputs],
                    outputs=[place[each] for each in op.outputs],
                    builtin_options=op.options,
                )
                for op in self.operators
            ],
        )
        model = SCHEMA.make(
            "Model",
            version=_VERSION,
            operator_codes=[_code(kind) for kind in codes],
            subgraphs=[subgraph],
            description=_DESCRIPTION,
            buffers=buffers,
        )
        return SCHEMA.pack(model)

    def named(self, places: Sequence[int]) -> list[str]:
        return [self.tensors[each].name for each in places]


def _tensor(tensor: Tensor, buffer: int) -> Any:
    types, qparams = SCHEMA.classes["TensorType"], tensor.qparams
    return SCHEMA.make(
        "Tensor",
        shape=list(tensor.sizes),
        type=types[TYPES[tensor.dtype]],
        buffer=buffer,
        name=tensor.name,
        quantization=None
        if qparams is None
        else SCHEMA.make(
            "QuantizationParameters",
            scale=list(qparams.scales),
            zero_point=list(qparams.zero_points),
            quantized_dimension=qparams.axis,
        ),
    )


def _code(kind: str) -> Any:
    number = SCHEMA.classes["BuiltinOperator"][kind]
    older = min(int(number), _LARGEST_BYTE)
    return SCHEMA.make(
        "OperatorCode", deprecated_builtin_code=older, version=1, builtin_code=number
    )
