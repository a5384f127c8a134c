# SPDX-License-Identifier: BSD-3-Clause
"""Passes of XNNPACK: what is left of the calls, and that the numbers stay."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram

from executorch.backends.transforms.transforms_test import calls, check, edge_program, graph_of
from executorch.backends.xnnpack._passes import XNNPACKPass, XNNPACKPassManager
from executorch.backends.xnnpack._passes.convert_to_linear import ConvertToLinearPass
from executorch.backends.xnnpack._passes.decompose_batch_norm import DecomposeBatchNorm
from executorch.backends.xnnpack._passes.decompose_cat import DecomposeConcatenate
from executorch.backends.xnnpack._passes.fuse_activation_pass import FuseActivationPass
from executorch.backends.xnnpack._passes.fuse_batch_norm import FuseBatchNormPass
from executorch.backends.xnnpack._passes.propagate_custom_meta_pass import PropagateCustomMetaPass
from executorch.backends.xnnpack._passes.remove_noop_expand_copy_pass import (
    RemoveNoopExpandCopyPass,
)
from executorch.backends.xnnpack._passes.remove_redundant_copy_pass import RemoveRedundantCopyPass
from executorch.backends.xnnpack.utils.configs import get_transform_passes
from executorch.exir.dialects._ops import ops as exir_ops

aten = exir_ops.edge.aten
X = torch.randn(2, 3)


def transformed(program: ExportedProgram, *passes: type) -> ExportedProgram:
    return XNNPACKPassManager(program, list(passes)).transform()


def with_statistics(norm: nn.Module) -> nn.Module:
    nn.init.uniform_(norm.running_mean, -1, 1), nn.init.uniform_(norm.running_var, 0.5, 2)
    nn.init.uniform_(norm.weight, 0.5, 2)
    return norm


def test_the_manager_gives_programs_and_leaves_the_given_one() -> None:
    seen: list[ExportedProgram] = []

    class Look(XNNPACKPass):
        def call(
            self, graph_module: torch.fx.GraphModule
        ) -> torch.fx.passes.infra.pass_base.PassResult:
            seen.append(self.exported_program)
            return super().call(graph_module)

    program = edge_program(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), X)
    manager = XNNPACKPassManager(program, [ConvertToLinearPass, FuseActivationPass, Look])
    made = manager.transform()
    assert manager.exported_program is program and "relu.default" in calls(program.graph_module)
    assert calls(made.graph_module) == ["linear.default"] and len(seen) == 1
    with pytest.raises(RuntimeError, match="Expecting ExportPass"):
        transformed(program, object)


def test_the_default_passes_keep_the_numbers() -> None:
    layers = (nn.Conv2d(3, 4, 3), with_statistics(nn.BatchNorm2d(4)), nn.MaxPool2d(2))
    model, x = nn.Sequential(*layers).eval(), torch.randn(2, 3, 8, 8)
    made = XNNPACKPassManager(edge_program(model, x)).transform()
    assert calls(made.graph_module) == ["convolution.default", "max_pool2d.default"]
    torch.testing.assert_close(made.module()(x), model(x), rtol=1e-4, atol=1e-5)


def test_limits_are_noted_on_what_computes() -> None:
    program = edge_program(nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU6()), torch.randn(1, 3, 2, 2))
    made = transformed(program, FuseActivationPass)
    (node,) = (n for n in made.graph.nodes if n.op == "call_function")
    limits = FuseActivationPass.get_fused_activation(node)
    assert (limits.output_min, limits.output_max) == (0.0, 6.0)
    relu = next(n for n in edge_program(nn.ReLU(), X).graph.nodes if n.op == "call_function")
    found = FuseActivationPass(program).get_output_min_max_from_activation(relu)
    assert (found.output_min, found.output_max) == (0.0, math.inf)


def test_batch_norms_go_into_linear_layers() -> None:
    model = nn.Sequential(nn.Linear(3, 4), with_statistics(nn.BatchNorm1d(4))).eval()
    made = transformed(edge_program(model, X), ConvertToLinearPass, FuseBatchNormPass)
    assert calls(made.graph_module) == ["linear.default"]
    torch.testing.assert_close(made.module()(X), model(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_batch_norm_alone_is_a_convolution(rank: int) -> None:
    norm = with_statistics(nn.BatchNorm1d(3) if rank == 1 else nn.BatchNorm2d(3)).eval()
    x = torch.randn(2, 3, *[4] * rank)
    program = edge_program(norm, x)
    made = transformed(program, DecomposeBatchNorm)
    assert calls(made.graph_module) == ["convolution.default"]
    torch.testing.assert_close(made.module()(x), norm(x), rtol=1e-4, atol=1e-5)
    reasons: list[str] = []
    flat = edge_program(with_statistics(nn.BatchNorm1d(3)), X)
    (node,) = (n for n in flat.graph.nodes if n.target in DecomposeBatchNorm.BATCH_NORM_OPS)
    say = lambda node, reason: reasons.append(reason)  # noqa: E731
    assert not DecomposeBatchNorm.can_decompose_batch_norm(node, flat, say)
    assert reasons == ["a value of three or four dimensions is expected"]


@pytest.mark.parametrize(("count", "cats"), [(5, 1), (6, 2), (9, 2), (10, 3)])
def test_long_concatenations_are_parted(count: int, cats: int) -> None:
    def write(call: Any, *values: Any) -> Any:
        return call(aten.cat.default, list(values), 1)

    inputs = tuple(torch.randn(2, 1 + i) for i in range(count))
    check(DecomposeConcatenate(), write, inputs, ["cat.default"] * cats)


def test_expansions_that_change_nothing_go() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(aten.expand_copy.default, x, [2, -1]), call(
            aten.expand_copy.default, x, [4, 2, 3]
        )

    check(RemoveNoopExpandCopyPass(), write, (X,), ["expand_copy.default"])
    assert isinstance(get_transform_passes()[0], RemoveNoopExpandCopyPass)
    assert get_transform_passes([1])[-1] == 1


def test_copies_there_and_back_go() -> None:
    to = exir_ops.edge.dim_order_ops._to_dim_order_copy.default

    def write(call: Any, x: Any) -> Any:
        last = call(to, x, dim_order=[0, 2, 3, 1])
        return call(to, last, dim_order=[0, 1, 2, 3])

    check(RemoveRedundantCopyPass(None), write, (torch.randn(1, 3, 2, 2),), [])

    def rounds(call: Any, x: Any) -> Any:
        return call(
            to,
            call(to, x, dtype=torch.float16, dim_order=[0, 1]),
            dtype=torch.float32,
            dim_order=[0, 1],
        )

    check(
        RemoveRedundantCopyPass(None),
        rounds,
        (X,),
        ["dim_order_ops._to_dim_order_copy.default"] * 2,
    )


def test_notes_on_data_go_on() -> None:
    qd = exir_ops.edge.quantized_decomposed

    def write(call: Any, x: Any) -> Any:
        stored = call(qd.quantize_per_tensor.default, x, 0.1, 0, -128, 127, torch.int8)
        return call(qd.dequantize_per_tensor.default, stored, 0.1, 0, -128, 127, torch.int8)

    graph_module = graph_of(write, X)
    next(iter(graph_module.graph.nodes)).meta["custom"] = {"tag": 1}
    made = PropagateCustomMetaPass(None)(graph_module).graph_module
    assert [n.meta.get("custom") for n in made.graph.nodes][:3] == [{"tag": 1}] * 3
