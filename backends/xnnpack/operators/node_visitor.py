# SPDX-License-Identifier: BSD-3-Clause
# compat
"""`NodeVisitor`: writes values and nodes of a payload for one operator.

    @register_node_visitor
    class Cube(NodeVisitor):
        target = "my_ops.cube.default"

        def define_node(self, node, xnn_graph, vals_to_ids, debug_handle):
            self.define_nodes_tensor_inputs_outputs(node, xnn_graph, vals_to_ids)
            ...xnn_graph.xnodes.append(XNode(XNNMultiply(...), debug_handle))

A configuration of one's own (`XNNPartitionerConfig`) claims the operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.transforms.utils import get_param_tensor, is_param_node
from executorch.backends.xnnpack.aot.graph_builder import ORDER, VISITORS, shape_of
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.aot.value_types import (
    FLOATS,
    Type,
    by_channel,
    by_group,
    by_row,
    by_tensor,
    value_of,
    x_value,
)
from executorch.backends.xnnpack.operators.quant_params import QuantParams
from executorch.backends.xnnpack.serialization.graph import ALIGNMENT, NAMED_DATA_OFFSET, SCHEMA
from executorch.backends.xnnpack.utils.utils import check_or_raise, get_input_node
from executorch.backends.xnnpack.utils.xnnpack_constants import (
    XNN_INVALID_VALUE_ID,
    XNN_VALUE_FLAG_EXTERNAL_INPUT,
)
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.lowering.payload.constant_store import ConstantStore
from executorch.exir.passes.external_constants_pass import delegate_data_file

_BY_TENSOR = {
    torch.int8: "xnn_datatype_qint8",
    torch.uint8: "xnn_datatype_quint8",
    torch.int32: "xnn_datatype_qint32",
}
_BY_CHANNEL = {torch.int8: "xnn_datatype_qcint8", torch.int32: "xnn_datatype_qcint32"}


@dataclass
class InputTypeToIndex:
    """Where an operator has its input, weight and bias."""

    node_input: int
    node_weight: int
    node_bias: int | None = None


def get_tensor_value(xvalue: Any) -> Any:
    """The XNNTensorValue of a value, quantized or not."""
    held = xvalue.xvalue_union
    return getattr(held, "tensor_value", held)


class NodeVisitor:
    """`external_ids`: node -> its place among the delegate's arguments: an object with `external_id` and `io_type`."""

    target: str | list[str] = ""

    def __init__(
        self,
        exported_program: ExportedProgram,
        external_ids: dict[Node, Any],
        named_data_store: NamedDataStore,
    ) -> None:
        self._exported_program = exported_program
        self._external_ids = external_ids or {}
        self._store = ConstantStore(ALIGNMENT, named_data_store)

    @property
    def external_ids(self) -> dict[Node, Any]:
        return self._external_ids

    @property
    def exported_program(self) -> ExportedProgram:
        return self._exported_program

    def is_graph_input(self, tensor: Node) -> bool:
        """Whether it is an argument of the delegate, and no data."""
        return tensor.op == "placeholder" and not is_param_node(self.exported_program, tensor)

    def is_graph_output(self, tensor: Node) -> bool:
        return any(
            user.op == "output"
            or (
                user.op == "call_function" and "getitem" in user.name and self.is_graph_output(user)
            )
            for user in tensor.users
        )

    def gen_ids_and_flags(
        self, tensor: Node, xnn_graph: Any, quant_params: QuantParams | None
    ) -> tuple[int, int, int]:
        """(place among the arguments or XNN_INVALID_VALUE_ID, id of the new value, flags); inputs and outputs become
        the graph's."""
        made, external, flags = len(xnn_graph.xvalues), XNN_INVALID_VALUE_ID, 0
        source = quant_params.q_input if quant_params and quant_params.is_input else tensor
        if source in self.external_ids or tensor in self.external_ids:
            found = self.external_ids.get(source) or self.external_ids[tensor]
            external, flags = found.external_id, found.io_type
            ids = (
                xnn_graph.input_ids
                if flags == XNN_VALUE_FLAG_EXTERNAL_INPUT
                else xnn_graph.output_ids
            )
            ids.append(made)
        return external, made, flags

    def get_serialized_dtype(
        self, quant_params: QuantParams | None, node: Node, force_fp32: bool = False
    ) -> Any:
        kinds = SCHEMA.classes["XNNDatatype"]
        if force_fp32:
            return kinds[FLOATS[torch.float32].name]
        if quant_params is None:
            dtype = value_of(node).dtype
            check_or_raise(dtype in FLOATS, f"{node.name} is {dtype}; expected float32 or float16")
            return kinds[FLOATS[dtype].name]
        if quant_params.is_dynamic:
            return kinds["xnn_datatype_qdint8"]
        if quant_params.per_channel_group:
            return kinds["xnn_datatype_qbint4"]
        if quant_params.per_channel:
            is_4bit = quant_params.is_qc4w
            return kinds["xnn_datatype_qcint4" if is_4bit else _BY_CHANNEL[quant_params.dtype]]
        return kinds[_BY_TENSOR[quant_params.dtype]]

    def get_quant_params(
        self, quant_params: QuantParams, xnn_graph: Any, external_tag: str | None = None
    ) -> Any:
        """The table of the payload that says how a value is quantized; scales by channel are data."""
        if quant_params.is_dynamic:
            return by_row(quant_params.num_nonbatch_dims).parameters
        if not quant_params.per_channel:
            return by_tensor("", float(quant_params.scale), int(quant_params.zp)).parameters
        scales, group = quant_params.scale, quant_params.group_size
        dtype = torch.bfloat16 if group else torch.float32
        place = self._add_data(xnn_graph, scales.to(dtype), external_tag, prefix="scale_")
        if not group:
            return by_channel("", quant_params.axis, place, scales.numel()).parameters
        return by_group(group, place, scales.numel(), quant_params.axis).parameters

    def define_tensor(
        self,
        tensor: Node,
        xnn_graph: Any,
        vals_to_ids: dict[Node, int],
        convert_to_nhwc: bool = False,
        swap_in_out_for_weights: bool = False,
        quant_params: QuantParams | None = None,
        force_fp32: bool = False,
        groups: int = 1,
    ) -> None:
        """Adds the value of a node; nothing when `vals_to_ids` has it. A dequantize node stands for what it reads."""
        if tensor in vals_to_ids:
            return
        if (
            quant_params is not None
            and quant_params.is_input
            and quant_params.q_input in vals_to_ids
        ):
            vals_to_ids[tensor] = vals_to_ids[quant_params.q_input]
            return
        place = self.get_serialized_buffer_index(
            tensor, xnn_graph, vals_to_ids, convert_to_nhwc, swap_in_out_for_weights, quant_params,
            force_fp32, groups,
        )  # fmt: skip
        external, made, flags = self.gen_ids_and_flags(tensor, xnn_graph, quant_params)
        sizes = shape_of(tensor)
        if swap_in_out_for_weights:
            sizes = [sizes[1] * groups, sizes[0] // groups, *sizes[2:]]
        if convert_to_nhwc and len(sizes) == 4:
            sizes = [sizes[dim] for dim in ORDER["nhwc"]]
        parameters = None
        if quant_params is not None:
            tag = delegate_data_file(tensor)
            parameters = self.get_quant_params(quant_params, xnn_graph, tag)
        kind = self.get_serialized_dtype(quant_params, tensor, force_fp32)
        stored = Type(kind.name, parameters)
        xnn_graph.xvalues.append(x_value(made, sizes, stored, place, external, flags))
        vals_to_ids[tensor] = made

    @staticmethod
    def convert_to_qc4w(inp: torch.Tensor) -> torch.Tensor:
        """4-bit numbers of rows, two in a byte, the earlier in the low half; -8..7 is stored as 0..15."""
        numbers = (inp.to(torch.int16) + (8 if inp.dtype == torch.int8 else 0)).to(torch.uint8)
        if numbers.shape[-1] % 2:
            numbers = torch.nn.functional.pad(numbers, (0, 1), value=8)
        return (numbers[..., 1::2] << 4) | numbers[..., ::2]

    def get_serialized_buffer_index(
        self,
        tensor: Node,
        xnn_graph: Any,
        vals_to_ids: dict[Node, int],
        convert_to_nhwc: bool,
        swap_in_out_for_weights: bool,
        quant_params: QuantParams | None,
        force_fp32: bool = False,
        groups: int = 1,
    ) -> int:
        """The place of the data of a node among the payload's constants; 0 for what is computed."""
        source = tensor if quant_params is None else quant_params.q_input
        if not isinstance(source, Node) or not is_param_node(self.exported_program, source):
            return 0
        data = get_param_tensor(self.exported_program, source).detach()
        if quant_params is not None and data.is_floating_point():
            data = quant_params.quantize_tensor(data)
        if force_fp32:
            data = data.to(torch.float32)
        if swap_in_out_for_weights:  # [in, out / groups, ...] -> [out, in / groups, ...]
            parts = data.reshape(groups, data.shape[0] // groups, *data.shape[1:])
            data = parts.transpose(1, 2).reshape(-1, data.shape[0] // groups, *data.shape[2:])
        if convert_to_nhwc and data.dim() == 4:
            data = data.permute(ORDER["nhwc"])
        if quant_params is not None and (quant_params.is_qc4w or quant_params.per_channel_group):
            data = self.convert_to_qc4w(data)
        return self._add_data(xnn_graph, data, delegate_data_file(source))

    def _add_data(
        self, xnn_graph: Any, data: torch.Tensor, tag: str | None, prefix: str = ""
    ) -> int:
        filed = self._store.file_in(tag, data, prefix)
        known = [entry.named_key for entry in xnn_graph.constant_data]
        if filed.key in known:
            return known.index(filed.key)
        entry = SCHEMA.classes["ConstantDataOffset"]
        if not known:  # place 0 means none
            xnn_graph.constant_data.append(entry(offset=0, size=0, named_key=""))
        xnn_graph.constant_data.append(
            entry(offset=NAMED_DATA_OFFSET, size=filed.num_bytes, named_key=filed.key)
        )
        return len(xnn_graph.constant_data) - 1

    def define_nodes_tensor_inputs_outputs(
        self,
        node: Node,
        xnn_graph: Any,
        vals_to_ids: dict[Node, int],
        convert_to_nhwc: bool = False,
        input_type_map: InputTypeToIndex | None = None,
    ) -> None:
        """The values of a call: its operands (weight and bias as such when `input_type_map` names them) and result."""
        define = self.define_tensor
        if input_type_map is None:
            for operand in node.all_input_nodes:
                quantized = QuantParams.from_inputs(operand, self.exported_program)
                define(operand, xnn_graph, vals_to_ids, convert_to_nhwc, quant_params=quantized)
        else:
            operand = get_input_node(node, input_type_map.node_input)
            quantized = QuantParams.from_inputs(operand, self.exported_program)
            define(operand, xnn_graph, vals_to_ids, convert_to_nhwc, quant_params=quantized)
            weight = get_input_node(node, input_type_map.node_weight)
            by_weight = QuantParams.from_weights(weight, self.exported_program)
            define(weight, xnn_graph, vals_to_ids, convert_to_nhwc, quant_params=by_weight)
            place = input_type_map.node_bias
            if place is not None and len(node.args) > place and node.args[place] is not None:
                bias = get_input_node(node, place)
                by_bias = QuantParams.from_bias(bias, by_weight, quantized)
                define(bias, xnn_graph, vals_to_ids, quant_params=by_bias)
        result = QuantParams.from_outputs(node)
        define(node, xnn_graph, vals_to_ids, convert_to_nhwc, quant_params=result)

    def define_node(
        self, node: Node, xnn_graph: Any, vals_to_ids: dict[Node, int], debug_handle: int
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} must extend NodeVisitor.define_node")


# What rows of aot/ops.py lower, for code that extends a visitor of these; register_node_visitor() makes one count.
_node_visitor_dict: dict[str, type[NodeVisitor]] = dict.fromkeys(
    [*TABLE, "aten.squeeze_copy.dim"], NodeVisitor
)


def register_node_visitor(visitor: type[NodeVisitor]) -> type[NodeVisitor]:
    """Class decorator: calls of its `target` are lowered by it from now on."""
    check_or_raise(
        isinstance(visitor, type) and issubclass(visitor, NodeVisitor) and bool(visitor.target),
        f"Illegal visitor: {visitor!r} must be a subclass of NodeVisitor with a target",
    )
    targets = [visitor.target] if isinstance(visitor.target, str) else visitor.target
    VISITORS.update(dict.fromkeys(targets, visitor))
    return visitor


def get_node_visitors(*args: Any) -> dict[str, NodeVisitor]:
    """target -> visitor, made with `args`: program, external ids, store of named data."""
    return {target: visitor(*args) for target, visitor in VISITORS.items()}
