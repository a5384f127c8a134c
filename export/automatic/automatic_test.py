# SPDX-License-Identifier: BSD-3-Clause
"""What is quantized together, layers in forms of their own, and estimates beside losses that were measured."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from executorch.backends.discovery import all_backends
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.cli.automatic import forms_of
from executorch.devtools.accuracy.choices import error_of
from executorch.devtools.accuracy.intervals import Interval
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.capture.diagnostics import export_module
from executorch.exir.lowered_backend_module import executorch_call_delegate
from executorch.export.automatic.mixed import MixedQuantizer
from executorch.export.automatic.search import Search, Unreachable, converted
from executorch.runtime import Runtime

INPUT = (torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(7)),)
BACKENDS = "xnnpack vulkan ethosu vgf cortex_m cadence qualcomm samsung mediatek nxp".split()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.b, self.c = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.a(x)))
        x = x + self.b(x)
        return self.c(x.mean((2, 3)))


class Setting:
    def __init__(self, backend: str) -> None:
        torch.manual_seed(0)
        self.model = Net().eval()
        self.captured = export_module(self.model, INPUT, {}).module()
        self.calls = [((torch.randn(1, 3, 8, 8),), {}) for _ in range(4)]
        with torch.no_grad():
            self.held = [(x := torch.randn(1, 3, 8, 8), self.model(x)) for _ in range(6)]
        self.search = Search(forms_of(all_backends()[backend]), self.calls, self.loss)

    @torch.no_grad()
    def loss(self, graph: GraphModule) -> Interval:
        errors = [(graph(x) - y).norm() / y.norm() for x, y in self.held]
        found = float(torch.stack(errors).square().mean().sqrt())
        return Interval(found, found, found)


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_backends_quantizer_takes_part(backend: str) -> None:
    """Half of what 8 bits everywhere lose is reached by keeping some layers in more, or said to be out of reach."""
    first = Setting(backend).search.run(Setting(backend).captured, 10.0)
    everywhere = first.tries[0].lost.value
    assert 0 < everywhere < 0.2
    assert {option.form for option in first.chosen.chosen} == {"int8"}
    setting = Setting(backend)
    try:
        found = setting.search.run(setting.captured, everywhere / 2)
    except Unreachable as problem:
        assert everywhere / 2 < problem.best <= everywhere
        return
    assert found.chosen.lost.value <= everywhere / 2
    forms = {option.form for option in found.chosen.chosen}
    assert len(forms) > 1
    assert setting.loss(found.graph) == found.chosen.lost


def test_estimates_are_near_what_is_measured() -> None:
    """Half of the square of the error, summed over layers, as curvature.py has it; on the data that calibrated,
    of which nothing is cut off."""
    setting = Setting("xnnpack")
    with torch.no_grad():
        setting.held = [(args[0], setting.model(*args)) for args, _ in setting.calls]
    (first,) = setting.search.run(setting.captured, 10.0).tries
    assert (2 * error_of(first.chosen)) ** 0.5 == pytest.approx(first.lost.value, rel=0.5)


def test_a_layer_is_what_is_quantized_together() -> None:
    setting = Setting("xnnpack")
    sites = setting.search.run(setting.captured, 10.0).sites
    layers = {site.layer.module: site.layer.operators for site in sites}
    assert layers["a"] == "conv2d, relu" and layers["b"] == "conv2d" and layers["c"] == "linear"
    by_name = {site.layer.module: site.options for site in sites}
    small, dynamic, floats = by_name["c"]
    assert (small.form, dynamic.form, floats.form) == ("int8", "int8-dynamic", "float")
    assert [option.weight_bytes for option in (small, dynamic, floats)] == [40, 40, 160]
    assert [option.bits for option in (small, dynamic, floats)] == [8, 32, 32]
    assert [option.computes for option in (small, dynamic, floats)] == [8, 8, 32]
    assert [option.form for option in by_name["a"]] == ["int8", "int8-dynamic", "float"]


class Mixed(nn.Module):
    """A residual with a norm that follows no convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(3, 3, 1) for _ in range(3))
        self.norm = nn.BatchNorm2d(3)
        self.norm.running_mean += 0.5

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.a(x))
        return x + self.c(self.norm(torch.relu(self.b(x))))


@pytest.mark.parametrize("forms", ["8d8", "8df", "fd8", "f8d"])
def test_layers_of_all_forms_are_one_delegate(forms: str) -> None:
    """In any order: also where what 8 bits gave is quantized again while running; and the program computes what the
    graph says."""
    torch.manual_seed(0)
    captured = export_module(Mixed().eval(), INPUT, {}, strict=False).module()
    quantizers = forms_of(all_backends()["xnnpack"])
    names = {"8": "int8", "d": "int8-dynamic", "f": "float"}
    layers = ["conv2d", "conv2d_1", "conv2d_2"]
    mixed = MixedQuantizer(quantizers, {n: names[f] for n, f in zip(layers, forms)})
    prepared = prepare_pt2e(captured, mixed)
    prepared(*INPUT)
    graph = converted(prepared)
    calls = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert any("choose_qparams" in call for call in calls) and "aten.batch_norm.default" in calls
    exported = torch.export.export(graph, INPUT)
    program = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    nodes = program.exported_program().graph.find_nodes(
        op="call_function", target=executorch_call_delegate
    )
    left = [n.name for n in program.exported_program().graph.nodes if "quantize" in n.name]
    assert (len(nodes), left) == (1, [])
    method = Runtime.get().load_program(program.to_executorch().buffer).load_method("forward")
    (found,), wanted = method.execute(INPUT), graph(*INPUT)
    assert float((found - wanted).norm() / wanted.norm()) < 0.02
