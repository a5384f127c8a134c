# SPDX-License-Identifier: BSD-3-Clause
"""`GraphWriter`: the graph of one program, as the rows of ops.py write it. Values are as PyTorch has them: there is one
layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch.fx import Node

from executorch.backends.samsung.aot.graph import (
    AINT8,
    DTYPES,
    FLOATS,
    Graph,
    Operator,
    Parameter,
    QParams,
    Tensor,
)
from executorch.exir.backend.lowering.layout import PLAIN, Layout
from executorch.exir.backend.lowering.mode_steps import qparams_of
from executorch.exir.backend.lowering.payload.mode_writer import ModeWriter
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
)
from executorch.exir.graph_facts import static_sizes


def one(qparams: Quantization) -> QParams:
    return QParams(AINT8, (float(qparams.scale),), (int(qparams.zero_point),))


class GraphWriter(ModeWriter[Tensor, Operator]):
    backend, partitioner = "EnnBackend", "EnnPartitioner"
    names_outputs = True

    def __init__(self, table, constants) -> None:
        super().__init__(table, constants)
        self._names: dict[str, int] = {}
        self._inputs: list[int] = []

    # ---- What a graph has ----

    def why_not_taken(self, node: Node) -> str:
        value = node.meta.get("val")
        taken = isinstance(value, torch.Tensor) and value.dtype in DTYPES
        return "" if taken else f"expected one of {', '.join(map(str, DTYPES))}"

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        made = self.make_value(node, PLAIN)
        self._inputs.append(made)
        return made, PLAIN

    def make_value(self, node: Node, layout: Layout) -> int:
        qparams = qparams_of(node)
        found = None if qparams is None else one(qparams)
        if found is None and (is_dequantize(node) or any(map(is_quantize, node.users))):
            found = FLOATS
        return self._value(node.name, static_sizes(node), DTYPES[node.meta["val"].dtype], found)

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        """Of a quantized step: quantized, where it is dequantized."""
        is_quantized = is_dequantize(node) and self.step is not None and self.step.is_quantized
        key = node, is_quantized
        return self.constant_once(key, lambda: self._constant(node, is_quantized))

    def graph(self) -> Graph:
        """Each output is a tensor of its own, which an operator writes."""
        taken, outputs = {*self._inputs}, []
        for value in self.output_ids():
            if value in taken or self.values[value].data is not None:
                value = self.reshaped(value, self.values[value].dims, is_copy=True)
            taken.add(value)
            outputs.append(value)
        tensors, operators = tuple(self.values), tuple(self.operations)
        return Graph(tensors, operators, tuple(self._inputs), tuple(outputs))

    # ---- For rows ----

    def give(self, kind: str, *inputs: int, **parameters: Parameter) -> int:
        """An operator that gives what the step does."""
        return self.emit(kind, inputs, self.write(self.step.result), **parameters)

    def emit(self, kind: str, inputs: Sequence[int], output: int, **parameters: Parameter) -> int:
        name = self._unique(self.values[output].name, "op:")
        self.operations.append(Operator(name, kind, tuple(inputs), (output,), parameters))
        if self.step is not None:
            self.handle(self.step.head)
        return output

    def operand(self, node: Node) -> int:
        """A number beside quantized values has a scale that says it exactly."""
        is_number = node in self.constants and node.meta["val"].numel() == 1
        if not (is_number and self.step.is_quantized and not is_dequantize(node)):
            return self.take(node)
        value = float(self.constants[node])
        stored = torch.tensor([(value > 0) - (value < 0)], dtype=torch.int8)
        return self.constant(node.name, stored, QParams(AINT8, (abs(value) or 1.0,), (0,)))

    def reshaped(self, value: int, sizes: Sequence[int], is_copy: bool = False) -> int:
        """The value itself where it has these sizes."""
        tensor, sizes = self.values[value], tuple(sizes)
        if tensor.dims == sizes and not is_copy:
            return value
        made = self._value(tensor.name, sizes, tensor.dtype, tensor.qparams)
        return self.emit("RESHAPE", [value], made, new_shape=sizes)

    def reshape(self, source: int, target: int) -> None:
        self.emit("RESHAPE", [source], target, new_shape=self.values[target].dims)

    def like(self, value: int, sizes: Sequence[int]) -> int:
        """A new value of the same type and qparams."""
        tensor = self.values[value]
        return self._value(tensor.name, sizes, tensor.dtype, tensor.qparams)

    def weight(self, node: Node) -> tuple[torch.Tensor, QParams | None]:
        """A constant, and its qparams where a quantized step has it dequantized."""
        qparams = quantization_of(node) if is_dequantize(node) and self.step.is_quantized else None
        if qparams is None:
            return self.constants[node].detach(), None
        scales, points = (
            torch.as_tensor(self.constants[each] if isinstance(each, Node) else each).flatten()
            for each in (qparams.scale, qparams.zero_point or 0)
        )
        points = points.expand(len(scales)).tolist()
        found = QParams(AINT8, tuple(scales.double().tolist()), tuple(map(int, points)))
        return self.constants[qparams.source].detach(), found

    def constant(self, name: str, data: torch.Tensor, qparams: QParams | None = None) -> int:
        """Of one element where it has no dimensions."""
        data = data.detach().contiguous()
        data = data.reshape(tuple(data.shape) or (1,))
        made = self._value(name, data.shape, DTYPES[data.dtype], qparams)
        self.values[made] = replace(self.values[made], data=data)
        return made

    def _constant(self, node: Node, is_quantized: bool) -> int:
        if is_quantized:
            return self.constant(node.name, *self.weight(node))
        return self.constant(node.name, self.constants[node])

    def _value(self, name: str, sizes: Sequence[int], dtype: str, qparams: QParams | None) -> int:
        dims = tuple(map(int, sizes)) or (1,)
        return self.add_value(Tensor(self._unique(name), dims, dtype, qparams))

    def _unique(self, name: str, kind: str = "") -> str:
        """Operators and tensors may have equal names."""
        count = self._names.get(kind + name, 0)
        self._names[kind + name] = count + 1
        return name if count == 0 else f"{name}.{count}"
