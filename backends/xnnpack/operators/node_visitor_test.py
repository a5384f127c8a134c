# SPDX-License-Identifier: BSD-3-Clause
"""An operator of one's own goes to XNNPACK by a configuration and a visitor; values and data of payloads."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.aot.graph_builder import VISITORS
from executorch.backends.xnnpack.operators.node_visitor import (
    InputTypeToIndex,
    NodeVisitor,
    get_node_visitors,
    get_tensor_value,
    register_node_visitor,
)
from executorch.backends.xnnpack.operators.quant_params import QuantParams
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.partition.config.xnnpack_config import XNNPartitionerConfig
from executorch.backends.xnnpack.serialization.xnnpack_graph_schema import (
    XNNAdd,
    XNNDatatype,
    XNNGraph,
    XNNMultiply,
    XNode,
)
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import to_edge_transform_and_lower
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

torch.library.define("xnn_visitor_test::square_plus", "(Tensor x, Tensor y) -> Tensor")


@torch.library.impl("xnn_visitor_test::square_plus", "CompositeExplicitAutograd")
def square_plus(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * x + y


@torch.library.register_fake("xnn_visitor_test::square_plus")
def square_plus_fake(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


class SquarePlusConfig(XNNPartitionerConfig):
    target_name = "square_plus.default"


class SquarePlus(NodeVisitor):
    """The square has a value of its own: XNNPACK's values are written once."""

    target = "xnn_visitor_test.square_plus.default"

    def define_node(
        self, node: Any, xnn_graph: Any, vals_to_ids: dict[Any, int], debug_handle: int
    ) -> None:
        self.define_nodes_tensor_inputs_outputs(node, xnn_graph, vals_to_ids)
        x, y = (vals_to_ids[operand] for operand in node.args)
        between: dict[Any, int] = {}
        self.define_tensor(node, xnn_graph, between)
        square = XNNMultiply(input1_id=x, input2_id=x, output_id=between[node], flags=0)
        total = XNNAdd(input1_id=between[node], input2_id=y, output_id=vals_to_ids[node], flags=0)
        xnn_graph.xnodes += [XNode(square, debug_handle), XNode(total, debug_handle)]


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    yield
    VISITORS.clear()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.xnn_visitor_test.square_plus(x + x, self.weight).relu()


@needs_runtime
def test_an_operator_of_ones_own_is_delegated() -> None:
    register_node_visitor(SquarePlus)
    model, x = Model(), torch.randn(2, 3)
    partitioner = XnnpackPartitioner(configs=[*ALL_PARTITIONER_CONFIGS, SquarePlusConfig])
    manager = to_edge_transform_and_lower(
        torch.export.export(model, (x,)), partitioner=[partitioner]
    )
    graph = manager.exported_program().graph
    calls = [n for n in graph.nodes if n.op == "call_function" and "getitem" not in n.name]
    assert [str(n.target) for n in calls] == ["executorch_call_delegate"]
    loaded = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    torch.testing.assert_close(loaded.forward([x])[0], model(x))


def test_without_its_configuration_it_stays_outside() -> None:
    register_node_visitor(SquarePlus)
    exported = torch.export.export(Model(), (torch.randn(2, 3),))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert "square_plus" in manager.exported_program().graph_module.code


def test_visitors_are_registered_by_target() -> None:
    assert register_node_visitor(SquarePlus) is SquarePlus
    visitors = get_node_visitors(None, {}, NamedDataStore())
    assert isinstance(visitors[SquarePlus.target], SquarePlus)
    with pytest.raises(RuntimeError, match="Illegal visitor"):
        register_node_visitor(object)
    with pytest.raises(NotImplementedError, match="must extend"):
        NodeVisitor(None, {}, NamedDataStore()).define_node(None, None, {}, 0)


def empty_graph() -> Any:
    return XNNGraph(
        version="0", xnodes=[], xvalues=[], num_externs=0, input_ids=[], output_ids=[],
        constant_data=[],
    )  # fmt: skip


def test_values_of_a_linear() -> None:
    program = torch.export.export(nn.Linear(3, 2), (torch.randn(4, 3),))
    linear = next(n for n in program.graph.nodes if n.op == "call_function")
    x = linear.args[0]
    arguments = {
        x: SimpleNamespace(external_id=0, io_type=1),
        linear: SimpleNamespace(external_id=1, io_type=2),
    }
    store = NamedDataStore()
    visitor, graph, ids = NodeVisitor(program, arguments, store), empty_graph(), {}
    visitor.define_nodes_tensor_inputs_outputs(
        linear, graph, ids, input_type_map=InputTypeToIndex(0, 1, 2)
    )
    x_value, weight, bias, out = map(get_tensor_value, graph.xvalues)
    assert [x_value.dims, weight.dims, bias.dims, out.dims] == [[4, 3], [2, 3], [2], [4, 2]]
    assert (x_value.flags, x_value.external_id, out.flags, out.external_id) == (1, 0, 2, 1)
    assert (graph.input_ids, graph.output_ids) == ([0], [3])
    assert [weight.constant_buffer_idx, bias.constant_buffer_idx] == [1, 2]
    assert x_value.datatype == XNNDatatype.xnn_datatype_fp32
    entry = graph.constant_data[1]
    data = store.get_named_data_store_output()
    stored = data.buffers[data.pte_data[entry.named_key].buffer_index]
    assert bytes(stored) == program.state_dict["weight"].detach().numpy().tobytes()
    visitor.define_tensor(x, graph, ids)
    assert len(graph.xvalues) == 4  # known already


def test_tensors_are_quantized() -> None:
    def params(**changes: Any) -> QuantParams:
        fields = {"per_channel": False, "q_input": None, "scale": 0.5, "zp": 0, "axis": 0,
                  "dtype": torch.int8, "qmax": 127, "qmin": -128, "is_output": False, "is_input": False}  # fmt: skip
        return QuantParams(**{**fields, **changes})

    x = torch.tensor([[1.0, -2.0, 100.0, 0.3], [0.5, 1.0, 1.5, 2.0]])
    assert params().quantize_tensor(x).tolist() == [[2, -4, 127, 1], [1, 2, 3, 4]]
    by_row = params(per_channel=True, scale=torch.tensor([1.0, 0.5]), zp=torch.tensor([0, 0]))
    assert by_row.quantize_tensor(x).tolist() == [[1, -2, 100, 0], [1, 2, 3, 4]]
    groups = params(
        per_channel=True, group_size=2, qmin=-8, qmax=7,
        scale=torch.tensor([[1.0, 50.0], [0.5, 0.5]]), zp=torch.zeros(2, 2),
    )  # fmt: skip
    assert groups.quantize_tensor(x).tolist() == [[1, -2, 2, 0], [1, 2, 3, 4]]
    # -8 -> 0, 7 -> 15, 0 -> 8; the first in the low half
    packed = NodeVisitor.convert_to_qc4w(torch.tensor([[-8, 7, 0, 1]], dtype=torch.int8))
    assert packed.tolist() == [[0xF0, 0x98]]
