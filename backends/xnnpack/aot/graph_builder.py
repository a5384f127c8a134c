# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK's writer: values, constants and nodes of one payload, for the rows of ops.py.

A value of three to five dimensions may exist in two layouts: plain, and channels last, which is the memory of a
channels_last tensor, or of the positions of NCL or NCDHW."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE, QUANTIZE, dynamic_source
from executorch.backends.xnnpack.aot.steps import Mode, Step
from executorch.backends.xnnpack.aot.value_types import (
    FLOATS,
    Type,
    by_row,
    quantized_type,
    type_of,
    x_value,
)
from executorch.backends.xnnpack.serialization.graph import (
    ALIGNMENT,
    INVALID_VALUE_ID,
    NAMED_DATA_OFFSET,
    NO_DEBUG_HANDLE,
    make,
)
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Layout,
    dims_in,
    in_layout,
    permutation,
)
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.payload.writer import NotCompiled, Writer
from executorch.exir.backend.lowering.quantized import quantizes_back
from executorch.exir.error import ExportErrorType
from executorch.exir.graph_facts import op_name
from executorch.exir.sym_util import eval_shape_upper_bound
from executorch.exir.tensor import dim_order_of

ORDER = {layout: permutation(4, other, layout) for layout, other in ((NHWC, PLAIN), (PLAIN, NHWC))}
# By the name of an operator without a row, what makes a visitor of it (users register a NodeVisitor) from the program,
# arguments by node, and the store of named data. Its define_node(node, graph, ids, debug handle) writes a call.
VISITORS: dict[str, Callable[..., Any]] = {}

_OTHER = ""  # of an argument whose memory is neither
_INPUT, _OUTPUT = 1, 2


def shape_of(node: Node) -> list[int]:
    """Sizes, the largest where they are dynamic."""
    return eval_shape_upper_bound(node.meta["val"].shape)


def order_of(rank: int, layout: Layout) -> list[int] | None:
    """The permutation of the other layout that gives this one; None for ranks that have one layout only."""
    if rank not in (3, 4, 5):
        return None
    return permutation(rank, PLAIN if layout == NHWC else NHWC, layout)


def axis_in_layout(axis: int, rank: int, layout: Layout) -> int:
    return dims_in(layout, rank).index(axis)


class NotInXnnpack(NotCompiled):
    """A program that XNNPACK has no form for."""


