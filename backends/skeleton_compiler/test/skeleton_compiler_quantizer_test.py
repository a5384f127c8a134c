# SPDX-License-Identifier: BSD-3-Clause
"""A model with activations of 16 bits and weights of 4 is delegated as a whole, and the device's integers are those of
the quantized model in PyTorch, within one."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends import skeleton_compiler
from executorch.backends.skeleton_compiler.aot.compiler import COMPILER
from executorch.backends.skeleton_compiler.aot.partitioner import SkeletonCompilerPartitioner
from executorch.backends.skeleton_compiler.aot.quantizer import SkeletonCompilerQuantizer
from executorch.backends.test.built import use_build
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.test.e2e.build_tree import load_backend

use_build(skeleton_compiler)
pytestmark = pytest.mark.skipif(bool(COMPILER.why_missing()), reason=COMPILER.why_missing())
REST = {f"quantized_decomposed.{verb}_per_tensor.default": 1 for verb in ("quantize", "dequantize")}


class Twice(nn.Module):
    """One value that two layers read; one layer without a bias, with an odd number of columns."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 7)
        self.second = nn.Linear(7, 5, bias=False)
        self.third = nn.Linear(5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.third(self.second(self.first(x)))


def test_integers_are_those_of_the_quantized_model() -> None:
    torch.manual_seed(0)
    model, x = Twice().eval(), torch.randn(2, 9, 16)
    prepared = prepare_pt2e(export(model, x).module(), SkeletonCompilerQuantizer())
    prepared(x)
    converted = convert_pt2e(prepared)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        edge = to_edge_transform_and_lower(
            export(converted, x), partitioner=[SkeletonCompilerPartitioner()]
        )
    calls = [op_name(node) for node in edge.exported_program().graph.nodes]
    assert {
        name: calls.count(name) for name in calls if "quantized" in name or "aten" in name
    } == REST
    (scale,) = (
        node.args[1]
        for node in edge.exported_program().graph.nodes
        if "dequantize" in op_name(node)
    )
    load_backend("skeleton_compiler_backend")
    found = _load_for_executorch_from_buffer(edge.to_executorch().buffer).forward((x,))[0]
    steps = ((found - converted(x)) / scale).round()
    assert steps.abs().max() <= 1, steps
    # 4 bits: each of three layers is off by some percent of its range
    assert (found - model(x)).abs().max() < 0.15 * model(x).abs().max()


def export(model: nn.Module, x: torch.Tensor) -> torch.export.ExportedProgram:
    return torch.export.export(model, (x,))
