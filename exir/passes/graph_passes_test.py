# SPDX-License-Identifier: BSD-3-Clause
"""Passes for graphs that do not come from to_edge, and for third-party flows: what each makes true."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export
from torch.fx import GraphModule

from executorch.exir import EdgeProgramManager, to_edge
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue
from executorch.exir.passes import (
    ConstPropPass,
    DebugPass,
    DynamicMemoryPlanningMode,
    LegalizePortableDimOrderPass,
    NormalizeTransposePass,
    ReplaceBrokenOpsWithFunctionalOpsPass,
    SymToTensorPass,
    ToDevicePass,
    propagate_dynamic_shape,
    update_args,
)
from executorch.exir.passes.constant_prop_pass import (
    create_constant_nodes_and_return_specs,
    erase_constant_node,
)
from executorch.exir.passes.convert_constant_dim_order_pass import convert_constant_dim_order_pass
from executorch.exir.passes.normalize_view_copy_base_pass import NormalizeViewCopyBasePass
from executorch.exir.passes.remove_graph_asserts_pass import RemoveNonCoreAtenOpGraphAssertsPass
from executorch.exir.passes.remove_mixed_type_operators import RemoveMixedTypeOperators
from executorch.exir.program_copies import own_copy, with_graph_module
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

aten = torch.ops.aten
edge_aten = exir_ops.edge.aten
X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any], **tensors: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


def captured(
    function: Callable[..., Any], *inputs: Any, **tensors: torch.Tensor
) -> ExportedProgram:
    return export(Call(function, **tensors), inputs)


def edge(function: Callable[..., Any], *inputs: Any, **tensors: torch.Tensor) -> ExportedProgram:
    return own_copy(to_edge(captured(function, *inputs, **tensors)).exported_program())


def targets(module: GraphModule) -> list[Any]:
    return [node.target for node in module.graph.nodes if node.op == "call_function"]


def run(manager: EdgeProgramManager, *inputs: torch.Tensor) -> list[torch.Tensor]:
    return _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)


def test_calls_on_constants_alone_are_computed_and_become_data() -> None:
    function = lambda m, x: x + torch.full((2, 3), 2.0) * 4  # noqa: E731
    manager = to_edge(captured(function, X)).transform([ConstPropPass()])
    assert edge_aten.full.default not in targets(manager.exported_program().graph_module)
    torch.testing.assert_close(run(manager, X)[0], X + 8)


def test_a_pass_may_give_tensors_as_arguments() -> None:
    class AddTen(ExportPass):
        def call_operator(
            self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
        ) -> ProxyValue:
            if op is edge_aten.mul.Tensor:
                args = (args[0], torch.tensor(10.0))
            return super().call_operator(op, args, kwargs, meta)

    manager = to_edge(captured(lambda m, x: x * 2 + x * 3, X)).transform([AddTen(), AddTen()])
    names = [s.target for s in manager.exported_program().graph_signature.input_specs]
    assert len(set(names)) == len(names)
    torch.testing.assert_close(run(manager, X)[0], X * 20)


def test_t_and_other_views_become_copies() -> None:
    program = captured(lambda m, x: (x.t(), aten._unsafe_view(x, [6])), X)
    once = NormalizeTransposePass()(program.graph_module).graph_module
    assert targets(once)[0] is aten.t_copy.default
    all_of_them = ReplaceBrokenOpsWithFunctionalOpsPass()(program.graph_module).graph_module
    assert targets(all_of_them) == [aten.t_copy.default, aten.view_copy.default]


@pytest.mark.parametrize("function", [torch.add, torch.mul, torch.div], ids=lambda f: f.__name__)
def test_mixed_dtypes_are_promoted_by_casts(function: Callable[..., torch.Tensor]) -> None:
    numbers = torch.arange(6, dtype=torch.int32).reshape(2, 3) + 1
    program = captured(lambda m, x, y: (function(x, y), function(y, y)), X, numbers)
    module = RemoveMixedTypeOperators()(program.graph_module).graph_module
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target is not aten._to_copy.default:
            dtypes = {each.meta["val"].dtype for each in node.all_input_nodes}
            assert len(dtypes) == 1
    got = with_graph_module(program, module).module()(X, numbers)
    torch.testing.assert_close(got, (function(X, numbers), function(numbers, numbers)))


def test_pooling_gets_contiguous_tensors() -> None:
    image = torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
    function = lambda m, x: nn.functional.avg_pool2d(x, 2) + x.relu().sum()  # noqa: E731
    program = edge(function, image)
    module = LegalizePortableDimOrderPass()(program.graph_module).graph_module
    (pool,) = module.graph.find_nodes(op="call_function", target=edge_aten.avg_pool2d.default)
    assert pool.args[0].meta["val"].is_contiguous()
    (relu,) = module.graph.find_nodes(op="call_function", target=edge_aten.relu.default)
    assert relu.args[0].op == "placeholder"
    got = with_graph_module(program, module).module()(image)
    torch.testing.assert_close(got, function(None, image))


def test_views_of_views_see_the_first_tensor() -> None:
    program = edge(lambda m, x: x.view(3, 2).view(6).view(1, 6) + 1, X)
    normalize = NormalizeViewCopyBasePass()
    result = normalize(program.graph_module)
    views = result.graph_module.graph.find_nodes(
        op="call_function", target=edge_aten.view_copy.default
    )
    assert result.modified and {view.args[0].op for view in views} == {"placeholder"}
    assert not normalize(program.graph_module).modified
    torch.testing.assert_close(program.module()(X), X.view(1, 6) + 1)


def test_sizes_become_tensors_where_the_schema_wants_one() -> None:
    program = export(
        Call(lambda m, x: aten.mul.Tensor(x, x.shape[0])), (X,), dynamic_shapes={"args": ({0: Dim("n", max=8)},)}
    )  # fmt: skip
    module = SymToTensorPass()(program.graph_module).graph_module
    (made,) = module.graph.find_nodes(op="call_function", target=aten.scalar_tensor.default)
    assert made.meta["val"].dtype is torch.int32
    x = torch.randn(5, 3)
    torch.testing.assert_close(with_graph_module(program, module).module()(x), x * 5)


def test_calls_name_the_wanted_device() -> None:
    program = captured(lambda m, x: x + torch.ones(2, 3, device="cpu"), X)
    result = ToDevicePass("meta")(program.graph_module)
    (ones,) = result.graph_module.graph.find_nodes(op="call_function", target=aten.ones.default)
    assert result.modified and ones.kwargs["device"] == torch.device("meta")


def test_only_checks_outside_of_core_aten_go() -> None:
    def function(m: Any, x: torch.Tensor) -> torch.Tensor:
        torch._assert_async(x.sum() > -100, "small")
        return x.to(torch.float64) + 1

    program = captured(function, X)
    assert aten._assert_tensor_metadata.default in targets(program.graph_module)
    result = RemoveNonCoreAtenOpGraphAssertsPass()(program.graph_module)
    assert result.modified
    left = targets(result.graph_module)
    assert aten._assert_async.msg in left
    assert aten._assert_tensor_metadata.default not in left


def test_constants_lie_contiguous() -> None:
    weight = torch.randn(1, 3, 4, 4).transpose(2, 3)
    image = torch.randn(1, 3, 4, 4)
    program = edge(lambda m, x: x + m.w, image, w=weight)
    convert_constant_dim_order_pass(program)
    assert program.state_dict["w"].is_contiguous()
    torch.testing.assert_close(program.module()(image), image + weight)


def test_a_node_is_replaced_by_data_and_its_constant_erased() -> None:
    program = edge(lambda m, x: x + m.w.sin(), X, w=torch.ones(2, 3))
    (sin,) = program.graph.find_nodes(op="call_function", target=edge_aten.sin.default)
    (reader,) = sin.users
    specs = create_constant_nodes_and_return_specs({sin: torch.ones(2, 3).sin()}, program)
    program.graph.erase_node(sin)
    (unused,) = (n for n in program.graph.find_nodes(op="placeholder") if n.name == "b_w")
    program.graph_signature.input_specs[:0] = list(specs.values())
    erase_constant_node(program, unused)
    assert [node.name for node in reader.all_input_nodes][1] in specs
    assert "w" not in program.state_dict
    assert [s.arg.name for s in program.graph_signature.input_specs] == [*specs, "args_0"]


def test_the_log_of_a_graph(tmp_path: Path) -> None:
    program = edge(lambda m, x: torch.sin(x), X)
    path = tmp_path / "log.txt"
    DebugPass("before all", show_src=True, log_filename=str(path))(program.graph_module)
    log = path.read_text()
    assert "before all" in log and "aten.sin.default" in log
    assert Path(__file__).name in log and str(Path(__file__).parent) not in log
    assert not logging.getLogger("executorch.exir").handlers
    DebugPass(enable_debug_pass=False, log_filename=str(tmp_path / "none"))(program.graph_module)
    assert not (tmp_path / "none").exists()


def test_passes_that_size_tensors() -> None:
    sizing = propagate_dynamic_shape()
    symbolic = propagate_dynamic_shape(DynamicMemoryPlanningMode.SYMBOLIC)
    assert len(sizing) == 2 and len(symbolic) == 1
    program = edge(lambda m, x: x.sin(), X)
    for one in sizing:
        one(program.graph_module)
    (sin,) = program.graph.find_nodes(op="call_function", target=edge_aten.sin.default)
    assert list(sin.meta["spec"].shape) == [2, 3]
    assert update_args((1, 2, 3), 1, sin) == (1, sin, 3)