class GraphBuilder(Writer[Any, Any]):
    """Of one XNNGraph."""

    backend, partitioner = "XnnpackBackend", "XnnpackPartitioner"
    alignment = ALIGNMENT

    def __init__(self, table: OpTable[Any], constants: Mapping[Node, torch.Tensor]) -> None:
        super().__init__(table, constants)
        self._data: list[Any] = [make("ConstantDataOffset", offset=0, size=0, named_key="")]
        self._data_places: dict[str, int] = {}
        self._quantized_rows: dict[int, int] = {}  # float value -> the same, quantized by rows
        self._externals: dict[int, list[int]] = {_INPUT: [], _OUTPUT: []}

    def graph(self) -> Any:
        """What is there so far."""
        return make(
            "XNNGraph",
            version="0",
            xnodes=self.operations,
            xvalues=self.values,
            num_externs=sum(map(len, self._externals.values())),
            input_ids=self._externals[_INPUT],
            output_ids=self._externals[_OUTPUT],
            constant_data=self._data,
        )

    def visit(
        self, node: Node, define_node: Callable[[Node, Any, dict[Node, int], int], None]
    ) -> None:
        """Lets a visitor of VISITORS write what `node` computes; its operands are there, plain."""
        ids = {each: self.read(each) for each in node.all_input_nodes if each not in self.constants}
        define_node(node, self.graph(), ids, self._handle(node))
        if node not in ids:
            raise ValueError(
                f"the visitor of {op_name(node)} wrote no value for {node.name}; call define_tensor or "
                "define_nodes_tensor_inputs_outputs"
            )
        self.define(node, ids[node])

    def refused(self, reason: str) -> Exception:
        return NotInXnnpack(
            ExportErrorType.NOT_SUPPORTED,
            f"XnnpackBackend cannot compile this program, something is not supported in XNNPACK Delegate: {reason}. "
            "Use XnnpackPartitioner, which leaves out what XNNPACK does not take",
        )

    # Arguments of the delegate

    def why_not_taken(self, node: Node) -> str:
        """8-bit values have the type of who makes or reads them."""
        value = node.meta.get("val")
        is_stored = op_name(node) == QUANTIZE or any(
            op_name(user) == DEQUANTIZE for user in node.users
        )
        is_taken = isinstance(value, torch.Tensor) and (
            value.dtype in FLOATS or (value.dtype == torch.int8 and is_stored)
        )
        return "" if is_taken else "floats are expected, or what a dequantize reads"

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        layout, made = self.layout_outside(node), self._external(node, _INPUT, place)
        if layout != _OTHER:
            return made, layout
        order = dim_order_of(node.meta["val"])
        plain = self._value(shape_of(node), type_of(node))
        self._permute(node, made, plain, [order.index(dim) for dim in range(len(order))])
        return plain, PLAIN

    def make_output(self, node: Node, place: int) -> int:
        return self._external(node, _OUTPUT, len(self._externals[_INPUT]) + place)

    def write_output(self, node: Node, place: int) -> None:
        if self.layout_outside(node) != _OTHER:
            super().write_output(node, place)
            return
        here, there = self.read(node), self.make_output(node, place)
        self._permute(node, here, there, list(dim_order_of(node.meta["val"])))

    def layout_outside(self, node: Node) -> Layout:
        order = list(dim_order_of(node.meta["val"]))
        if order == sorted(order):
            return PLAIN
        return NHWC if len(order) > 3 and order == dims_in(NHWC, len(order)) else _OTHER

    def _external(self, node: Node, flag: int, place: int) -> int:
        """With its dimensions in the order of memory."""
        shape = [shape_of(node)[dim] for dim in dim_order_of(node.meta["val"])]
        made = self._value(shape, type_of(node), external=place, flags=flag)
        self._externals[flag].append(made)
        return made

    # Values

    def stored(self, node: Node) -> Node:
        reads_stored = self.step is not None and self.step.mode is Mode.STATIC
        return node.args[0] if reads_stored and op_name(node) == DEQUANTIZE else node

    def operands(self, step: Step) -> list[Node]:
        if step.mode is Mode.DYNAMIC:
            return [dynamic_source(step.head.args[0])]
        if quantizes_back(step.head):
            return [step.head.args[0].args[0]]
        is_static = step.mode is Mode.STATIC
        return [
            each.args[0] if is_static and op_name(each) == DEQUANTIZE else each
            for each in super().operands(step)
        ]

    def joined(self, step: Step) -> list[Node]:
        nodes = super().joined(step)
        if step.mode is Mode.FLOAT:
            return nodes
        return [
            *(each for each in step.head.all_input_nodes if op_name(each) == DEQUANTIZE),
            *nodes,
        ]

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        source = self.stored(node)
        tensor = self.constants[source]
        while layout == NHWC and tensor.dim() < rank and tensor.numel() > 1:
            tensor = tensor.unsqueeze(0)  # lines up as broadcasting does
        if layout == NHWC and tensor.dim() == rank:
            tensor = tensor.permute(dims_in(NHWC, rank))
        return self.constant(source, tensor, quantized_type(node) if source is not node else None)

    def read_rows_quantized(self, node: Node, dims: int, layout: str = PLAIN) -> int:
        """A float value, quantized while running; the last `dims` dimensions share their parameters."""
        value = self.read(node, layout)
        if value not in self._quantized_rows:
            made = self._value(in_layout(shape_of(node), layout), by_row(dims))
            self.emit(node, "XNNConvert", input_id=value, output_id=made)
            self._quantized_rows[value] = made
        return self._quantized_rows[value]

    def make_value(self, node: Node, layout: Layout) -> int:
        return self._value(in_layout(shape_of(node), layout), type_of(node))

    def intermediate(self, shape: list[int], like: Node) -> int:
        """A value that is no node's, of the type of `like` as it is read."""
        return self._value(shape, type_of(self.stored(like)))

    def constant(
        self,
        node: Node,
        tensor: torch.Tensor,
        stored: Type | None = None,
        shape: torch.Size | None = None,
    ) -> int:
        """A constant made of the data of `node`; `stored` for what is quantized, `shape` when it is not that of
        `tensor`."""
        place = self.data(node, tensor)
        stored = FLOATS[tensor.dtype] if stored is None else stored
        sizes = tuple(tensor.shape if shape is None else shape)
        return self.constant_once(
            (place, sizes, stored), lambda: self._value(list(sizes), stored, constant=place)
        )

    def data(self, node: Node, tensor: torch.Tensor, prefix: str = "") -> int:
        """The index of bytes that are kept outside of the graph."""
        filed = self.store.file(node, tensor, prefix)
        if filed.key not in self._data_places:
            where = {"offset": NAMED_DATA_OFFSET, "size": filed.num_bytes, "named_key": filed.key}
            self._data_places[filed.key] = len(self._data)
            self._data.append(make("ConstantDataOffset", **where))
        return self._data_places[filed.key]

    def _value(
        self,
        shape: list[int],
        stored: Type,
        constant: int = 0,
        external: int = INVALID_VALUE_ID,
        flags: int = 0,
    ) -> int:
        made = x_value(len(self.values), shape, stored, constant, external, flags)
        return self.add_value(made)

    # Nodes

    def emit(
        self,
        node: Node,
        kind: str,
        limits: tuple[float, float] | None = None,
        **fields: Any,
    ) -> None:
        """Adds a node of `kind`, made from `node`."""
        union = make(kind, **{"flags": 0, **fields})
        bounds = None
        if limits is not None:
            bounds = make("OutputMinMax", output_min=limits[0], output_max=limits[1])
        self.operations.append(
            make(
                "XNode",
                xnode_union=union,
                debug_handle=self._handle(node),
                output_min_max=bounds,
            )
        )

    def copy(self, node: Node, source: int, target: int) -> None:
        self.emit(node, "XNNCopy", input_id=source, output_id=target)

    def transpose(
        self, node: Node, source: int, target: int, before: Layout, after: Layout
    ) -> None:
        self._permute(node, source, target, permutation(node.meta["val"].dim(), before, after))

    def _permute(self, node: Node, source: int, target: int, order: list[int]) -> None:
        ids = {"input_id": source, "output_id": target}
        self.emit(node, "XNNStaticTranspose", num_dims=len(order), perm=order, **ids)

    def _handle(self, node: Node) -> int:
        handle = self.handle(node)
        return NO_DEBUG_HANDLE if handle is None else handle


def is_channels_last(node: Node) -> bool:
    order = list(dim_order_of(node.meta["val"]))
    return len(order) > 3 and order == dims_in(NHWC, len(order))
