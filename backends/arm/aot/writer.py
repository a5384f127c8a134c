# SPDX-License-Identifier: BSD-3-Clause
"""`TosaWriter`: the TOSA graph of one program, as the rows of ops.py write it.

A value of three dimensions or more may exist plain, as PyTorch has it, and channels last, as TOSA's convolutions want
it; where a program is transposed from one to the other is chosen for all of it (layout.py of the kit)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from executorch.backends.arm.aot.emitter import TYPES, Emitter, Tensor
from executorch.backends.arm.aot.fixed_point import multipliers_and_shifts
from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.aot.turns import fits, turned
from executorch.backends.arm.tosa.specification import TosaSpecification
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Layout,
    dims_in,
    in_layout,
    permutation,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep as Step
from executorch.exir.backend.lowering.mode_steps import dequantizes_read, static_qparams
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.payload.writer import Writer
from executorch.exir.backend.lowering.quantized import Quantization, is_dequantize
from executorch.exir.backend.lowering.steps import limits_of
from executorch.exir.graph_facts import static_sizes
from executorch.exir.tensor import dim_order_of


def axis_in(axis: int, rank: int, layout: Layout) -> int:
    return dims_in(layout, rank).index(axis % rank)


def stored(values: torch.Tensor, qparams: Quantization) -> torch.Tensor:
    """As PyTorch quantizes: in float32."""
    made = torch.round(values.float() * (1.0 / np.float32(qparams.scale))) + qparams.zero_point
    return made.clamp(qparams.quant_min, qparams.quant_max).to(qparams.dtype)


class TosaWriter(Emitter, Writer[Tensor, Any]):
    partitioner = "its partitioner"
    names_outputs = True

    def __init__(
        self,
        table: OpTable[Any],
        constants: Mapping[Node, torch.Tensor],
        spec: TosaSpecification,
        backend: str = "TOSABackend",
    ) -> None:
        super().__init__(table, constants)
        self.spec = spec
        self.backend = backend
        self.step: Step | None = None
        self._inputs: list[int] = []
        self._as_stored: set[Node] = set()
        self.origins: list[Node | None] = []  # of each operator the call that it comes from
        self._begin()

    # ---- What the format says ----

    def lower(self, program: Any, steps: Sequence[Step] | None = None) -> None:
        self._as_stored = dequantizes_read(steps or ())
        super().lower(program, steps)

    def _operator(self, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        self.origins.append(None if self.step is None else self.step.head)
        super()._operator(op, inputs, outputs, **attributes)

    def name_for(self) -> str:
        head = None if self.step is None else self.step.head
        return self.unique("value" if head is None else head.name)

    def stored(self, node: Node) -> Node:
        return node.args[0] if node in self._as_stored else node

    def why_not_taken(self, node: Node) -> str:
        value = node.meta.get("val")
        taken = isinstance(value, torch.Tensor) and value.dtype in TYPES
        return "" if taken else f"expected one of {', '.join(map(str, TYPES))}"

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        """With its dimensions in the order of memory."""
        order = [int(dim) for dim in dim_order_of(node.meta["val"])]
        sizes = static_sizes(node)
        made = self.tensor([sizes[dim] for dim in order], TYPES[node.meta["val"].dtype], node.name)
        self._names[node.name] = 1
        self._inputs.append(made)
        layout = self.layout_outside(node)
        if in_layout(range(len(order)), layout) == order:
            return made, layout
        return self.permute(made, [order.index(dim) for dim in range(len(order))]), PLAIN

    def layout_outside(self, node: Node) -> Layout:
        order = [int(dim) for dim in dim_order_of(node.meta["val"])]
        is_last = len(order) > 3 and order == dims_in(NHWC, len(order))
        return NHWC if is_last else PLAIN

    def make_value(self, node: Node, layout: Layout) -> int:
        """Where the kit transposes to."""
        return self.tensor(
            in_layout(static_sizes(node), layout),
            TYPES[node.meta["val"].dtype],
            self.unique(node.name),
        )

    def transpose(
        self, node: Node, source: int, target: int, before: Layout, after: Layout
    ) -> None:
        perms = permutation(self.rank(source), before, after)
        names = [self.values[each].name for each in (source, target)]
        self._operator("TRANSPOSE", names[:1], names[1:], perms=perms)

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        """Of a quantized step, as it is stored."""
        as_stored = node in self._as_stored and self.step is not None and self.step.is_quantized
        source = node.args[0] if as_stored else node
        tensor = self.constants[source].detach()
        if tensor.dtype == torch.int64:
            tensor = tensor.to(torch.int32)
        elif tensor.dtype == torch.float64:
            tensor = tensor.to(torch.float32)
        if tensor.dim() == 0:
            tensor = tensor.reshape(1)
        if layout != PLAIN and 1 < tensor.dim() < rank:
            tensor = tensor.reshape((1,) * (rank - tensor.dim()) + tuple(tensor.shape))
        if layout != PLAIN and tensor.dim() == 1 and rank > 2:
            tensor = tensor.reshape((1,) * (rank - 1) + tuple(tensor.shape))
        order = dims_in(layout, tensor.dim())
        return self.const(tensor.permute(order), TYPES[tensor.dtype], node.name)

    # ---- For rows ----

    @property
    def qparams(self) -> Quantization:
        """How the result of a quantized step is quantized."""
        return static_qparams(self.step.result)

    def qparams_of(self, node: Node) -> Quantization:
        """How what a quantized step reads is quantized."""
        return static_qparams(node)

    def take(self, node: Node, rank: int = 0) -> int:
        """An operand in the layout around the step."""
        return self.read(node, self.layout, rank or self.rank_of_result())

    def rank_of_result(self) -> int:
        value = self.step.head.meta["val"]
        first = value[0] if isinstance(value, tuple | list) else value
        return first.dim()

    def set_result(self, value: int) -> None:
        """The result of the step; of floats within the limits of what runs with it, as `limited` has it of others."""
        if self.step.limits is not None and not self.step.is_quantized:
            value = self.clamp(value, *self.step.limits)
        self.define(self.step.result, value, self.candidate.gives or PLAIN)

    def axis(self, dim: int) -> int:
        """Where a plain dimension of the first operand is in the layout around the step."""
        return axis_in(dim, self.step.head.args[0].meta["val"].dim(), self.layout)

    def permute(self, x: int, dims: Sequence[int]) -> int:
        if self.spec.is_U55_subset and not fits(self.shape(x)) and list(dims) != sorted(dims):
            return turned(self, x, dims)
        return super().permute(x, dims)

    # ---- Integers ----

    def rescale(
        self,
        x: int,
        dtype: str,
        scales: Sequence[float],
        input_zero: int = 0,
        output_zero: int = 0,
    ) -> int:
        """(x - input_zero) * scale, rounded once, + output_zero. Several scales: one for each index of the last axis.
        Of values of 48 bits the multipliers have 16."""
        is_wide = self.dtype(x) == "INT48"
        multipliers, shifts = multipliers_and_shifts(scales, 16 if is_wide else 32)
        inputs = [
            x,
            self.const(multipliers, "INT16" if is_wide else "INT32"),
            self.const(shifts, "INT8"),
            self.one(input_zero, self.dtype(x)),
            self.one(output_zero, dtype),
        ]
        return self.emit(
            "RESCALE",
            inputs,
            self.shape(x),
            dtype,
            scale32=not is_wide,
            rounding_mode=SCHEMA.classes["RoundingMode"].SINGLE_ROUND,
            per_channel=len(scales) > 1,
            input_unsigned=False,
            output_unsigned=False,
        )

    def looked_up(self, short: int, numbers: np.ndarray) -> int:
        """INT32, of a table of 16 bits at an INT16; what would be 2^15 is one less."""
        found = self.lookup(short, np.minimum(np.rint(numbers), 2**15 - 1))  # 2^7 times as large
        return self.rescale(found, "INT32", [2.0**-7])

    def widened(self, node: Node, scale: float | None = None, x: int | None = None) -> int:
        """What a quantized step reads as INT32 without zero point, in units of `scale`, or of its own."""
        qparams = self.qparams_of(node)
        x = self.take(node) if x is None else x
        factor = 1.0 if scale is None else qparams.scale / scale
        return self.rescale(x, "INT32", [factor], qparams.zero_point)

    def narrowed(self, x: int, scales: float | Sequence[float]) -> int:
        """Sums in units of `scales` as the result of the step is stored, within its limits."""
        qparams = self.qparams
        units = [scales] if isinstance(scales, float | int) else scales
        factors = [float(each) / qparams.scale for each in units]
        made = self.rescale(x, TYPES[qparams.dtype], factors, 0, qparams.zero_point)
        return self.limited(made)

    def limited(self, x: int) -> int:
        """A stored result within the limits of what runs with the step, and of its quantize."""
        qparams = self.qparams
        info = torch.iinfo(qparams.dtype)
        low, high = qparams.quant_min, qparams.quant_max
        if low == info.min + 1:  # around zero: that one value is as good
            low = info.min
        limits = self.step.limits or limits_of(self.step.head)
        if limits is not None:
            low, high = (
                int(np.clip(self.stored_number(limits[0]), low, high)),
                int(np.clip(self.stored_number(limits[1]), low, high)),
            )
        if (low, high) == (info.min, info.max):
            return x
        return self.clamp(x, low, high)

    def stored_number(self, number: float) -> float:
        """As the result of the step has it, not cut to its type."""
        qparams = self.qparams
        if np.isinf(number):
            return number
        return float(np.rint(number / qparams.scale)) + qparams.zero_point

    def as_result(self, node: Node) -> int:
        """An operand whose values the result of a quantized step has, as that is stored."""
        if is_dequantize(node):
            return self.requantized(self.take(node), self.qparams_of(node))
        values = self.constants[node].detach()
        if values.dim() == self.rank_of_result():
            values = values.permute(dims_in(self.layout, values.dim()))
        return self.const(stored(values, self.qparams), TYPES[self.qparams.dtype])

    def requantized(self, x: int, before: Quantization) -> int:
        """A stored value as the result of the step is stored."""
        after = self.qparams
        same = (before.scale, before.zero_point, before.dtype) == (
            after.scale,
            after.zero_point,
            after.dtype,
        )
        if same:
            return self.limited(x)
        made = self.rescale(
            x,
            TYPES[after.dtype],
            [before.scale / after.scale],
            before.zero_point,
            after.zero_point,
        )
        return self.limited(made)

    # ---- The file ----

    def packed(self) -> bytes:
        make, classes = SCHEMA.make, SCHEMA.classes
        outputs = self._named_outputs()
        version = self.spec.version
        tensors = [
            make(
                "TosaTensor",
                name=each.name,
                shape=list(each.shape),
                type=classes["DType"][each.dtype],
                data=each.data,
            )
            for each in self.values
        ]
        shapes = [
            make(
                "TosaShape",
                name=each.name,
                rank=len(each.sizes),
                data=np.array(each.sizes, dtype="<i8").tobytes(),
            )
            for each in self.shapes
        ]
        block = make(
            "TosaBasicBlock",
            name="main",
            operators=self.operations,
            tensors=tensors,
            shapes=shapes,
            inputs=[self.values[each].name for each in self._inputs],
            outputs=outputs,
        )
        graph = make(
            "TosaGraph",
            version=make(
                "Version",
                _major=version.major,
                _minor=version.minor,
                _patch=0,
                _draft=version.minor > 0,
            ),
            regions=[make("TosaRegion", name="main", blocks=[block])],
        )
        return SCHEMA.pack(graph)

    def _named_outputs(self) -> list[str]:
        """Each an own tensor, which an operator writes."""
        taken = {*self._inputs, *(i for i, each in enumerate(self.values) if each.data is not None)}
        names = []
        for node in self._outputs:
            value = self._as_outside(node)
            if value in taken:
                value = self.unary("IDENTITY", value)
            taken.add(value)
            names.append(self.values[value].name)
        return names

    def _as_outside(self, node: Node) -> int:
        """With its dimensions in the order of memory."""
        order = [int(dim) for dim in dim_order_of(node.meta["val"])]
        layout = self.layout_outside(node)
        value = self.read(node, layout)
        if in_layout(range(len(order)), layout) == order:
            return value
        return self.permute(value, order)
