# SPDX-License-Identifier: BSD-3-Clause
"""Writes one payload: values by number, nodes over them and constants, in the format of mps.fbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.apple.mps.aot.options import MpsOptions
from executorch.backends.apple.mps.aot.schema import (
    ABSENT,
    ALIGNMENT,
    DATA_TYPES,
    MPS_HEADER,
    SCHEMA,
    mps_node,
)
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.backend.lowering.layout import PLAIN, Layout
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.payload.writer import Writer

VERSION = "0"


class MpsWriter(Writer[Any, Any]):
    """Values are MPSTensor, operations MPSNode. A node's operands have one dtype: others are cast for it. With use_fp16
    what is float32 in the program is float16 from the first node, which casts an input, to the last, which casts a
    result back; values are still said to be float32."""

    backend, partitioner = "MPSBackend", "MPSPartitioner"
    names_outputs = True

    def __init__(
        self, table: OpTable[Any], constants: Mapping[Node, torch.Tensor], options: MpsOptions
    ) -> None:
        super().__init__(table, constants)
        self.in_halves = options.use_fp16
        self._inputs: list[int] = []
        self._constants: list[int] = []
        self._segment = bytearray()
        self._dtypes: list[torch.dtype] = []  # of the values, in the program
        self._inside: list[torch.dtype] = []  # in which nodes compute them

    # ---- For rows ----

    def add(self, kind: str, **fields: Any) -> None:
        """The next node."""
        self.operations.append(mps_node(kind, **fields))

    def limit(self, low: float, high: float) -> None:
        """What the last node gives, where it takes that from its frame."""
        self.operations[-1].min_max = SCHEMA.make("MPSMinMax", min_value=low, max_value=high)

    def view(self, source: int, result: int) -> None:
        shape = self.values[result].dims
        self.add(
            "MPSView", input1_id=source, output_id=result, num_dims=len(shape), shape=list(shape)
        )

    def viewed(self, source: int, shape: Sequence[int]) -> int:
        made = self.like(source, shape)
        self.view(source, made)
        return made

    def like(self, source: int, shape: Sequence[int]) -> int:
        """A new value of the same dtype."""
        return self.value(self._dtypes[source], shape)

    def made(self, kind: str, like: int, shape: Sequence[int], **fields: Any) -> int:
        """The result of a new node, of the dtype of `like`."""
        result = self.like(like, shape)
        self.add(f"MPS{kind}", output_id=result, **fields)
        return result

    def expand(self, source: int, result: int) -> None:
        """To the sizes of the result, which has as many dimensions for the runtime: those before are added first."""
        shape, before = self.values[result].dims, self.values[source].dims
        if len(before) < len(shape):
            source = self.viewed(source, [1] * (len(shape) - len(before)) + list(before))
        self.add(
            "MPSExpand", input1_id=source, output_id=result, num_dims=len(shape), shape=list(shape)
        )

    def in_float32(self, value: int) -> int:
        """A value of 16 bits as one of 32, also where use_fp16 computes in halves."""
        wide = self.value(torch.float32, self.values[value].dims)
        self.add("MPSCast", input1_id=value, output_id=wide, dtype=DATA_TYPES[torch.float32])
        return wide

    def addmm(self, bias: int, left: int, right: int, result: int, **factors: float) -> None:
        self.add(
            "MPSAddmm", input1_id=bias, input2_id=left, input3_id=right, output_id=result, **factors
        )

    def operand(self, given: Node | float, dtype: torch.dtype, rank: int = 1) -> int:
        """A tensor or number of a call whose result has `rank`, as one of `dtype`: a number is a constant [1], or []
        where that has no dimensions."""
        if given in self.constants:
            data = self.constants[given].detach()
            key = (given, self.dtype_inside(dtype))
            return self.constant_once(key, lambda: self.constant(data.to(dtype)))
        if isinstance(given, Node):
            return self.cast(self.read(given), dtype)
        sizes = [1] if rank else []
        return self.constant_once(
            (given, dtype, self.is_wide, rank > 0),
            lambda: self.constant(torch.full(sizes, given, dtype=dtype)),
        )

    def optional(self, given: Node | None, dtype: torch.dtype) -> int:
        return ABSENT if given is None else self.operand(given, dtype)

    def filled(self, number: float, dtype: torch.dtype, shape: Sequence[int]) -> int:
        """A constant of equal numbers."""
        key = ("filled", number, dtype, self.is_wide, tuple(shape))
        return self.constant_once(
            key, lambda: self.constant(torch.full(shape, number, dtype=dtype))
        )

    def cast(self, value: int, dtype: torch.dtype) -> int:
        """A value as it is, or cast once for all that want it so."""
        inside = self.dtype_inside(dtype)
        if self._inside[value] == inside:
            return value

        def make() -> int:
            sizes = self.values[value].dims
            made = self.value(dtype, sizes)
            self.add("MPSCast", input1_id=value, output_id=made, dtype=self.data_type(dtype))
            return made

        return self.constant_once(("cast", value, dtype, inside), make)

    def data_type(self, dtype: torch.dtype) -> Any:
        """That a node names, for numbers that it makes."""
        return DATA_TYPES[self.dtype_inside(dtype)]

    def value(self, dtype: torch.dtype, sizes: Sequence[int]) -> int:
        """A new value that no call of the program has."""
        tensor = SCHEMA.make(
            "MPSTensor",
            datatype=DATA_TYPES[dtype],
            num_dims=len(sizes),
            dims=list(sizes),
            constant_buffer_size=0,
            constant_buffer=SCHEMA.make("Buffer", storage=b""),
            segment_offset=0,
        )
        self._dtypes.append(dtype)
        self._inside.append(self.dtype_inside(dtype))
        return self.add_value(tensor)

    def item(self, call: Node, place: int) -> int:
        """The new value of one of a call's results."""
        found = call.meta["val"][place]
        made = self.value(found.dtype, found.shape)
        for user in call.users:
            if user.args[1] == place:
                self.define(user, made)
        return made

    def constant(self, tensor: torch.Tensor) -> int:
        """Of its own bytes, behind those of the constants before it."""
        dtype, tensor = tensor.dtype, self.narrowed(tensor)
        data = bytes(memoryview(tensor_bytes(tensor.contiguous())))
        made = self.value(tensor.dtype, tensor.shape)
        self._dtypes[made], self._inside[made] = dtype, tensor.dtype
        self.values[made].constant_buffer_size = len(data)
        self.values[made].segment_offset = len(self._segment)
        self._segment += data
        self._constants.append(made)
        return made

    def dtype_inside(self, dtype: torch.dtype) -> torch.dtype:
        """In which nodes of the step compute."""
        return super().dtype_inside(torch.float32 if dtype == torch.float64 else dtype)

    # ---- For the kit ----

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        made = self.make_value(node, PLAIN)
        self._inputs.append(made)
        return made, PLAIN

    def make_value(self, node: Node, layout: Layout) -> int:
        found = node.meta["val"]
        return self.value(found.dtype, found.shape)

    def read(self, node: Node, layout: Layout = PLAIN, rank: int = 4) -> int:
        """As the step computes it; results as they are."""
        found = super().read(node, layout, rank)
        return found if self.step is None else self.cast(found, self._dtypes[found])

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        return self.operand(node, node.meta["val"].dtype)

    def begin(self) -> None:
        self._cast_in_place(self._inputs, torch.float16)

    def _cast_in_place(self, ids: Sequence[int], dtype: torch.dtype) -> None:
        for each in ids:
            if self._dtypes[each] == torch.float32 and self._inside[each] == torch.float16:
                self.add("MPSCast", input1_id=each, output_id=each, dtype=DATA_TYPES[dtype])

    def _results(self) -> list[int]:
        """A value of its own for each result: what is an input, a constant or another result is copied."""
        taken = {*self._inputs, *self._constants}
        ids = []
        for each in self.output_ids():
            if each in taken:
                each = self.viewed(each, self.values[each].dims)
            taken.add(each)
            ids.append(each)
        self._cast_in_place(ids, torch.float32)
        return ids

    # ---- The payload ----

    def payload(self) -> bytes:
        outputs = self._results()
        graph = SCHEMA.make(
            "MPSGraph",
            version=VERSION,
            mps_nodes=self.operations,
            mps_values=self.values,
            input_ids=self._inputs,
            output_ids=outputs,
            constant_ids=self._constants,
            graph_type=SCHEMA.classes["OpType"].mps_graph,
            constant_segment=SCHEMA.make("DataSegment", offset=0, size=0),
        )
        constants = bytes(self._segment) + bytes(-len(self._segment) % ALIGNMENT)
        return MPS_HEADER.write({"flatbuffer": SCHEMA.pack(graph), "constants": constants})
