# SPDX-License-Identifier: BSD-3-Clause
"""Collects values, constants and nodes of one payload while the rows of ops.py lower a program.

A value of three to five dimensions may exist in two layouts: plain, and channels last. A row asks for the one it needs;
a transpose is made at the first such request and shared, so rows that follow what is there already cost none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.quantization import DEQUANTIZE
from executorch.backends.xnnpack.aot.steps import Mode, Step
from executorch.backends.xnnpack.aot.value_types import FLOATS, Type, quantized_type, type_of
from executorch.backends.xnnpack.serialization.graph import (
    ALIGNMENT,
    INVALID_VALUE_ID,
    NAMED_DATA_OFFSET,
    NO_DEBUG_HANDLE,
    SCHEMA,
    make,
)
from executorch.exir.backend.lowering.constant_store import ConstantStore
from executorch.exir.backend.lowering.steps import nodes_of
from executorch.exir.backend.payload import operator_key
from executorch.exir.graph_facts import op_name
from executorch.exir.sym_util import eval_shape_upper_bound
from executorch.exir.tensor import dim_order_of

PLAIN = "plain"
NHWC = (
    "nhwc"  # channels last: memory of a channels_last tensor, or of the positions of NCL or NCDHW
)
ORDER = {NHWC: [0, 2, 3, 1], PLAIN: [0, 3, 1, 2]}
_ORDERS = {
    3: {NHWC: [0, 2, 1], PLAIN: [0, 2, 1]},
    4: ORDER,
    5: {NHWC: [0, 2, 3, 4, 1], PLAIN: [0, 4, 1, 2, 3]},
}
_OTHER = ""  # of an argument whose memory is neither
_INPUT, _OUTPUT = 1, 2


def shape_of(node: Node) -> list[int]:
    """Sizes, the largest where they are dynamic."""
    return eval_shape_upper_bound(node.meta["val"].shape)


def order_of(rank: int, layout: str) -> list[int] | None:
    """The permutation of the other layout that gives this one; None for ranks that have one layout only."""
    return _ORDERS[rank][layout] if rank in _ORDERS else None


def in_layout(shape: list[Any], layout: str) -> list[Any]:
    return shape if layout == PLAIN else [shape[dim] for dim in _ORDERS[len(shape)][NHWC]]


def axis_in_layout(axis: int, rank: int, layout: str) -> int:
    return axis if layout == PLAIN else _ORDERS[rank][NHWC].index(axis)


@dataclass
class GraphBuilder:
    """`constants`: what the program's data placeholders hold."""

    constants: Mapping[Node, torch.Tensor]
    store: ConstantStore = field(default_factory=lambda: ConstantStore(ALIGNMENT))

    def __post_init__(self) -> None:
        self._nodes: list[Any] = []
        self._values: list[Any] = []
        self._data: list[Any] = [make("ConstantDataOffset", offset=0, size=0, named_key="")]
        self._ids: dict[tuple[Node, str], int] = {}
        self._constant_ids: dict[tuple[int, tuple[int, ...], Type], int] = {}
        self._data_places: dict[str, int] = {}
        self._quantized_rows: dict[int, int] = {}  # float value -> the same, quantized by rows
        self.reads_stored = False  # of dequantize: read what it reads
        self.handles: dict[
            str, tuple[int, ...]
        ] = {}  # in names of operators -> what they stand for
        self.step: Step | None = None  # that is being lowered
        self._outputs: dict[Node, tuple[str, int]] = {}  # -> layout, place
        self._repeated: list[tuple[Node, int]] = []  # outputs given before, and their places
        self._written: set[Node] = set()  # outputs that a node writes itself
        self._externals: dict[int, list[int]] = {_INPUT: [], _OUTPUT: []}

    # Arguments of the delegate

    def add_input(self, node: Node) -> None:
        place = len(self._externals[_INPUT])
        layout, made = _layout_outside(node), self._external(node, _INPUT, place)
        if layout == _OTHER:
            order = dim_order_of(node.meta["val"])
            outside, made = made, self._value(shape_of(node), type_of(node))
            self._permute(node, outside, made, [order.index(dim) for dim in range(len(order))])
        self._ids[node, layout or PLAIN] = made

    def expect_output(self, node: Node) -> None:
        """In the order of the outputs, after all inputs. Any node: an input, a constant, one that was given before."""
        place = len(self._outputs) + len(self._repeated)
        if node in self._outputs:
            self._repeated.append((node, place))
        else:
            self._outputs[node] = (_layout_outside(node), place)

    def finish(self) -> Any:
        """The graph; writes those outputs that no node wrote in the layout they need."""
        missing = [(node, place) for node, (_, place) in self._outputs.items()]
        missing = [(node, place) for node, place in missing if node not in self._written]
        for node, place in (*missing, *self._repeated):
            self._write_output(node, place)
        return make(
            "XNNGraph",
            version="0",
            xnodes=self._nodes,
            xvalues=self._values,
            num_externs=sum(map(len, self._externals.values())),
            input_ids=self._externals[_INPUT],
            output_ids=self._externals[_OUTPUT],
            constant_data=self._data,
        )

    def define(
        self, node: Node, define_node: Callable[[Node, Any, dict[Node, int], int], None]
    ) -> None:
        """Lets a visitor (operators/node_visitor.py) write what `node` computes; its operands are there, plain."""
        graph = make(
            "XNNGraph",
            version="0",
            xnodes=self._nodes,
            xvalues=self._values,
            input_ids=self._externals[_INPUT],
            output_ids=self._externals[_OUTPUT],
            constant_data=self._data,
        )
        ids = {each: self.read(each) for each in node.all_input_nodes if each not in self.constants}
        handle = self._handle(node)
        define_node(node, graph, ids, handle)
        if node not in ids:
            raise ValueError(
                f"the visitor of {op_name(node)} wrote no value for {node.name}; call define_tensor or "
                "define_nodes_tensor_inputs_outputs"
            )
        self._ids[node, PLAIN] = ids[node]

    def _write_output(self, node: Node, place: int) -> None:
        """A copy, by itself."""
        layout = self.layout_of_output(node)
        source = PLAIN if layout == _OTHER else self.layout_of(node)
        here, there = self.read(node, source), self._external(node, _OUTPUT, place)
        if source == layout:
            self.emit(node, "XNNCopy", input_id=here, output_id=there)
        elif layout == _OTHER:
            self._permute(node, here, there, list(dim_order_of(node.meta["val"])))
        else:
            self._transpose(node, here, there, layout)

    # Values

    def layout_of(self, node: Node) -> str:
        """The layout in which the node's value exists; of two, NHWC."""
        return NHWC if (self._stored(node), NHWC) in self._ids else PLAIN

    def layout_of_output(self, node: Node) -> str:
        """The one it must have as an output; empty for what is none, or lies otherwise."""
        return self._outputs.get(node, ("",))[0]

    def exists_in(self, node: Node, layout: str) -> bool:
        """Whether reading it there costs nothing."""
        return (self._stored(node), layout) in self._ids

    def read(self, node: Node, layout: str = PLAIN, rank: int = 4) -> int:
        """The value of a node or constant, transposed if need be; `rank`: of what a constant broadcasts with."""
        source = self._stored(node)
        if source in self.constants:
            stored = quantized_type(node) if source is not node else None
            return self._read_constant(source, layout, rank, stored)
        if (source, layout) not in self._ids:
            other = PLAIN if layout == NHWC else NHWC
            made = self._value(in_layout(shape_of(source), layout), type_of(source))
            self._transpose(source, self._ids[source, other], made, layout)
            self._ids[source, layout] = made
        return self._ids[source, layout]

    def read_rows_quantized(self, node: Node, dims: int, layout: str = PLAIN) -> int:
        """A float value, quantized while running; the last `dims` dimensions share their parameters."""
        value = self.read(node, layout)
        if value not in self._quantized_rows:
            table = make("PerTokenDynamicQuant", num_nonbatch_dims=dims)
            shape = in_layout(shape_of(node), layout)
            made = self._value(shape, Type("xnn_datatype_qdint8", table))
            self.emit(node, "XNNConvert", input_id=value, output_id=made)
            self._quantized_rows[value] = made
        return self._quantized_rows[value]

    def write(self, node: Node, layout: str = PLAIN) -> int:
        """A new value for what `node` computes; the delegate's output itself when it is one in this layout."""
        if self.layout_of_output(node) == layout:
            made = self._external(node, _OUTPUT, self._outputs[node][1])
            self._written.add(node)
        else:
            made = self._value(in_layout(shape_of(node), layout), type_of(node))
        self._ids[node, layout] = made
        return made

    def share(self, node: Node, source: Node) -> None:
        """`node` has the value of `source`."""
        layout = self.layout_of(source)
        self._ids[node, layout] = self.read(source, layout)

    def rename(self, node: Node, layout: str, source: Node, of: str) -> None:
        """`node` is, in `layout`, what `source` is in the layout `of`."""
        self._ids[node, layout] = self.read(source, of)

    def same_as(self, node: Node, layout: str) -> int:
        """A value that is no node's, of the sizes of `node`."""
        return self._value(in_layout(shape_of(node), layout), type_of(node))

    def intermediate(self, shape: list[int], like: Node) -> int:
        """A value that is no node's, of the type of `like` as it is read."""
        return self._value(shape, type_of(self._stored(like)))

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
        key = (place, sizes, stored)
        if key not in self._constant_ids:
            self._constant_ids[key] = self._value(list(sizes), stored, constant=place)
        return self._constant_ids[key]

    def data(self, node: Node, tensor: torch.Tensor, prefix: str = "") -> int:
        """The index of bytes that are kept outside of the graph."""
        filed = self.store.file(node, tensor, prefix)
        if filed.key not in self._data_places:
            where = {"offset": NAMED_DATA_OFFSET, "size": filed.num_bytes, "named_key": filed.key}
            self._data_places[filed.key] = len(self._data)
            self._data.append(make("ConstantDataOffset", **where))
        return self._data_places[filed.key]

    def _stored(self, node: Node) -> Node:
        is_stored = self.reads_stored and op_name(node) == DEQUANTIZE
        return node.args[0] if is_stored else node

    def _read_constant(self, node: Node, layout: str, rank: int, stored: Type | None) -> int:
        tensor = self.constants[node]
        while layout == NHWC and tensor.dim() < rank and tensor.numel() > 1:
            tensor = tensor.unsqueeze(0)  # lines up as broadcasting does
        if layout == NHWC and tensor.dim() == rank:
            tensor = tensor.permute(_ORDERS[rank][NHWC])
        return self.constant(node, tensor, stored)

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
        self._nodes.append(
            make(
                "XNode",
                xnode_union=union,
                debug_handle=self._handle(node),
                output_min_max=bounds,
            )
        )

    def _handle(self, node: Node) -> int:
        """Of the head of the step that is being lowered, else of `node`; what the step joins is noted under it."""
        head = self.step.head if self.step is not None else node
        handle = head.meta.get("debug_handle")
        if not isinstance(handle, int):
            return NO_DEBUG_HANDLE
        key = operator_key(handle)
        joined = [head] if self.step is None else _joined(self.step)
        found = [each.meta.get("debug_handle") for each in joined]
        known = [
            *self.handles.get(key, ()),
            *(each for each in found if isinstance(each, int)),
        ]
        self.handles[key] = tuple(dict.fromkeys(known))
        return handle

    def _transpose(self, node: Node, source: int, target: int, layout: str) -> None:
        self._permute(node, source, target, _ORDERS[node.meta["val"].dim()][layout])

    def _permute(self, node: Node, source: int, target: int, order: list[int]) -> None:
        self.emit(
            node,
            "XNNStaticTranspose",
            num_dims=len(order),
            perm=order,
            input_id=source,
            output_id=target,
        )

    def _external(self, node: Node, flag: int, place: int) -> int:
        """With its dimensions in the order of memory; `place` among inputs, or among outputs."""
        place += len(self._externals[_INPUT]) if flag == _OUTPUT else 0
        shape = [shape_of(node)[dim] for dim in dim_order_of(node.meta["val"])]
        made = self._value(shape, type_of(node), external=place, flags=flag)
        self._externals[flag].append(made)
        return made

    def _value(
        self,
        shape: list[int],
        stored: Type,
        constant: int = 0,
        external: int = INVALID_VALUE_ID,
        flags: int = 0,
    ) -> int:
        dims = [int(size) for size in shape] or [1]
        value = make(
            "XNNTensorValue",
            datatype=SCHEMA.classes["XNNDatatype"][stored.name],
            num_dims=len(dims),
            dims=dims,
            constant_buffer_idx=constant,
            external_id=external,
            flags=flags,
            id_out=len(self._values),
        )
        if stored.parameters is not None:
            value = make(
                "XNNQuantizedTensorValue", tensor_value=value, quant_params=stored.parameters
            )
        self._values.append(make("XValue", xvalue_union=value))
        return len(self._values) - 1


def _joined(step: Step) -> list[Node]:
    """The nodes of a step, and the calls before them that it makes superfluous."""
    nodes = nodes_of(step)
    if step.mode is Mode.FLOAT:
        return nodes
    return [*(each for each in step.head.all_input_nodes if op_name(each) == DEQUANTIZE), *nodes]


def is_channels_last(node: Node) -> bool:
    return _layout_outside(node) == NHWC


def _layout_outside(node: Node) -> str:
    order = list(dim_order_of(node.meta["val"]))
    if order == sorted(order):
        return PLAIN
    return NHWC if len(order) > 3 and order == order_of(len(order), NHWC) else _OTHER
