# SPDX-License-Identifier: BSD-3-Clause
"""Debug handle maps, graphs as text, reasons for refusals, and checks that keep nodes out."""

from __future__ import annotations

import pytest
import torch
from torch.export import export
from torch.fx.passes.operator_support import OperatorSupportBase, chain

from executorch.exir import to_edge
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.operator_support import (
    DontPartition,
    DontPartitionModule,
    DontPartitionName,
    DontSupportBase,
)
from executorch.exir.backend.test.backend_with_delegate_mapping_demo import (
    BackendWithDelegateMappingDemo,
)
from executorch.exir.backend.test.op_partitioner_demo import (
    AddMulPartitionerDemo,
    AddOperatorSupport,
    AllOperatorSupport,
)
from executorch.exir.backend.utils import (
    DelegateMappingBuilder,
    WhyNoPartitionReporter,
    format_delegated_graph,
    get_delegated_payload,
    get_delegates,
    get_non_lowered_nodes,
    print_delegated_graph,
)
from executorch.exir.dialects._ops import ops


class MmAdd(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.sin(torch.mm(a, b) + b)


XY = (torch.randn(2, 2), torch.randn(2, 2))


def lowered_graph() -> torch.fx.GraphModule:
    manager = to_edge(export(MmAdd(), XY)).to_backend(AddMulPartitionerDemo())
    return manager.exported_program().graph_module


# ---- Debug handles ----


@pytest.mark.req("DT-030")
def test_generated_identifiers_count() -> None:
    builder = DelegateMappingBuilder(generated_identifiers=True)
    assert builder.insert_delegate_mapping_entry(handles=[1, None, 2]) == 0
    assert builder.insert_delegate_mapping_entry(handles=5) == 1
    assert builder.get_delegate_mapping() == {0: (1, 2), 1: (5,)}


@pytest.mark.req("DT-030")
@pytest.mark.parametrize("identifiers", [(3, 7), ("conv", "relu")])
def test_identifiers_of_the_backend(identifiers: tuple) -> None:
    builder = DelegateMappingBuilder()
    graph = torch.fx.Graph()
    node = graph.placeholder("x")
    node.meta["debug_handle"] = 11
    first, second = identifiers
    assert builder.insert_delegate_mapping_entry(nodes=node, identifier=first) == first
    builder.insert_delegate_mapping_entry(handles=[4, 9], identifier=second)
    assert builder.get_delegate_mapping() == {first: (11,), second: (4, 9)}


@pytest.mark.req("DT-030")
@pytest.mark.parametrize(
    "generated, call, words",
    [
        (True, {"handles": 1, "identifier": 3}, "can't manually add identifiers"),
        (False, {"handles": 1}, "No identifier provided"),
        (False, {"identifier": 1}, "Only one of nodes or handles"),
        (False, {"nodes": [], "handles": [1], "identifier": 1}, "Only one of nodes or handles"),
        (False, {"handles": [None], "identifier": 1}, "No valid debug handles found"),
        (False, {"handles": 1, "identifier": 0}, "was already inserted"),
        (False, {"handles": 1, "identifier": "text"}, "identifiers of one type"),
    ],
)
def test_entries_that_are_refused(generated: bool, call: dict, words: str) -> None:
    builder = DelegateMappingBuilder(generated_identifiers=generated)
    builder.insert_delegate_mapping_entry(handles=1, **({} if generated else {"identifier": 0}))
    before = builder.get_delegate_mapping()
    with pytest.raises(Exception, match=words):
        builder.insert_delegate_mapping_entry(**call)
    assert builder.get_delegate_mapping() == before


@pytest.mark.req("DT-030", "CMP-048")
def test_the_map_of_a_backend_that_fuses_reaches_the_program() -> None:
    model, inputs = BackendWithDelegateMappingDemo.get_test_model_and_inputs()
    program = to_edge(export(model, inputs)).exported_program()
    handles = {
        node.name: node.meta["debug_handle"]
        for node in program.graph.nodes
        if node.op == "call_function"
    }
    lowered = to_backend("BackendWithDelegateMappingDemo", program, [])
    conv, relu, tanh = handles.values()
    assert lowered.meta["debug_handle_map"] == {0: (conv, relu), 1: (tanh,)}
    assert lowered.processed_bytes == (
        b"2#op:conv_relu<delegate_debug_identifier>0#op:tanh<delegate_debug_identifier>1#"
    )


def test_the_maps_of_a_program_hold_the_handles_inside_delegates() -> None:
    manager = to_edge(export(MmAdd(), XY)).to_backend(AddMulPartitionerDemo()).to_executorch()
    (inner,) = [h for h in manager.debug_handle_map["forward"].values() if isinstance(h, list)]
    outer = [h for h in manager.debug_handle_map["forward"].values() if not isinstance(h, list)]
    assert len(inner) == 2 and not set(inner) & set(outer)
    assert manager.delegate_map["forward"][0] == {
        "name": "BackendWithCompilerDemo",
        "delegate_map": {handle: (handle,) for handle in inner},
    }


# ---- Text and queries ----


@pytest.mark.req("CMP-050", "DT-C08")
def test_a_delegated_graph_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    module = lowered_graph()
    text = format_delegated_graph(module)
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("backend_id: BackendWithCompilerDemo")
    assert "lowered_module_0" in lines[at - 1]
    inside = "\n".join(lines[at : lines.index("return [aten_add_tensor]")])
    assert "aten.mm.default" in inside and "aten.sin" not in inside
    assert "aten.sin.default" in text
    print_delegated_graph(module)
    assert text in capsys.readouterr().out


def test_what_was_lowered_and_what_stayed() -> None:
    module = lowered_graph()
    assert [node.target for node in get_delegates(module.graph)] == ["lowered_module_0"]
    assert [node.name for node in get_non_lowered_nodes(module.graph)] == ["aten_sin_default"]
    ((name, (backend_id, specs, blob)),) = get_delegated_payload(module).items()
    assert (name, backend_id) == ("lowered_module_0", "BackendWithCompilerDemo")
    assert specs[0].key == "max_value" and blob.startswith(b"2#op:demo::aten.mm")


# ---- Support checks ----


def accepted(support: OperatorSupportBase) -> list[str]:
    graph = to_edge(export(MmAdd(), XY)).exported_program().graph
    return [n.name for n in graph.nodes if support.is_node_supported({}, n)]


def test_refusals_are_reported() -> None:
    reporter = WhyNoPartitionReporter()
    assert accepted(reporter.wrap_check(AddOperatorSupport(), "only additions")) == [
        "aten_add_tensor"
    ]
    report = reporter.get_table_report()
    assert "aten_sin_default" in report and report.count("only additions") == 2


@pytest.mark.parametrize(
    "check",
    [
        DontPartition(ops.edge.aten.sin.default),
        DontPartition(torch.ops.aten.sin.default),
        DontPartition("aten.sin", exact=False),
        DontPartitionName("aten_sin_default"),
        DontPartitionName("sin", exact=False),
    ],
)
def test_nodes_can_be_kept_out(check: DontSupportBase) -> None:
    assert accepted(chain(AllOperatorSupport(), check)) == ["aten_mm_default", "aten_add_tensor"]
    assert check.has_rejected_node() and check.num_rejected() == 1
    assert [node.name for node in check.rejected_nodes()] == ["aten_sin_default"]


def test_modules_can_be_kept_out() -> None:
    model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sigmoid(), torch.nn.ReLU())
    graph = to_edge(export(model, XY[:1])).exported_program().graph
    calls = [node for node in graph.nodes if node.op == "call_function"]

    def left(check: DontSupportBase) -> list[str]:
        return [n.name for n in calls if check.is_node_supported({}, n)]

    assert left(DontPartitionModule(module_name="ReLU")) == ["aten_sigmoid_default"]
    assert left(DontPartitionModule(instance_name="2")) == [
        "aten_relu_default",
        "aten_sigmoid_default",
    ]
    assert len(left(DontPartitionModule())) == 3
