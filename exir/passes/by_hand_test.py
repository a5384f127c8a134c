# SPDX-License-Identifier: BSD-3-Clause
"""Passes that users run by themselves, on graphs and in `transform`. Expected graphs are what upstream's give."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.export import Dim, ExportedProgram, export
from torch.fx import Graph, GraphModule

from executorch.exir import EdgeCompileConfig, EdgeProgramManager, memory, to_edge
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.passes import EdgeToBackendOpsPass, SpecPropPass, ToOutVarPass
from executorch.exir.passes.convert_constant_dim_order_pass import convert_constant_dim_order_pass
from executorch.exir.passes.debug_handle_generator_pass import DebugHandleGeneratorPass
from executorch.exir.passes.remove_mixed_type_operators import RemoveMixedTypeOperators
from executorch.exir.passes.replace_view_copy_with_view_pass import ReplaceViewCopyWithViewPass
from executorch.exir.passes.scalar_to_tensor_pass import ScalarToTensorPass
from executorch.exir.passes.sym_shape_eval_pass import HintBasedSymShapeEvalPass
from executorch.exir.tensor import TensorSpec

aten, edge_aten = torch.ops.aten, exir_ops.edge.aten
CAST = exir_ops.edge.dim_order_ops._to_dim_order_copy.default
X = torch.arange(12.0).reshape(3, 4) + 1
WHOLE = torch.full((3, 4), 3, dtype=torch.int32)


class Call(nn.Module):
    def __init__(self, function: Any, **data: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for name, value in data.items():
            self.register_buffer(name, value)

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def manager_of(function: Any, *inputs: Any, **options: Any) -> EdgeProgramManager:
    shapes = options.pop("dynamic_shapes", None)
    program = export(Call(function), inputs, dynamic_shapes=shapes)
    return to_edge(program, compile_config=EdgeCompileConfig(**options))


def graph_of(function: Any, *inputs: Any) -> GraphModule:
    return manager_of(function, *inputs).exported_program().graph_module


def targets(program: ExportedProgram | GraphModule) -> list[Any]:
    return [node.target for node in program.graph.nodes if node.op == "call_function"]


@pytest.mark.parametrize(
    ("function", "dtypes"),
    [
        (lambda x, y: x + y, [torch.float32]),
        (lambda x, y: y - x, [torch.float32]),
        (lambda x, y: x * y, [torch.float32]),
        (lambda x, y: torch.minimum(x, y), [torch.float32]),
        (lambda x, y: torch.div(x, y, rounding_mode="floor"), [torch.float32]),
        (lambda x, y: torch.div(y, y.long(), rounding_mode="trunc"), [torch.int64, torch.int64]),
        (lambda x, y: torch.div(y, y, rounding_mode="trunc"), []),
        (lambda x, y: y / y, [torch.float32, torch.float32]),
        (lambda x, y: torch.div(y, y, rounding_mode=None), [torch.float32, torch.float32]),
    ],
)
def test_mixed_dtypes_are_cast_by_operators_of_the_dialect(function: Any, dtypes: list) -> None:
    manager = manager_of(function, X, WHOLE).transform([RemoveMixedTypeOperators()])
    program = manager.exported_program()
    casts = [n for n in program.graph.nodes if n.target == CAST]
    assert [n.kwargs["dtype"] for n in casts] == dtypes
    assert all(n.kwargs["dim_order"] == [0, 1] for n in casts)
    torch.testing.assert_close(program.module()(X, WHOLE), function(X, WHOLE))


def test_casts_of_a_graph_without_dim_orders_name_none() -> None:
    manager = manager_of(lambda x, y: x.half() * y, X, WHOLE, _skip_dim_order=True)
    after = manager.transform([RemoveMixedTypeOperators()]).exported_program()
    assert targets(after) == [edge_aten._to_copy.default] * 2 + [edge_aten.mul.Tensor]


@pytest.mark.parametrize("memory_format", [None, torch.channels_last])
@pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last])
def test_without_dim_orders_clones_are_those_of_torch(order: Any, memory_format: Any) -> None:
    x = torch.randn(2, 3, 4, 4).to(memory_format=order)
    kwargs = {} if memory_format is None else {"memory_format": memory_format}
    manager = manager_of(lambda x: torch.clone(x, **kwargs), x, _skip_dim_order=True)
    (call,) = [n for n in manager.exported_program().graph.nodes if n.op == "call_function"]
    assert (call.target, call.kwargs) == (edge_aten.clone.default, kwargs)
    assert len(manager.to_executorch().buffer) > 0


def test_half_types_stay_half() -> None:
    manager = manager_of(lambda x, y: x.half() * y + x.half(), X, WHOLE)
    program = manager.transform([RemoveMixedTypeOperators()]).exported_program()
    result = program.graph.output_node().args[0][0].meta["val"]
    assert result.dtype == torch.float16 and targets(program).count(CAST) == 3


def test_no_exceptions_is_an_empty_list() -> None:
    manager = manager_of(lambda x: x + 1, X, _core_aten_ops_exception_list=None, preserve_ops=None)
    assert targets(manager.exported_program()) == [edge_aten.add.Tensor]


def test_slices_of_everything_go() -> None:
    assert targets(graph_of(lambda x: x[:, 0:].sin(), X)) == [edge_aten.sin.default]
    for part in (lambda x: x[:, :2].sin(), lambda x: x[::2].sin(), lambda x: x[1:].sin()):
        assert targets(graph_of(part, X)) == [edge_aten.slice_copy.Tensor, edge_aten.sin.default]


def choice(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y * 2, (x,)).sin()


def test_conditions_have_a_tuple_of_specs() -> None:
    module = graph_of(choice, X)
    SpecPropPass()(module)
    (call,) = module.graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond)
    assert type(call.meta["spec"]) is tuple and len(call.meta["spec"]) == 1


def test_loops_have_a_tuple_of_specs() -> None:
    def loop(x: torch.Tensor) -> Any:
        done = lambda i, a: i < 3  # noqa: E731
        return torch.while_loop(done, lambda i, a: (i + 1, a * 2), (torch.tensor(0), x))

    module = graph_of(loop, X)
    SpecPropPass()(module)
    (call,) = module.graph.find_nodes(op="call_function", target=torch.ops.higher_order.while_loop)
    assert type(call.meta["spec"]) is tuple and len(call.meta["spec"]) == 2


def test_all_nodes_have_debug_handles() -> None:
    manager = manager_of(choice, X)
    for numbered in (manager, manager.transform([DebugHandleGeneratorPass()])):
        modules = numbered.exported_program().graph_module.modules()
        nodes = [n for m in modules if isinstance(m, GraphModule) for n in m.graph.nodes]
        named = [n for n in nodes if n.op not in ("placeholder", "output")]
        assert any(n.op == "get_attr" for n in named)
        assert all(n.meta.get("debug_handle") for n in named)


def test_out_variants_of_a_graph_without_specs() -> None:
    module = graph_of(lambda x: (x.topk(2)[0], x.split(3)[0]), X)
    result = ToOutVarPass()(module).graph_module
    calls = [n for n in result.graph.nodes if n.op == "call_function"]
    expected = [memory.alloc, memory.alloc, aten.topk.values, operator.getitem, memory.alloc,
                aten.split_with_sizes_copy.out, operator.getitem]  # fmt: skip
    assert [n.target for n in calls] == expected
    assert calls[0].args == (((3, 2), torch.float32),)
    assert type(calls[2].meta["val"]) is tuple and len(calls[2].meta["val"]) == 2
    assert isinstance(calls[5].meta["val"], list | tuple) and len(calls[5].meta["val"]) == 1


def test_views_of_a_graph_whose_inputs_alone_have_specs() -> None:
    module = graph_of(lambda x: (x.view(12), x.sin().view(4, 3)), X)
    (x,) = module.graph.find_nodes(op="placeholder")
    with pytest.raises(ValueError, match="has no spec yet"):
        ReplaceViewCopyWithViewPass()(module)
    x.meta["spec"] = TensorSpec.from_tensor(x.meta["val"])
    ReplaceViewCopyWithViewPass()(module)
    views = module.graph.find_nodes(op="call_function", target=memory.view)
    assert [v.meta["spec"].shape for v in views] == [[12], [4, 3]]
    assert views[0].meta["spec"].inplace_base is x.meta["spec"]


def test_arithmetic_on_sizes_becomes_operators_of_the_runtime() -> None:
    shapes = ({0: Dim("n", min=3, max=8)},)
    function = lambda x: torch.full((x.shape[0] - 1,), 2.0)  # noqa: E731
    manager = manager_of(function, X, dynamic_shapes=(shapes,))
    after = targets(manager.transform([EdgeToBackendOpsPass()]).exported_program())
    assert not {operator.add, operator.sub} & set(after)
    assert any("executorch_prim" in str(target) for target in after)


def test_numbers_become_tensors_once() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    product = graph.call_function(aten.mul.Tensor, (x, 3.14))
    graph.output(product)
    with FakeTensorMode():
        x.meta["val"] = product.meta["val"] = torch.ones(2)
    first = ScalarToTensorPass()(GraphModule(nn.Module(), graph))
    assert first.modified and not ScalarToTensorPass()(first.graph_module).modified


def test_sizes_of_data_have_their_bounds_as_hints() -> None:
    def square(n: torch.Tensor) -> torch.Tensor:
        size = n.item()
        torch._check(size >= 0)
        torch._check(size <= 100)
        return torch.ones(size, size)

    module = graph_of(square, torch.tensor(4))
    SpecPropPass()(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        HintBasedSymShapeEvalPass()(module)
    (ones,) = module.graph.find_nodes(op="call_function", target=edge_aten.full.default)
    assert ones.meta["spec"].shape == [100, 100]
    assert ones.meta["spec"].is_upper_bound_tensor


def test_constants_in_an_order_that_kernels_read_keep_it() -> None:
    image = torch.randn(2, 3, 4, 5)
    orders = {
        "plain": image,
        "last": image.to(memory_format=torch.channels_last),
        "turned": image.transpose(2, 3),
    }

    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, value in orders.items():
                self.register_buffer(name, value)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x + self.plain, x + self.last, x + self.turned.transpose(2, 3)

    program = export(Sum(), (image,))
    convert_constant_dim_order_pass(program)
    strides = {name: program.state_dict[name].stride() for name in orders}
    assert strides == {"plain": (60, 20, 5, 1), "last": (60, 1, 15, 3), "turned": (60, 20, 4, 1)}
    for name, value in orders.items():
        assert torch.equal(program.state_dict[name], value)
