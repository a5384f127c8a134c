# SPDX-License-Identifier: BSD-3-Clause
"""Writes one payload: values by number, and the chain of calls over them, in the format of vulkan.fbs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.vulkan.aot.memory_plan import live, planned
from executorch.backends.vulkan.aot.options import VulkanOptions
from executorch.backends.vulkan.aot.schema import (
    DATA_TYPES,
    IN_NAMED_DATA,
    NARROWED,
    SCHEMA,
    VERSION,
    VkMemoryLayout,
    VkStorageType,
    value,
)
from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.backend.lowering.layout import PLAIN, Layout
from executorch.exir.backend.lowering.op_table import OpTable
from executorch.exir.backend.lowering.payload.blocks import VULKAN_HEADER
from executorch.exir.backend.lowering.payload.writer import Writer
from executorch.exir.graph_facts import data_specs, holder_of, written_data
from executorch.exir.sym_util import eval_shape_upper_bound

PREPACK = "et_vk.prepack.default"
_WRITTEN_AS_NULL = (torch.dtype, torch.layout, torch.device, torch.memory_format)


class VulkanWriter(Writer[Any, Any]):
    """Values and calls are objects of the schema. Equal numbers are one value."""

    backend, partitioner = "VulkanBackend", "VulkanPartitioner"
    alignment = 16
    names_outputs = True
    writes_buffers = True

    def __init__(
        self, table: OpTable[Any], constants: Mapping[Node, Tensor], options: VulkanOptions
    ) -> None:
        super().__init__(table, constants)
        self.options = options
        self.in_halves = options.force_fp16
        self.inputs: list[int] = []
        self.data: list[Any] = []  # VkBytes
        self.buffers: dict[Node, Tensor] = {}  # that the program writes
        self.kept_by_calls: set[Node] = set()  # of these, such as an operator keeps itself
        self.node_handles: dict[int, tuple[int, ...]] = {}

    def lower(self, program: ExportedProgram, steps: Sequence[Any] | None = None) -> None:
        written = written_data(program.graph_signature)
        self.buffers = {
            node: holder_of(program, spec.target)[spec.target]
            for node, spec in data_specs(program).items()
            if spec.target in written
        }
        super().lower(program, steps)

    def read(self, node: Node, layout: Layout = PLAIN, rank: int = 4) -> int:
        """As the step reads it. A buffer that is written is on the device from the start."""
        if node in self.buffers:
            make = lambda: self._prepacked(self.raw(node))  # noqa: E731
            return self._converted(self.constant_once(("prepacked", node), make), node)
        return self._converted(super().read(node, layout, rank), node)

    def _converted(self, there: int, node: Node) -> int:
        """A copy of the dtype that the step computes in, where it is another: one for all that read it so."""
        found = node.meta.get("val")
        if self.step is None or not isinstance(found, Tensor) or not found.is_floating_point():
            return there
        wanted = self.dtype_inside(found.dtype)
        if self.values[there].value.datatype == DATA_TYPES[wanted]:
            return there
        return self.constant_once(("converted", there, wanted), lambda: self._copy_of(there, found))

    def _copy_of(self, source: int, like: Tensor) -> int:
        target = self.tensor(like.dtype, eval_shape_upper_bound(like.shape))
        self.convert(source, target)
        return target

    def convert(self, source: int, target: int) -> None:
        """Into the dtype of `target`."""
        nothing = self.null()
        how = [nothing, nothing, nothing, nothing, self.scalar(False), nothing]
        self.call_on_ids("aten._to_copy.default", [source, *how, target])

    # ---- Values ----

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        made = self.make_value(node, PLAIN)
        self.inputs.append(made)
        return made, PLAIN

    def make_value(self, node: Node, layout: Layout) -> int:
        return self.result_value(node.meta["val"])

    def result_value(self, found: Any) -> int:
        """What a call gives: a tensor, a size, or several."""
        if isinstance(found, tuple | list):
            return self.list_of([self.result_value(each) for each in found])
        if isinstance(found, Tensor):
            return self.tensor(found.dtype, eval_shape_upper_bound(found.shape))
        return self.add_value(value("SymInt", value=0))

    def tensor(self, dtype: torch.dtype, sizes: Sequence[int], constant: int = -1) -> int:
        """With the dtype that it has inside and at the border of the delegate."""
        narrowed = NARROWED.get(dtype, dtype) if self.options.downcast_64_bit else dtype
        inside = self.dtype_inside(dtype)
        staging = inside if constant >= 0 else narrowed
        made = value(
            "VkTensor",
            datatype=DATA_TYPES[inside],
            dims=list(sizes),
            constant_id=constant,
            mem_obj_id=-1,
            storage_type=VkStorageType.DEFAULT_STORAGE,
            memory_layout=VkMemoryLayout.DEFAULT_LAYOUT,
            staging_datatype=DATA_TYPES[staging],
        )
        return self.add_value(made)

    def dtype_inside(self, dtype: torch.dtype) -> torch.dtype:
        narrowed = NARROWED.get(dtype, dtype) if self.options.downcast_64_bit else dtype
        return super().dtype_inside(narrowed)

    def list_of(self, ids: Sequence[int]) -> int:
        return self.add_value(value("ValueList", items=list(ids)))

    def null(self) -> int:
        return self.add_value(value("Null"))

    def scalar(self, number: bool | float) -> int:
        """Equal numbers are one value, an int and a float that are equal two."""
        kind = type(number).__name__
        field, name = {"bool": ("bool_val", "Bool"), "int": ("int_val", "Int")}.get(
            kind, ("double_val", "Double")
        )
        make = lambda: self.add_value(value(name, **{field: number}))  # noqa: E731
        return self.constant_once((kind, number), make)

    # ---- Constants ----

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        """On the device, where a call copies it to."""
        key = ("prepacked", node, self.is_wide)
        return self.constant_once(key, lambda: self._prepacked(self.raw(node)))

    def raw(self, node: Node) -> int:
        """As it is in the file."""
        found = self.buffers if node in self.buffers else self.constants
        make = lambda: self.constant(node, found[node])  # noqa: E731
        return self.constant_once((node, self.is_wide), make)

    def number(self, node: Node, number: float, dtype: torch.dtype) -> int:
        """Of a call, as a tensor without dimensions."""
        make = lambda: self._prepacked(self.constant(node, torch.tensor(number, dtype=dtype)))  # noqa: E731
        return self.constant_once(("number", number, dtype, self.is_wide), make)

    def packed(self, node: Node, kind: Hashable, tensor: Tensor) -> int:
        """What is made of the data of a node; `kind` tells such constants of one node apart."""
        return self.constant_once((kind, node), lambda: self.constant(node, tensor))

    def constant(self, node: Node, tensor: Tensor) -> int:
        """`node`: whose tag says in which file the bytes are."""
        tensor = self.narrowed(tensor)
        if tensor.numel() == 0:
            entry = SCHEMA.make("VkBytes", offset=0, length=0)
        else:
            filed = self.store.file(self._data_node(node), tensor)
            entry = SCHEMA.make(
                "VkBytes", offset=IN_NAMED_DATA, length=filed.num_bytes, named_key=filed.key
            )
        self.data.append(entry)
        return self.tensor(tensor.dtype, tensor.shape, len(self.data) - 1)

    def _data_node(self, node: Node) -> Node:
        """Of what is computed ahead, the first data that it is made of."""
        while node.op != "placeholder" and node.all_input_nodes:
            node = node.all_input_nodes[0]
        return node

    def _prepacked(self, raw: int) -> int:
        source = self.values[raw].value
        made = SCHEMA.make("VkTensor", **{**vars(source), "constant_id": -1})
        target = self.add_value(SCHEMA.make("VkValue", value=made))
        self.call_on_ids(PREPACK, [raw, target])
        return target

    # ---- Calls ----

    def argument(self, given: Any, raw: bool = False) -> int:
        """The value of what a call of the graph has at a place. `raw`: constants stay as in the file."""
        if isinstance(given, Node):
            if given in self.constants:
                return self.raw(given) if raw else self.read(given)
            return self.read(given)
        if given is None or isinstance(given, _WRITTEN_AS_NULL):
            return self.null()
        if isinstance(given, str):
            return self.add_value(value("String", string_val=given))
        if isinstance(given, bool | int | float):
            return self.scalar(given)
        if isinstance(given, list | tuple):
            return self._list(list(given))
        raise TypeError(f"expected a tensor, a number, a text or a list of these, found {given!r}")

    def _list(self, items: list[Any]) -> int:
        kinds = {type(each) for each in items}
        if kinds <= {int}:
            return self.add_value(value("IntList", items=items))
        if kinds == {bool}:
            return self.add_value(value("BoolList", items=items))
        if kinds <= {int, float}:
            return self.add_value(value("DoubleList", items=[float(each) for each in items]))
        return self.list_of([self.argument(each) for each in items])

    def call(self, name: str, args: Sequence[int], result: Node) -> int:
        """A call that computes `result`, of which it makes the value."""
        made = self.result_value(result.meta["val"])
        self.define_result(result, made)
        self.call_on_ids(name, [*args, made])
        return made

    def define_result(self, result: Node, made: int) -> None:
        self.define(result, made)
        if isinstance(result.meta["val"], tuple | list):
            items = self.values[made].value.items
            for user in result.users:
                self.define(user, items[user.args[1]])

    def call_on_ids(self, name: str, args: Sequence[int]) -> None:
        number = len(self.operations)
        self.operations.append(
            SCHEMA.make("OperatorCall", node_id=number, name=name, args=list(args))
        )
        if self.step is not None:
            found = (each.meta.get("debug_handle") for each in self.joined(self.step))
            handles = tuple(dict.fromkeys(each for each in found if isinstance(each, int)))
            if handles:
                self.node_handles[number] = handles

    def copy_to(self, source: int, target: int) -> None:
        self.call_on_ids("aten.clone.default", [source, self.null(), target])

    def write_back(self, node: Node, buffer: Node) -> None:
        """Into the tensor on the device, which stays from run to run."""
        if buffer not in self.kept_by_calls:
            source, target = self.read(node), self.read(buffer)
            kinds = {self.values[each].value.datatype for each in (source, target)}
            (self.copy_to if len(kinds) == 1 else self.convert)(source, target)

    def why_not_taken(self, node: Node) -> str:
        found = node.meta.get("val")
        is_value = isinstance(found, Tensor | torch.SymInt)
        return "" if is_value else "a tensor or a size is expected"

    # ---- The payload ----

    def graph(self) -> Any:
        outputs = self.output_ids()
        self.operations = live(self.values, self.operations, outputs)
        if not self.options.skip_memory_planning:
            planned(self.values, self.operations, self.inputs, outputs)
        if not self.options.skip_tag_memory_metadata:
            self._say_where()
        return SCHEMA.make(
            "VkGraph",
            version=VERSION,
            chain=self.operations,
            values=self.values,
            input_ids=self.inputs,
            output_ids=outputs,
            constants=self.data,
            shaders=[],
            storage_type_override=VkStorageType.DEFAULT_STORAGE,
            memory_layout_override=VkMemoryLayout.DEFAULT_LAYOUT,
        )

    def _say_where(self) -> None:
        """Plain buffers, unless the options say otherwise."""
        storage, layout = self.options.storage_type_override, self.options.memory_layout_override
        for each in self.values:
            tensor = each.value
            if type(tensor).__name__ == "VkTensor" and tensor.constant_id < 0:
                tensor.storage_type = VkStorageType.BUFFER if storage is None else storage
                plain = VkMemoryLayout.TENSOR_WIDTH_PACKED
                tensor.memory_layout = plain if layout is None else layout

    def payload(self) -> bytes:
        return VULKAN_HEADER.write({"flatbuffer": SCHEMA.pack(self.graph()), "constants": b""})

    def preprocessed(self) -> PreprocessResult:
        data = self.payload()
        return PreprocessResult(data, self.node_handles or None, self.store.output())
