# SPDX-License-Identifier: BSD-3-Clause
"""Passes and the converter's names that documents have: users who call them get what they say."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.nxp.backend.data_format import DataFormat
from executorch.backends.nxp.backend.edge_program_converter import EdgeProgramToIRConverter
from executorch.backends.nxp.edge_passes.neutron_edge_pass_manager import NeutronEdgePassManager
from executorch.backends.nxp.edge_passes.remove_additional_quantize_dequantize_nodes_pass import (
    RemoveAdditionalQDQClustersPass,
)
from executorch.backends.nxp.edge_passes.remove_io_quant_ops_pass import RemoveIOQuantOpsPass
from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
from executorch.backends.nxp.nxp_backend import (
    core_aten_ops_exception_list,
    generate_neutron_compile_spec,
)
from executorch.backends.nxp.test import stand_in
from executorch.backends.nxp.test.nxp_partitioner_test import IMAGE, Layers, edge
from executorch.backends.test.conformance.lowered import lower
from executorch.backends.test.corpus.row import Function
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

needs_stand_in = pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing())


def names(program: EdgeProgramManager) -> list[str]:
    nodes = map(op_name, program.exported_program().graph.nodes)
    return [name.removeprefix("quantized_decomposed.") for name in nodes if name]


def test_pairs_are_folded_before_lowering() -> None:
    program = edge(nn.Sequential(nn.Conv2d(4, 8, 1), nn.Dropout(), nn.Conv2d(8, 4, 1)), IMAGE)
    before = names(program).count("quantize_per_tensor.default")
    after = names(program.transform(NeutronEdgePassManager()))
    assert after.count("quantize_per_tensor.default") == before - 1


def test_moves_on_the_cpu_need_no_floats() -> None:
    program = edge(lambda x: torch.cat([x, x], 1).permute(0, 2, 3, 1).sigmoid(), IMAGE)
    assert names(program).count("dequantize_per_tensor.default") == 4
    moved = program.transform(NeutronEdgePassManager([RemoveAdditionalQDQClustersPass()]))
    assert names(moved) == [
        *("quantize_per_tensor.default", "aten.cat.default", "aten.permute_copy.default"),
        *("dequantize_per_tensor.default", "aten.sigmoid.default", "quantize_per_tensor.default"),
        "dequantize_per_tensor.default",
    ]
    expected = program.exported_program().module()(IMAGE)
    assert torch.equal(moved.exported_program().module()(IMAGE), expected)


def test_inputs_and_outputs_may_be_int8() -> None:
    program = edge(Layers(), IMAGE)
    converted = program.transform([RemoveIOQuantOpsPass(program)])
    given = converted.exported_program().graph_signature.user_inputs[0]
    nodes = {node.name: node for node in converted.exported_program().graph.nodes}
    (result,) = converted.exported_program().graph.output_node().args[0]
    assert nodes[given].meta["val"].dtype == result.meta["val"].dtype == torch.int8


def test_an_input_that_is_quantized_in_several_places_stays() -> None:
    program = edge(lambda x: (x * 2, x + 1), IMAGE)
    graph = program.exported_program().graph
    (quantize,) = graph.find_nodes(op="placeholder")[-1].users
    with graph.inserting_after(quantize):
        other = graph.node_copy(quantize)
    list(quantize.users)[0].replace_input_with(quantize, other)
    with pytest.raises(ValueError, match="expected one user, found 2"):
        RemoveIOQuantOpsPass(program)(program.exported_program().graph_module)


@needs_stand_in
@pytest.mark.usefixtures("stand_in_sdk")
@pytest.mark.req("NPU-036")
def test_the_flow_that_documents_print() -> None:
    """Without NeutronEdgePassManager nothing is lost."""
    lowered = lower(stand_in.backend(), Layers(), (IMAGE,))
    (alone,) = lowered.delegates
    program = to_edge_transform_and_lower(
        lowered.exported["forward"],
        transform_passes=NeutronEdgePassManager(),
        partitioner=[
            NeutronPartitioner(
                compile_spec=generate_neutron_compile_spec("imxrt700"),
                post_quantization_state_dict=lowered.exported["forward"].state_dict,
            )
        ],
        compile_config=EdgeCompileConfig(
            _core_aten_ops_exception_list=core_aten_ops_exception_list
        ),
    )
    program = program.transform(NeutronEdgePassManager([RemoveAdditionalQDQClustersPass()]))
    (delegate,) = get_lowered_backend_modules(program.exported_program().graph_module)
    assert delegate.processed_bytes == alone.processed_bytes
    assert program.to_executorch().buffer


@needs_stand_in
@pytest.mark.usefixtures("stand_in_sdk")
def test_a_program_is_converted_to_tflite() -> None:
    (delegate,) = lower(stand_in.backend(), Layers(), (IMAGE,)).delegates
    converter = EdgeProgramToIRConverter()
    model, formats, handles = converter.convert_program(delegate.original_module)
    assert model == stand_in.tflite_in(bytes(delegate.processed_bytes))
    assert [*formats["inputs"].values()] == [DataFormat.FORMATLESS]
    places = sorted(place for each in handles.values() for place in each)
    assert places == sorted({*places}) and len(places) >= 5
    _, formats, _ = converter.convert_program(
        delegate.original_module, use_neutron_for_format_conversion=False
    )
    assert [*formats["inputs"].values()] == [DataFormat.CHANNELS_LAST]


@needs_stand_in
@pytest.mark.usefixtures("stand_in_sdk")
def test_channels_last_inputs_are_read_as_they_are() -> None:
    x = torch.randn(1, 4, 6, 6).to(memory_format=torch.channels_last)
    lowered = lower(stand_in.backend(), nn.Conv2d(4, 4, 3, padding=1), (x,))
    found = lowered.runner()(x)[0]
    lowered.check([found], (x,))
    (delegate,) = lowered.delegates
    kinds = stand_in.operators(stand_in.tflite_in(bytes(delegate.processed_bytes)))
    assert "TRANSPOSE" not in kinds[:1]


@needs_stand_in
@pytest.mark.usefixtures("stand_in_sdk")
def test_outputs_that_are_inputs_or_given_twice() -> None:
    """Each is a tensor of its own, which an operator writes."""

    def both(x: Tensor) -> tuple[Tensor, ...]:
        y = torch.relu(x)
        return y, y.view(4, 16), y

    lowered = lower(stand_in.backend(), Function(both), (IMAGE,))
    lowered.check(lowered.runner()(IMAGE), (IMAGE,))
