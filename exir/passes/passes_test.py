# SPDX-License-Identifier: BSD-3-Clause
"""Each pass does what its head says, and nothing to graphs it has no business with."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram, export

from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.common import (
    extract_out_arguments,
    format_schema_name,
    get_schema_for_operators,
    override_logger,
)
from executorch.exir.debug_handle_utils import get_greatest_ancestor_node_identifier
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_module import bfs_trace_with_node_process, get_control_flow_submodules
from executorch.exir.passes.constant_prop_pass import constant_prop_pass
from executorch.exir.passes.cse_pass import CSEPass
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass
from executorch.exir.passes.debug_handle_generator_pass import (
    DebugHandleGeneratorPass,
    generate_missing_debug_handles,
)
from executorch.exir.passes.external_constants_pass import (
    delegate_external_constants_pass_unlifted,
    external_constants_pass,
    is_param_node,
)
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from executorch.exir.passes.memory_format_ops_pass import DimOrderOpsRevertPass, MemoryFormatOpsPass
from executorch.exir.passes.pass_registry import PassRegistry
from executorch.exir.passes.prune_empty_tensors_pass import PruneEmptyTensorsPass
from executorch.exir.passes.remove_graph_asserts_pass import RemoveGraphAssertsPass
from executorch.exir.passes.remove_noop_pass import RemoveNoopPass
from executorch.exir.passes.remove_unused_parameters_pass import remove_unused_parameters_pass
from executorch.exir.passes.spec_prop_pass import SpecPropPass
from executorch.exir.program_copies import own_copy

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


def edge(function: Callable[..., Any], *inputs: Any, **tensors: torch.Tensor) -> ExportedProgram:
    module = Call(function, **tensors)
    return own_copy(to_edge(export(module, inputs)).exported_program())


def targets(program: ExportedProgram) -> list[Any]:
    return [n.target for n in program.graph.nodes if n.op == "call_function"]


def same(program: ExportedProgram, expected: torch.Tensor, *inputs: Any) -> None:
    program.graph_module.recompile()
    torch.testing.assert_close(program.module()(*inputs), expected)


def test_cse_shares_equal_calls() -> None:
    program = edge(lambda m, x: torch.sin(x) + torch.sin(x) * 2, X)
    CSEPass()(program.graph_module)
    assert targets(program).count(edge_aten.sin.default) == 1
    same(program, torch.sin(X) * 3, X)


def test_cse_leaves_random_operators_alone() -> None:
    program = edge(lambda m, x: torch.rand_like(x) - torch.rand_like(x), X)
    before = len(targets(program))
    CSEPass()(program.graph_module)
    assert len(targets(program)) == before


def test_constants_are_computed_at_export() -> None:
    program = edge(lambda m, x: x @ m.w.t() + m.w.sum(), X, w=torch.ones(4, 3))
    assert edge_aten.permute_copy.default in targets(program)
    constant_prop_pass(program)
    assert targets(program) == [edge_aten.mm.default, edge_aten.add.Tensor]
    assert not program.graph_signature.buffers
    same(program, X @ torch.ones(3, 4) + 12, X)


def test_written_buffers_are_no_constants() -> None:
    def count(m: Any, x: torch.Tensor) -> torch.Tensor:
        m.n.add_(1)
        return x * m.n

    program = edge(count, X, n=torch.zeros(1))
    before = targets(program)
    constant_prop_pass(program)
    assert targets(program) == before


def test_empty_tensors_are_not_concatenated() -> None:
    program = edge(lambda m, x: torch.cat([x, x[:, :0], x], 1), X)
    PruneEmptyTensorsPass()(program.graph_module)
    assert targets(program) == [edge_aten.cat.default]
    same(program, torch.cat([X, X], 1), X)


def test_dead_calls_go_and_writes_stay() -> None:
    program = edge(lambda m, x: x + 1, X)
    graph = program.graph
    add = graph.find_nodes(op="call_function", target=edge_aten.add.Tensor)[0]
    with graph.inserting_after(add):
        graph.call_function(edge_aten.sin.default, (add,))
        graph.call_function(torch.ops.aten.copy_.default, (add, add))
    dead_code_elimination_pass(program.graph_module)
    assert targets(program) == [edge_aten.add.Tensor, torch.ops.aten.copy_.default]


def test_noop_copies_go_but_outputs_keep_their_memory() -> None:
    program = edge(lambda m, x: x + 1, X)
    graph = program.graph
    add = next(n for n in graph.nodes if n.op == "call_function")
    with graph.inserting_before(add):
        copy = graph.call_function(edge_aten.view_copy.default, (add.args[0], [2, 3]))
        copy.meta["val"] = add.args[0].meta["val"]
    add.args = (copy, *add.args[1:])
    RemoveNoopPass()(program.graph_module)
    assert targets(program) == [edge_aten.add.Tensor]
    clone = edge(lambda m, x: x.clone(), X)
    RemoveNoopPass()(clone.graph_module)
    assert len(targets(clone)) == 1


def test_asserts_go() -> None:
    class Checked(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch._assert_async(x.sum() > 0)
            return x + 1

    program = export(Checked(), (torch.ones(2),))
    RemoveGraphAssertsPass()(program.graph_module)
    assert targets(program) == [torch.ops.aten.add.Tensor]


def test_unused_data_leaves_the_program() -> None:
    program = edge(lambda m, x: x * m.a, X, a=torch.ones(1), b=torch.ones(9))
    assert remove_unused_parameters_pass(program) is program
    assert set(program.state_dict) == {"a"}
    same(program, X, X)


def test_memory_formats_become_dim_orders_and_back() -> None:
    image = torch.randn(1, 2, 3, 4)

    def convert(m: Any, x: torch.Tensor) -> torch.Tensor:
        return x.to(memory_format=torch.channels_last) + 1

    config = EdgeCompileConfig(_skip_dim_order=True)
    source = to_edge(export(Call(convert), (image,)), compile_config=config)
    there = source.transform([MemoryFormatOpsPass()], EdgeCompileConfig())
    names = {t.__name__ for t in targets(there.exported_program())}
    assert "dim_order_ops._to_dim_order_copy.default" in names
    back = there.transform([DimOrderOpsRevertPass()], config)
    assert edge_aten._to_copy.default in targets(back.exported_program())
    result = back.exported_program().module()(image)
    assert result.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(result, image + 1)


def test_debug_handles() -> None:
    program = edge(lambda m, x: nn.functional.hardswish(x) + 1, X)
    handles = [n.meta["debug_handle"] for n in program.graph.nodes if n.op == "call_function"]
    assert handles[-1] != handles[0] and len(set(handles)) == 2
    del next(n for n in program.graph.nodes if n.op == "call_function").meta["debug_handle"]
    generate_missing_debug_handles(program)
    first = next(n for n in program.graph.nodes if n.op == "call_function")
    assert first.meta["debug_handle"] == max(handles) + 1
    DebugHandleGeneratorPass()(program.graph_module)
    assert first.meta["debug_handle"] == 1
    assert "." in get_greatest_ancestor_node_identifier(first)


@pytest.mark.req("CMP-034")
def test_external_constants_are_tagged() -> None:
    program = edge(lambda m, x: x * m.a + m.b, X, a=torch.ones(1), b=torch.ones(1))
    specs = SpecPropPass()
    specs(program.graph_module)
    specs.update_placeholder_tensor_specs(program, program.graph_module)
    external_constants_pass(program.graph_module, lambda n: "w" if n.name == "b_a" else None)
    tags = {n.name: n.meta.get("constant_tag") for n in program.graph.find_nodes(op="placeholder")}
    assert tags == {"b_a": "w", "b_b": None, "args_0": None}
    placeholders = program.graph.find_nodes(op="placeholder")
    assert [is_param_node(program, n) for n in placeholders] == [True, True, False]
    unlifted = export(Call(lambda m, x: x * m.a, a=torch.ones(1)), (X,)).module()
    delegate_external_constants_pass_unlifted(unlifted, lambda n: "model")
    again = export(unlifted, (X,))
    assert again is not None
    marked = [
        n.meta["custom"] for n in unlifted.graph.find_nodes(op="get_attr") if "custom" in n.meta
    ]
    assert marked == [{"delegate_constant_tag": "model"}]


def test_mutable_buffers_are_marked() -> None:
    program = edge(lambda m, x: x * m.cache_pos, X, cache_pos=torch.ones(1))
    marked = InitializedMutableBufferPass(["cache_pos"])(program.graph_module).graph_module
    meta = {n.name: n.meta.get("et_init_buffer") for n in marked.graph.find_nodes(op="placeholder")}
    assert meta == {"b_cache_pos": True, "args_0": None}


def test_the_registry_keeps_the_first_pass_of_a_name(caplog: pytest.LogCaptureFixture) -> None:
    @PassRegistry.register("front_test_pass")
    def one(graph_module: torch.fx.GraphModule) -> None:
        return None

    assert PassRegistry.get("front_test_pass") == [one]
    PassRegistry.register_list("front_test_pass", [])
    assert PassRegistry.get("front_test_pass") == [one] and "stays" in caplog.text

    @PassRegistry.register()
    class FrontOtherPass:
        pass

    assert PassRegistry.get("front_other_pass") == [FrontOtherPass]
    for name in ("front_test_pass", "front_other_pass"):
        del PassRegistry.registry[name]
    with pytest.raises(ExportError, match="Pass front_test_pass does not exist") as caught:
        PassRegistry.get("front_test_pass")
    assert caught.value.error_code == ExportErrorType.MISSING_PROPERTY


def test_control_flow_submodules() -> None:
    program = edge(lambda m, x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), X)
    found = get_control_flow_submodules(program.graph_module)
    assert [name for name, _, _ in found] == [node.target for node in found[0][2].args[1:3]]
    assert found[0][2].target is found[1][2].target is torch.ops.higher_order.cond
    seen: list[Any] = []
    bfs_trace_with_node_process(program.graph_module, lambda node: seen.append(node.target))
    assert edge_aten.sin.default in seen and edge_aten.cos.default in seen
    assert seen.index(operator.getitem) < seen.index(edge_aten.sin.default)


def test_schema_services(capsys: Any) -> None:
    schemas = get_schema_for_operators(["aten::add.out", "aten::relu"])
    assert schemas["aten::relu"].startswith("aten::relu(Tensor self)")
    schema = torch.ops.aten.max.dim_max._schema
    assert format_schema_name(schema) == "aten::max.dim_max"
    assert extract_out_arguments(schema, {"max": 1, "max_values": 2}) == [
        ("max", 1),
        ("max_values", 2),
    ]
    assert extract_out_arguments(torch.ops.aten.add.out._schema, {"out": 3}) == ("out", 3)
    with override_logger(fmtstr="LOG %(message)s"):
        import logging

        logging.getLogger("executorch.exir").debug("hello")
    assert "LOG hello" in capsys.readouterr().err
