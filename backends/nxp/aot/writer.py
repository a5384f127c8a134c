# SPDX-License-Identifier: BSD-3-Clause
"""`TfliteWriter`: the TFLite model of one program, as the rows of ops.py write it.

A value may exist plain, as PyTorch has it, and channels last, as TFLite's convolutions want it; where a program is
transposed from one to the other is chosen for all of it (layout.py of the kit)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.nxp.aot.graph import SCHEMA, TYPES, Graph, Operator, QParams, Tensor
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Layout,
    dims_in,
    in_layout,
    permutation,
)
from executorch.exir.backend.lowering.mode_steps import qparams_of
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.payload.mode_writer import ModeWriter
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    quantization_of,
)
from executorch.exir.graph_facts import static_sizes
from executorch.exir.tensor import dim_order_of

_INT32 = torch.iinfo(torch.int32)
# Operators of limits that TFLite has; others are a MINIMUM and a MAXIMUM.
_LIMITS = {
    (0.0, torch.inf): "RELU",
    (0.0, 6.0): "RELU6",
    (-1.0, 1.0): "RELU_N1_TO_1",
    (0.0, 1.0): "RELU_0_TO_1",
}


def is_own_operator(limits: tuple[float, float] | None) -> bool:
    """Whether TFLite has an operator of just these limits."""
    return limits in _LIMITS


def one(qparams: Quantization) -> QParams:
    return QParams((float(qparams.scale),), (int(qparams.zero_point),))


def quantized(values: torch.Tensor, qparams: Quantization) -> torch.Tensor:
    """As PyTorch quantizes."""
    made = torch.round(values.detach().double() / qparams.scale) + qparams.zero_point
    return made.clamp(qparams.quant_min, qparams.quant_max).to(qparams.dtype)


class TfliteWriter(ModeWriter[Tensor, Operator]):
    """`channels_last_outside`: the runtime transposes what convolutions read and write; otherwise the model does."""

    backend, partitioner = "NeutronBackend", "NeutronPartitioner"
    names_outputs = True

    def __init__(
        self,
        table: OpTable[Any],
        constants: Mapping[Node, torch.Tensor],
        channels_last_outside: bool = False,
    ) -> None:
        super().__init__(table, constants)
        self._channels_last_outside = channels_last_outside
        self._names: dict[str, int] = {}
        self._inputs: list[int] = []
        self._outer: dict[int, Layout] = {}  # of inputs and outputs that are not plain outside

    # ---- What a model has ----

    def why_not_taken(self, node: Node) -> str:
        value = node.meta.get("val")
        taken = isinstance(value, torch.Tensor) and value.dtype in TYPES
        return "" if taken else f"expected one of {', '.join(map(str, TYPES))}"

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        layout = self.layout_outside(node)
        made = self.make_value(node, layout)
        self._inputs.append(made)
        return made, layout

    def layout_outside(self, node: Node) -> Layout:
        order = [int(dim) for dim in dim_order_of(node.meta["val"])]
        return NHWC if len(order) > 2 and order == dims_in(NHWC, len(order)) else PLAIN

    def make_value(self, node: Node, layout: Layout) -> int:
        sizes, qparams = tuple(in_layout(static_sizes(node), layout)), qparams_of(node)
        numbers = None if qparams is None else one(qparams)
        return self.add_value(
            Tensor(self.unique(node.name), sizes, node.meta["val"].dtype, numbers)
        )

    def transpose(
        self, node: Node, source: int, target: int, before: Layout, after: Layout
    ) -> None:
        rank = len(self.values[source].sizes)
        self.permute(source, target, permutation(rank, before, after))

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        """Quantized, lined up with values of `rank` dimensions."""
        key = node, layout, rank
        return self.constant_once(key, lambda: self._constant(node, layout, rank))

    def graph(self) -> tuple[Graph, list[Layout], list[Layout]]:
        """With the layouts in which its inputs and outputs are outside."""
        outputs = self._own_outputs()
        inputs, operators = list(self._inputs), list(self.operations)
        outer = {
            value: self.layout_outside(node)
            for node, ids in self._ids.items()
            for value in ids.values()
            if value in inputs
        }
        outer |= {v: self.layout_outside(n) for v, n in zip(outputs, self._outputs, strict=True)}
        if self._channels_last_outside:
            self._drop_outer_transposes(operators, inputs, outputs, outer)
        graph = Graph(tuple(self.values), tuple(operators), tuple(inputs), tuple(outputs))
        return graph, [outer[each] for each in inputs], [outer[each] for each in outputs]

    def _own_outputs(self) -> list[int]:
        """Each a tensor of its own, which an operator writes."""
        taken, found = {*self._inputs}, []
        for value in self.output_ids():
            if value in taken or self.values[value].data is not None:
                rank = len(self.values[value].sizes)
                value = self.permute(value, self.like(value), list(range(rank)))
            taken.add(value)
            found.append(value)
        return found

    def _drop_outer_transposes(
        self,
        operators: list[Operator],
        inputs: list[int],
        outputs: list[int],
        outer: dict[int, Layout],
    ) -> None:
        """The runtime has the inputs that are read channels last alone, and the outputs that are written so."""
        last = self._channels_last_transposes()
        for op in list(operators):
            if op not in last:
                continue
            (target,), source = op.outputs, op.inputs[0]
            readers = [each for each in operators if source in each.inputs]
            if last[op] == NHWC and source in inputs and source not in outputs and readers == [op]:
                inputs[inputs.index(source)] = target
                outer[target] = NHWC
            elif (
                last[op] == PLAIN
                and target in outputs
                and not (
                    source in outputs
                    or source in inputs
                    or any(target in each.inputs for each in operators)
                )
            ):
                outputs[outputs.index(target)] = source
                outer[source] = NHWC
            else:
                continue
            operators.remove(op)

    def _channels_last_transposes(self) -> dict[Operator, Layout]:
        """Those that go over to channels last, or come back from there; of images, as channels are the third dimension
        from the end to the runtime."""
        found = {}
        for op in self.operations:
            if op.kind == "TRANSPOSE":
                perm = self.values[op.inputs[1]].data.tolist()
                for layout, other in ((NHWC, PLAIN), (PLAIN, NHWC)):
                    if len(perm) == 4 and perm == permutation(4, other, layout):
                        found[op] = layout
        return found

    # ---- For rows ----

    @property
    def result_qparams(self) -> Quantization:
        return qparams_of(self.step.result)

    def give(self, kind: str, *inputs: int, options: str = "", **fields: Any) -> int:
        """An operator that gives what the step does, in the layout that its row gives; then the step's limits."""
        return self.finish(lambda made: self.emit(kind, inputs, made, options=options, **fields))

    def finish(self, write: Any) -> int:
        """`write(made)`: writes `made`, which is the step's result but for its limits."""
        target = self.write(self.step.result, self.candidate.gives or PLAIN)
        limits = self.step.limits
        made = target if limits is None else self.like(target)
        write(made)
        if limits is not None:
            self.limit(limits, made, target)
        return target

    def limit(self, limits: tuple[float, float], source: int, target: int) -> None:
        """Where the two have different qparams, limits are those of one operator."""
        if limits in _LIMITS:
            self.emit(_LIMITS[limits], [source], target)
            return
        bounds = [("MAXIMUM", limits[0]), ("MINIMUM", limits[1])]
        bounds = [(kind, bound) for kind, bound in bounds if abs(bound) != torch.inf]
        for place, (kind, bound) in enumerate(bounds):
            is_last = place == len(bounds) - 1
            made = target if is_last else self.like(target)
            source = self.emit(
                kind, [source, self.number(bound)], made, options="MaximumMinimumOptions"
            )

    def emit(
        self, kind: str, inputs: Sequence[int], output: int, options: str = "", **fields: Any
    ) -> int:
        """`options`: the table of `fields`."""
        made = SCHEMA.make(options, **fields) if options else None
        handle = None if self.step is None else self.handle(self.step.head)
        self.operations.append(Operator(kind, tuple(inputs), (output,), made, handle))
        return output

    def like(self, value: int, sizes: Sequence[int] | None = None) -> int:
        """A new value of the same type and qparams."""
        tensor = self.values[value]
        sizes = tensor.sizes if sizes is None else tuple(sizes)
        return self.add_value(
            replace(tensor, name=self.unique(tensor.name), sizes=sizes, data=None)
        )

    def permute(self, source: int, target: int, perm: Sequence[int]) -> int:
        return self.emit("TRANSPOSE", [source, self.ints(perm)], target, options="TransposeOptions")

    def reshaped(self, value: int, sizes: Sequence[int]) -> int:
        """The value itself where it has these sizes."""
        if list(self.values[value].sizes) == list(sizes):
            return value
        return self.reshape(value, self.like(value, sizes))

    def reshape(self, source: int, target: int) -> int:
        sizes = list(self.values[target].sizes)
        inputs = [source, self.ints(sizes)]
        return self.emit("RESHAPE", inputs, target, options="ReshapeOptions", new_shape=sizes)

    def sliced(
        self, value: int, begin: Sequence[int], sizes: Sequence[int], made: int | None = None
    ) -> int:
        made = self.like(value, sizes) if made is None else made
        inputs = [value, self.ints(begin), self.ints(sizes)]
        return self.emit("SLICE", inputs, made, options="SliceOptions")

    def padded(
        self, value: int, pads: Sequence[tuple[int, int]], filling: int, made: int | None = None
    ) -> int:
        """By so many before and behind each dimension; `filling`: as it is quantized."""
        if made is None and not any(map(any, pads)):
            return value
        tensor = self.values[value]
        sizes = [size + sum(pad) for size, pad in zip(tensor.sizes, pads, strict=True)]
        made = self.like(value, sizes) if made is None else made
        amounts = self.constant("paddings", torch.tensor(pads, dtype=torch.int32))
        number = self.constant("padding", torch.tensor([filling], dtype=torch.int8), tensor.qparams)
        return self.emit("PADV2", [value, amounts, number], made, options="PadV2Options")

    def ints(self, values: Sequence[int]) -> int:
        return self.constant_once(
            ("ints", *values),
            lambda: self.constant("ints", torch.tensor(list(values), dtype=torch.int32)),
        )

    def number(self, value: float) -> int:
        """In the qparams of the step's result."""
        qparams = self.result_qparams
        data = quantized(torch.tensor([value]), qparams)
        return self.constant("number", data, one(qparams))

    def constant(self, name: str, data: torch.Tensor, qparams: QParams | None = None) -> int:
        data = data.detach().contiguous()
        name = self.unique(name)
        return self.add_value(Tensor(name, tuple(data.shape), data.dtype, qparams, data))

    def unique(self, name: str) -> str:
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return name if count == 0 else f"{name}.{count}"

    def weight(
        self, node: Node, order: Sequence[int], axis: int = 0
    ) -> tuple[torch.Tensor, QParams]:
        """A dequantized constant with its dimensions in an order, and its qparams, of which `axis` is the dimension
        that it has afterwards."""
        qparams = quantization_of(node)
        data = self.constants[qparams.source].detach().permute(*order)
        scales = _numbers(qparams.scale, self.constants)
        points = tuple(int(each) for each in _numbers(qparams.zero_point or 0, self.constants))
        points *= len(scales) // len(points)
        return data, QParams(scales, points, axis if len(scales) > 1 else 0)

    def bias(
        self,
        node: Node | None,
        source: Node,
        weight: QParams,
        count: int,
        part: slice = slice(None),
    ) -> int:
        """int32, in the products of the scales of input and weights; zeros where there is none. `part`: of the
        node's values."""
        scale = qparams_of(self.stored(source)).scale
        scales = torch.tensor(weight.scales, dtype=torch.float64) * scale
        data = torch.zeros(count, dtype=torch.int32)
        if node is not None:
            made = torch.round(self._real(node)[part] / scales)
            data = made.clamp(_INT32.min, _INT32.max).to(torch.int32)
        qparams = QParams(tuple(scales.tolist()), (0,) * len(scales))
        return self.constant("bias" if node is None else node.name, data, qparams)

    def _real(self, node: Node) -> torch.Tensor:
        """What a constant of one dimension stands for."""
        qparams = quantization_of(node) if is_dequantize(node) else None
        if qparams is None:
            return self.constants[node].detach().double().flatten()
        scales = torch.tensor(_numbers(qparams.scale, self.constants), dtype=torch.float64)
        points = torch.tensor(_numbers(qparams.zero_point or 0, self.constants))
        return (self.constants[qparams.source].detach().double().flatten() - points) * scales

    @staticmethod
    def part_of(qparams: QParams, part: slice) -> QParams:
        """Of some channels."""
        if len(qparams.scales) == 1:
            return qparams
        return replace(qparams, scales=qparams.scales[part], zero_points=qparams.zero_points[part])

    def _constant(self, node: Node, layout: Layout, rank: int) -> int:
        qparams = quantization_of(node)
        data = self.constants[qparams.source].detach()
        if data.dim() < rank:
            data = data.reshape((1,) * (rank - data.dim()) + tuple(data.shape))
        return self.constant(node.name, data.permute(dims_in(layout, data.dim())), one(qparams))


def _numbers(
    value: float | int | Node | torch.Tensor, constants: Mapping[Node, torch.Tensor]
) -> tuple[float, ...]:
    found = constants[value] if isinstance(value, Node) else value
    return tuple(torch.as_tensor(found, dtype=torch.float64).flatten().tolist())
