# SPDX-License-Identifier: BSD-3-Clause
"""`GraphWriter`: the graph of one program, as the rows of ops.py write it.

A value of three to five dimensions may exist plain, as PyTorch has it, and channels last, as QNN's convolutions want
it; where a program is transposed from one to the other is chosen for all of it (layout.py of the kit)."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch.fx import Node

from executorch.backends.qualcomm.aot.blocks import encoding_of_blocks
from executorch.backends.qualcomm.aot.encodings import (
    TYPES,
    encoding_of,
    quantized_type,
    stored_as,
)
from executorch.backends.qualcomm.aot.graph import (
    DataType,
    Encoding,
    EncodingType,
    Graph,
    Operator,
    Parameter,
    Tensor,
    TensorType,
    uints,
)
from executorch.exir.backend.lowering.annotation import Kind
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Layout,
    dims_in,
    in_layout,
    permutation,
)
from executorch.exir.backend.lowering.mode_steps import (
    ModeStep,
    dequantizes_read,
    is_float,
    qparams_of,
    quantized_result,
)
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.payload.mode_writer import ModeWriter
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
)
from executorch.exir.graph_facts import static_sizes
from executorch.exir.tensor import dim_order_of

_INT32 = torch.iinfo(torch.int32)


class Item(NamedTuple):
    """A result of a call of several."""

    place: int
    value: Node


class GraphWriter(ModeWriter[Tensor, Operator]):
    backend, partitioner = "QnnBackend", "QnnPartitioner"

    def __init__(self, table: OpTable[Any], constants: Any, name: str = "forward") -> None:
        super().__init__(table, constants)
        self.name = name
        self.origins: list[Node | None] = []  # of each operator the call that it comes from
        self._names: dict[str, int] = {}
        self._inputs: list[int] = []
        self._results: dict[int, int] = {}  # by their places

    # ---- What a graph has ----

    def lower_alone(self, step: ModeStep) -> None:
        """A step of what is between operators, in the first of its layout candidates."""
        self._read_quantized = dequantizes_read([step])
        ports = self.ports_of(step)
        self.layout, self.candidate = next(iter(ports.candidates.items()))
        for node, layout in zip(ports.reads, self.candidate.wants, strict=True):
            made = self.make_value(node, layout or PLAIN)
            self.define(node, made, layout or PLAIN)
            self._inputs.append(made)
        self.step = step
        self.table.row_of(step).lower(self, step)
        written = {each for operation in self.operations for each in operation.outputs}
        read = {each for operation in self.operations for each in operation.inputs}
        self._results = dict(enumerate(sorted(written - read)))

    def graph(self) -> Graph:
        outputs = tuple(self._results[place] for place in sorted(self._results))
        return Graph(
            self.name, tuple(self.values), tuple(self.operations), tuple(self._inputs), outputs
        )

    def why_not_taken(self, node: Node) -> str:
        value = node.meta.get("val")
        taken = isinstance(value, torch.Tensor) and value.dtype in TYPES
        return "" if taken else f"expected one of {', '.join(map(str, TYPES))}"

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        """With its dimensions in the order of memory; what has 64 bits outside is cast."""
        order = [int(dim) for dim in dim_order_of(node.meta["val"])]
        sizes = [static_sizes(node)[dim] for dim in order]
        made = self._outside(node, f"input_{place}_{node.name}", TensorType.APP_WRITE, sizes)
        self._inputs.append(made)
        if node.meta["val"].dtype == torch.int64:
            made = self.emit("Cast", [made], self.native(sizes, DataType.INT_32, node.name))
        layout = self.layout_outside(node)
        if in_layout(range(len(order)), layout) == order:
            return made, layout
        back = [order.index(dim) for dim in range(len(order))]
        return self.permuted(made, back), PLAIN

    def layout_outside(self, node: Node) -> Layout:
        order = [int(dim) for dim in dim_order_of(node.meta["val"])]
        return NHWC if len(order) > 3 and order == dims_in(NHWC, len(order)) else PLAIN

    def make_value(self, node: Node, layout: Layout) -> int:
        return self.add_value(self._value(node, self._name(node), TensorType.NATIVE, layout))

    def make_output(self, node: Node, place: int) -> int:
        sizes = [static_sizes(node)[dim] for dim in dim_order_of(node.meta["val"])]
        made = self._outside(node, f"output_{node.name}", TensorType.APP_READ, sizes)
        self._results[place] = made
        return made

    def write(self, node: Node, layout: Layout = PLAIN) -> int:
        """What has 64 bits outside is computed in 32, and cast at the end; other orders of memory are transposed to."""
        is_same = node.meta["val"].dtype != torch.int64 and not self._order_behind(node)
        if is_same or self.layout_of_output(node) != layout:
            return super().write(node, layout)
        made = self.make_value(node, layout)
        self.define(node, made, layout)
        return made

    def copy(self, node: Node, source: int, target: int) -> None:
        """In the order of memory outside; casts to 64 bits, or is the same."""
        is_same = self.values[source].dtype == self.values[target].dtype
        order = self._order_behind(node)
        if order and is_same:
            self.emit("Transpose", [source], target, perm=uints(order))
            return
        source = self.permuted(source, order) if order else source
        self.emit("Reshape" if is_same else "Cast", [source], target)

    def _order_behind(self, node: Node) -> list[int]:
        """Of an output that is neither dense nor channels last; else empty."""
        order = [int(dim) for dim in dim_order_of(node.meta["val"])]
        usual = in_layout(range(len(order)), self.layout_outside(node))
        return [] if order == usual else order

    def transpose(
        self, node: Node, source: int, target: int, before: Layout, after: Layout
    ) -> None:
        perm = permutation(len(self.values[source].dims), before, after)
        is_same = self.values[source].dtype == self.values[target].dtype
        if not is_same or (after == PLAIN and self._order_behind(node)):
            source = self.permuted(source, perm)
            self.copy(node, source, target)
        else:
            self.emit("Transpose", [source], target, perm=uints(perm))

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        """Lined up with values of `rank` dimensions. Of a quantized step: quantized, where it is dequantized."""
        is_quantized = is_dequantize(node) and self.step is not None and self.step.is_quantized
        key = node, layout, rank, is_quantized
        return self.constant_once(key, lambda: self._constant(node, layout, rank, is_quantized))

    # ---- For rows ----

    def give(self, kind: str, *inputs: int, **parameters: Parameter) -> int:
        """An operator that gives what the step does, in the layout that its row gives."""
        target = self.write(self.step.result, self.candidate.gives or PLAIN)
        made = self._before_convert(inputs[0], target)
        self.emit(kind, inputs, made, **parameters)
        return self._convert(made, target)

    def give_items(self, kind: str, *inputs: int, **parameters: Parameter) -> None:
        """Of a call of several results; those that nobody reads are written, too."""
        found = {each.place: each.value for each in self.items(self.step)}
        layout = self.candidate.gives or PLAIN
        targets = []
        for place, value in enumerate(self.step.head.meta["val"]):
            sizes = in_layout([int(size) for size in value.shape], layout)
            if place in found:
                targets.append(self.write(found[place], layout))
            elif self.step.is_quantized and value.dtype.is_floating_point:
                targets.append(self.like(inputs[0], sizes))
            else:
                targets.append(self.native(sizes, TYPES[value.dtype]))
        outputs = [self._before_convert(inputs[0], each) for each in targets]
        self.emit(kind, inputs, *outputs, **parameters)
        for made, target in zip(outputs, targets, strict=True):
            self._convert(made, target)

    def _before_convert(self, source: int, target: int) -> int:
        """Where a row moves values of one encoding into a result of another one: what it moves them into."""
        before, after = self.values[source].encoding, self.values[target].encoding
        is_moved = self.table.row_of(self.step).annotation.kind is Kind.SHARED
        if not is_moved or None in (before, after) or before == after:
            return target
        return self.like(source, self.values[target].dims)

    def _convert(self, made: int, target: int) -> int:
        return made if made == target else self.emit("Convert", [made], target)

    def items(self, step: ModeStep) -> list[Item]:
        """Results of a call of several that are read; of a quantized step as they are quantized."""
        if not isinstance(step.head.meta["val"], tuple | list):
            return [Item(0, step.result)]
        nodes = [step.result] if step.result is not step.head else list(step.head.users)
        found = []
        for node in nodes:
            item = node.args[0] if is_quantize(node) else node
            quantized = quantized_result(item) if step.is_quantized and is_float(item) else None
            found.append(Item(item.args[1], quantized or item))
        return found

    def emit(self, kind: str, inputs: Sequence[int], *outputs: int, **parameters: Parameter) -> int:
        """The first output."""
        head = None if self.step is None else self.step.head
        name = self.unique(kind if head is None else head.name)
        self.operations.append(Operator(name, kind, tuple(inputs), outputs, parameters))
        self.origins.append(head)
        return outputs[0]

    def like(self, value: int, sizes: Sequence[int]) -> int:
        """A new value of the same type and encoding."""
        source = self.values[value]
        return self.native(sizes, source.dtype, encoding=source.encoding)

    def native(
        self,
        sizes: Sequence[int],
        dtype: DataType,
        name: str = "",
        encoding: Encoding | None = None,
    ) -> int:
        name = name or ("value" if self.step is None else self.step.head.name)
        named = self.unique(f"{name}@0")
        dims = tuple(sizes) or (1,)
        return self.add_value(Tensor(named, TensorType.NATIVE, dtype, dims, encoding))

    def permuted(self, value: int, perm: Sequence[int]) -> int:
        sizes = [self.values[value].dims[dim] for dim in perm]
        return self.emit("Transpose", [value], self.like(value, sizes), perm=uints(perm))

    def reshaped(self, value: int, sizes: Sequence[int]) -> int:
        """The value itself where it has these sizes."""
        if list(self.values[value].dims) == list(sizes):
            return value
        return self.emit("Reshape", [value], self.like(value, sizes))

    def static(
        self, data: torch.Tensor, dtype: DataType, name: str, encoding: Encoding | None = None
    ) -> int:
        data = narrow(data.detach()).contiguous()
        dims = tuple(data.shape) or (1,)
        named = self.unique(f"{name}@0")
        return self.add_value(
            Tensor(named, TensorType.STATIC, dtype, dims, encoding, data.reshape(dims))
        )

    def cast(self, value: int, dtype: torch.dtype) -> int:
        """In the type of a dtype; a quantized value stays as it is."""
        found = self.values[value]
        if found.dtype is TYPES[dtype] or found.dtype.is_quantized:
            return value
        if found.data is not None:
            return self.static(found.data.to(dtype), TYPES[dtype], found.name.partition("@")[0])
        return self.emit("Cast", [value], self.native(found.dims, TYPES[dtype]))

    def number(
        self, value: float | int | bool, like: Node, dtype: torch.dtype | None = None
    ) -> int:
        """A number beside the operand `like`: in the dtype that is computed in, else the operand's; of a quantized step
        with an encoding that has it exactly."""
        if not (self.step.is_quantized and is_float(like)):
            dtype = dtype or like.meta["val"].dtype
            return self.static(torch.tensor([value], dtype=dtype), TYPES[dtype], "number")
        kind = self.values[self.read(like, self.layout_of(like))].dtype
        sign = -1 if value < 0 else 1
        encoding = Encoding(EncodingType.SCALE_OFFSET, (abs(value) or 1.0,), (min(sign, 0),))
        quantized = torch.tensor([0 if value <= 0 else 1], dtype=torch.int32)
        bits = {1: torch.uint8, 2: torch.uint16}.get(kind.num_bytes, torch.int32)
        if value == 0:
            encoding = Encoding(EncodingType.SCALE_OFFSET, (1.0,), (0,))
        return self.static(quantized.to(bits), kind, "number", encoding)

    def filter(self, node: Node, order: Sequence[int], add_dim: int | None = None) -> int:
        """A weight with its dimensions in an order; `add_dim`: where one of size 1 is put in before."""
        found = self.quantized_data(node)
        data = self.data(node) if found is None else found[0]
        data = (data if add_dim is None else data.unsqueeze(add_dim)).permute(*order)
        if found is None:
            return self.static(data, TYPES[data.dtype], node.name)
        return self.quantized_static(data, found[1], order, node.name, add_dim)

    def quantized_static(
        self,
        data: torch.Tensor,
        qparams: Quantization,
        order: Sequence[int],
        name: str,
        add_dim: int | None = None,
    ) -> int:
        axis = qparams.axis
        if axis is not None:
            axis = axis % (len(order) - (add_dim is not None))
            axis = list(order).index(axis if add_dim is None or axis < add_dim else axis + 1)
        if qparams.group_size != 0:
            blocks = encoding_of_blocks(self.constants[qparams.scale], axis)
            return self.static(data, quantized_type(qparams), name, blocks)
        encoding = encoding_of(qparams, self.constants, axis)
        return self.static(stored_as(qparams, data), quantized_type(qparams), name, encoding)

    def along(self, slopes: Node, axis: int, rank: int) -> int:
        """A constant of one dimension, or a number, along an axis of values of `rank` dimensions."""
        found = self.quantized_data(slopes)
        data = (self.data(slopes) if found is None else found[0]).flatten()
        sizes = [-1 if dim == axis else 1 for dim in range(rank)]
        data = data.reshape(sizes if data.numel() > 1 else [1] * rank)
        if found is None:
            return self.static(data, TYPES[data.dtype], slopes.name)
        return self.quantized_static(data, found[1], range(rank), slopes.name)

    def vector(self, values: torch.Tensor, name: str, bits: int = 8, scale: float = 0.0) -> int:
        """Floats that the compiler made, in the input's dtype; of a quantized step symmetric, of so many bits, by
        `scale` or their range."""
        values = values.detach().float()
        if not self.step.is_quantized:
            dtype = self.step.head.args[0].meta["val"].dtype
            return self.static(values.to(dtype), TYPES[dtype], name)
        most = 2 ** (bits - 1) - 1
        scale = scale or float(values.abs().max()) / most or 1.0
        made = torch.round(values.double() / scale).clamp(-most, most)
        encoding = Encoding(EncodingType.SCALE_OFFSET, (scale,), (0,))
        dtype = {8: torch.int8, 16: torch.int16, 32: torch.int32}[bits]
        return self.static(made.to(dtype), DataType[f"SFIXED_POINT_{bits}"], name, encoding)

    def scale_of(self, value: int) -> float:
        """Of a quantized value with one scale; 1 of any other."""
        encoding = self.values[value].encoding
        return 1.0 if encoding is None else encoding.scales[0]

    def data(self, node: Node) -> torch.Tensor:
        """Of a constant, in floats where it is dequantized."""
        return self.constants[node].detach()

    def quantized_data(self, node: Node) -> tuple[torch.Tensor, Quantization] | None:
        """Of a constant that a quantized step dequantizes."""
        if not (self.step.is_quantized and is_dequantize(node)):
            return None
        qparams = quantization_of(node)
        source = qparams.source
        return self.constants[source].detach(), qparams

    def unique(self, name: str) -> str:
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        if count == 0:
            return name
        stem, at, index = name.partition("@")
        return self.unique(f"{stem}_{count}{at}{index}")

    # ---- Tensors ----

    def _name(self, node: Node) -> str:
        """Of its call and place."""
        if node.target is operator.getitem:
            return self.unique(f"{node.args[0].name}@{node.args[1]}")
        return self.unique(f"{node.name}@0")

    def _outside(self, node: Node, name: str, kind: TensorType, sizes: Sequence[int]) -> int:
        value = self._value(node, name, kind, PLAIN)
        dtype = DataType.INT_64 if node.meta["val"].dtype == torch.int64 else value.dtype
        return self.add_value(Tensor(name, kind, dtype, tuple(sizes) or (1,), value.encoding))

    def _value(self, node: Node, name: str, kind: TensorType, layout: Layout) -> Tensor:
        sizes = tuple(in_layout(static_sizes(node), layout)) or (1,)
        qparams = None if is_float(node) else qparams_of(node)
        if qparams is None:
            return Tensor(name, kind, TYPES[node.meta["val"].dtype], sizes)
        encoding = encoding_of(qparams, self.constants)
        return Tensor(name, kind, quantized_type(qparams), sizes, encoding)

    def _constant(self, node: Node, layout: Layout, rank: int, is_quantized: bool) -> int:
        found = self.quantized_data(node) if is_quantized else None
        data = self.data(node) if found is None else found[0]
        before = data.dim()
        if layout != PLAIN and 0 < before < rank:
            data = data.reshape((1,) * (rank - before) + tuple(data.shape))
        order = dims_in(layout, data.dim())
        data = data.permute(order)
        if found is None:
            return self.static(data, TYPES[data.dtype], node.name)
        qparams, added = found[1], data.dim() - before
        if qparams.axis is not None:
            qparams = replace(qparams, axis=qparams.axis % before + added)
        return self.quantized_static(data, qparams, order, node.name)


def narrow(data: torch.Tensor) -> torch.Tensor:
    """Without 64 bits. ValueError for integers that 32 do not hold."""
    if data.dtype != torch.int64:
        return data
    if data.numel() and not _INT32.min <= int(data.min()) <= int(data.max()) <= _INT32.max:
        raise ValueError(
            f"expected integers of 32 bits, found {int(data.min())}..{int(data.max())}"
        )
    return data.to(torch.int32)
