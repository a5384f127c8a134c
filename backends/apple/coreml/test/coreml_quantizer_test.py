# SPDX-License-Identifier: BSD-3-Clause
"""CoreMLQuantizer: what is quantized, how, and that the model is one delegate."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch

ct = pytest.importorskip("coremltools")

from torchao.quantization.pt2e.quantize_pt2e import (  # noqa: E402
    convert_pt2e,
    prepare_pt2e,
    prepare_qat_pt2e,
)

from executorch.backends.apple.coreml.compiler import CoreMLBackend  # noqa: E402
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.backends.apple.coreml.quantizer import CoreMLQuantizer  # noqa: E402
from executorch.backends.apple.coreml.test.tester import CoreMLTester  # noqa: E402
from executorch.exir import to_edge_transform_and_lower  # noqa: E402
from executorch.exir.graph_facts import op_name  # noqa: E402

Config = ct.optimize.torch.quantization.LinearQuantizerConfig


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.second = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.last = torch.nn.Linear(8 * 4 * 4, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.relu6(self.second(torch.relu(self.first(x))))
        return self.last(torch.nn.functional.max_pool2d(x, 2).flatten(1))


INPUTS = (torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(0)),)


def config(**of_all: Any) -> Any:
    config = {
        "quantization_scheme": "symmetric",
        "activation_dtype": "quint8",
        "weight_dtype": "qint8",
        "weight_per_channel": True,
    }
    return Config.from_dict({"global_config": config | of_all})


def quantized(config: Any, prepare: Any = prepare_pt2e) -> torch.fx.GraphModule:
    torch.manual_seed(0)
    model = Network().train(prepare is prepare_qat_pt2e)
    prepared = prepare(torch.export.export(model, INPUTS).module(), CoreMLQuantizer(config))
    prepared(*INPUTS)
    return convert_pt2e(prepared)


def count(module: torch.fx.GraphModule, name: str) -> int:
    return sum(name in str(node.target) for node in module.graph.nodes)


def points(module: torch.fx.GraphModule) -> list[tuple[Any, ...]]:
    """Zero point and dtype of each activation that is quantized."""
    return [
        (node.args[2], node.args[5])
        for node in module.graph.nodes
        if str(node.target).startswith("quantized_decomposed.quantize_per_tensor")
    ]


@pytest.mark.req("APL-012")
@pytest.mark.parametrize("prepare", [prepare_pt2e, prepare_qat_pt2e])
def test_activations_and_weights_have_8_bits(prepare: Any) -> None:
    """Symmetric values of uint8 are around the middle; those of limits, from 0 on, begin there."""
    module = quantized(config(), prepare)
    assert count(module, "dequantize_per_channel") == 3
    found = points(module)
    assert {dtype for _, dtype in found} == {torch.uint8}
    assert [point for point, _ in found] == [127, 0, 0, 0, 0, 127]
    with torch.no_grad():
        torch.manual_seed(0)
        eager = Network().eval()(*INPUTS)
        near = module(*INPUTS)
    assert (near - eager).abs().max() < 0.05 * eager.abs().max()


@pytest.mark.req("APL-013")
def test_weights_alone_and_nothing() -> None:
    module = quantized(config(activation_dtype="float32"))
    assert count(module, "dequantize_per_channel") == 3 and not points(module)
    module = quantized(config(weight_dtype="float32"))
    assert not count(module, "quantize")
    module = quantized(config(weight_per_channel=False, activation_observer="min_max"))
    assert not count(module, "per_channel") and points(module)


def test_names_count_before_types_and_types_before_all() -> None:
    base = {"activation_dtype": "float32", "weight_dtype": "float32"}
    own = {"activation_dtype": "float32", "weight_dtype": "qint8"}
    config = Config.from_dict(
        {
            "global_config": own,
            "module_type_configs": {torch.nn.Conv2d: base},
            "module_name_configs": {"first": own},
        }
    )
    assert count(quantized(config), "dequantize_per_channel") == 2


def test_a_quantized_model_is_one_delegate() -> None:
    program = torch.export.export(quantized(config()), INPUTS)
    specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=ct.target.iOS17)
    edge = to_edge_transform_and_lower(
        program, partitioner=[CoreMLPartitioner(compile_specs=specs)]
    )
    nodes = edge.exported_program().graph.nodes
    assert [name for node in nodes if (name := op_name(node))] == []
    edge.to_executorch()


def test_preparing_takes_no_time() -> None:
    """Graphs are matched as they are: no pattern is exported."""
    graph = torch.export.export(Network().eval(), INPUTS).module()
    start = time.process_time()
    CoreMLQuantizer(config()).annotate(graph)
    assert time.process_time() - start < 0.5


def test_operators_of_one_name_are_told_apart() -> None:
    """quantized_decomposed.add is no aten.add, and quantizes its result."""
    table = CoreMLPartitioner.table
    assert "quantized_decomposed.add.default" not in table
    assert "quantized_decomposed.dequantize_per_channel.default" in table


@pytest.mark.parametrize("in_steps", [False, True])
def test_the_tester_quantizes_and_lowers_to_one_delegate(in_steps: bool) -> None:
    tester = CoreMLTester(Network().eval(), INPUTS, minimum_deployment_target=ct.target.iOS17)
    tester.quantize().export()
    done = tester.to_edge().partition() if in_steps else tester.to_edge_transform_and_lower()
    program = done.get_artifact().exported_program()
    assert [name for node in program.graph.nodes if (name := op_name(node))] == []
    done.to_executorch().serialize()
