# SPDX-License-Identifier: BSD-3-Clause
"""Node finders, and the report of what a quantizer has annotated, as upstream's print them."""

from __future__ import annotations

import logging

import pytest
import torch
from torch import Tensor, nn
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.observer import HistogramObserver
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    SharedQuantizationSpec,
)

from executorch.backends.cortex_m import quantizer_reporter as reporter
from executorch.backends.cortex_m.quantizer import CortexMQuantizer
from executorch.backends.cortex_m.quantizer import node_finders as finders

WHOLE = QuantizationSpec(torch.int8, HistogramObserver, -128, 127, torch.per_tensor_affine)
PLAIN = QuantizationSpec(torch.int8, HistogramObserver)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.last(torch.relu(self.first(x))) + 1


@pytest.fixture
def model() -> GraphModule:
    return torch.export.export(Model(), (torch.randn(2, 4),)).module(check_guards=False)


FOUND = [
    (finders.InputNodeFinder(), "targeting all placeholder nodes", ["x"]),
    (finders.OutputNodeFinder(), "targeting the output node", ["output"]),
    (finders.NodeNameNodeFinder("add"), "targeting names: add", ["add"]),
    (finders.NodeNameNodeFinder(["add", "relu"]), "targeting names: add, relu", ["relu", "add"]),
    (
        finders.NodeTargetNodeFinder(torch.ops.aten.linear.default),
        "targeting node targets: aten::linear",
        ["linear", "linear_1"],
    ),
    (finders.ModuleNameNodeFinder("last"), "targeting module names: last", ["linear_1"]),
    (
        finders.ModuleNameNodeFinder(["first", "last.0"]),
        "targeting module names: first, last.0",
        ["linear", "linear_1"],
    ),
    (
        finders.ModuleTypeNodeFinder([nn.Linear, nn.Sequential]),
        "targeting module types: Linear, Sequential",
        ["linear", "linear_1"],
    ),
    (
        finders.ModuleTypeNodeFinder(Model),
        "targeting module types: Model",
        ["linear", "relu", "linear_1", "add"],
    ),
]


def test_finders(model: GraphModule) -> None:
    for finder, text, names in FOUND:
        assert repr(finder) == f"{type(finder).__name__} {text}"
        assert [node.name for node in finder.find_nodes(model)] == names
    every = finders.GlobalNodeFinder()
    assert repr(every) == "GlobalNodeFinder targeting all nodes"
    assert list(every.find_nodes(model)) == list(model.graph.nodes)


class User(reporter.QuantizerReporterUser):
    def get_quantizer_info(self) -> reporter.QuantizerInfo:
        return reporter.QuantizerInfo("User", "finder", "label", "path")


def annotate(node: Node, inputs: dict[Node, object], output: object) -> None:
    node.meta["quantization_annotation"] = QuantizationAnnotation(inputs, output, _annotated=True)


RULER = "-" * 100
COUNTS = """User using finder
Annotating with label
Supported operators and patterns defined by path
   Accepted nodes: 3
   Rejected due to previous annotation: 1
   Rejected nodes: 2
"""
TABLE = """       NODE NAME        INPUT QSPEC MAP                                    OUTPUT QSPEC MAP
   --  ---------------  -------------------------------------------------  ----------------------------------------------
   ╒   linear           x: QuantizationSpec(dtype=INT8, range=(-128,127))  None
   ╘   relu                                                                SharedQuantizationSpec(edge_or_node=x)
       add              linear_1: QuantizationSpec(dtype=INT8)             QuantizationSpec(dtype=INT8, range=(-128,127))
       (linear_1, add)  Rejected: because"""  # noqa: E501


def test_reports(model: GraphModule) -> None:
    node = {each.name: each for each in model.graph.nodes}
    annotate(node["linear"], {node["x"]: WHOLE}, None)
    annotate(node["relu"], {}, SharedQuantizationSpec(node["x"]))
    annotate(node["add"], {node["linear_1"]: PLAIN}, WHOLE)
    user, other = User(), User()
    made = reporter.QuantizerReporter([user, other, object()])
    user.report_accept([node["linear"], node["relu"]])
    user.report_accept([node["add"]])
    user.report_reject([node["linear_1"]], reporter.PREVIOUS)
    user.report_reject([node["linear_1"], node["add"]], "because")
    short = made.get_quantization_report(model, False)
    title = "QUANTIZATION REPORT".center(100)
    assert short.startswith(f"\n{RULER}\n{title}\n{RULER}\n{COUNTS}\n{RULER}\n")
    assert "   No patterns accepted or rejected.\n" in short
    assert short.endswith(f"{RULER}\nNon annotated nodes: 3\n{RULER}")
    whole = made.get_quantization_report(model, True)
    assert f"{COUNTS}\n{TABLE}\n{RULER}\n" in whole
    assert whole.endswith(f"Non annotated nodes:\n    x\n    linear_1\n    output\n{RULER}")


def test_specs_as_text(model: GraphModule) -> None:
    x, linear = (next(n for n in model.graph.nodes if n.name == name) for name in ("x", "linear"))
    assert reporter.qspec_repr(SharedQuantizationSpec((x, linear))) == (
        "SharedQuantizationSpec(edge_or_node=(x, linear))"
    )
    derived = DerivedQuantizationSpec([(x, linear)], print, torch.int32)
    assert reporter.qspec_repr(derived) == (
        "DerivedQuantizationSpec(derived_from=[(x, linear)], dtype=torch.int32)"
    )
    assert reporter.qspec_repr(None) == "None"


def test_the_quantizer_says_what_it_has_annotated(
    model: GraphModule, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, reporter.__name__):
        CortexMQuantizer().annotate(model)
    (record,) = caplog.records
    assert "CortexMQuantizer using GlobalNodeFinder targeting all nodes" in record.message
    assert "Accepted nodes: 6" in record.message and "Non annotated nodes: 0" in record.message
