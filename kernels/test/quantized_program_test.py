# SPDX-License-Identifier: BSD-3-Clause
"""A quantized network that no delegate takes: written to a file, run on the quantized kernels, compared with eager."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.ao.quantization.fx._decomposed

import executorch.kernels.quantized  # noqa: F401  (out variants)
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.runtime import Runtime

QUANTIZED = torch.ops.quantized_decomposed
INT8 = (-128, 127, torch.int8)


class PerTensor(torch.nn.Module):
    """A convolution with activations of one scale and a weight of a scale per channel."""

    def __init__(self) -> None:
        super().__init__()
        weight = torch.randn(8, 3, 3, 3)
        self.scales = weight.abs().amax((1, 2, 3)) / 127
        self.points = torch.zeros(8, dtype=torch.int64)
        self.weight = QUANTIZED.quantize_per_channel(weight, self.scales, self.points, 0, *INT8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        codes = QUANTIZED.quantize_per_tensor(x, 0.03, 2, *INT8)
        x = QUANTIZED.dequantize_per_tensor(codes, 0.03, 2, *INT8)
        weight = QUANTIZED.dequantize_per_channel(self.weight, self.scales, self.points, 0, *INT8)
        y = torch.relu(torch.nn.functional.conv2d(x, weight, padding=1))
        return QUANTIZED.quantize_per_tensor(y, 0.05, -128, *INT8)


class Dynamic(torch.nn.Module):
    """A linear layer whose activations get a scale when it runs: one, or one for each token."""

    def __init__(self, scales: str) -> None:
        super().__init__()
        self.of = scales
        weight = torch.randn(6, 16)
        self.scales = weight.abs().amax(1) / 127
        self.points = torch.zeros(6, dtype=torch.int64)
        self.weight = QUANTIZED.quantize_per_channel(weight, self.scales, self.points, 0, *INT8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.of == "tokens":
            scale, point = QUANTIZED.choose_qparams_per_token_asymmetric(x, torch.int8)
            codes = QUANTIZED.quantize_per_token(x, scale, point, *INT8)
            x = QUANTIZED.dequantize_per_token(codes, scale, point, *INT8, torch.float32)
        else:
            choose = getattr(QUANTIZED, self.of).tensor
            scale, point = choose(x, -128, 127, 1e-5, torch.int8)
            codes = QUANTIZED.quantize_per_tensor.tensor(x, scale, point, *INT8)
            x = QUANTIZED.dequantize_per_tensor.tensor(codes, scale, point, *INT8)
        weight = QUANTIZED.dequantize_per_channel(self.weight, self.scales, self.points, 0, *INT8)
        return torch.nn.functional.linear(x, weight)


NETWORKS = {
    "one scale": (PerTensor, (), (2, 3, 8, 8)),
    "a scale at run time": (Dynamic, ("choose_qparams",), (5, 16)),
    "a symmetric scale at run time": (Dynamic, ("choose_qparams_symmetric",), (5, 16)),
    "a scale for each token": (Dynamic, ("tokens",), (5, 16)),
}


@pytest.mark.req("KS-004")
@pytest.mark.parametrize("name", NETWORKS)
def test_an_undelegated_quantized_program_equals_eager(name: str, tmp_path: Path) -> None:
    torch.manual_seed(3)
    network, arguments, shape = NETWORKS[name]
    module, x = network(*arguments).eval(), torch.randn(*shape)
    config = EdgeCompileConfig(_check_ir_validity=False)
    edge = to_edge(torch.export.export(module, (x,)), compile_config=config)
    path = tmp_path / "quantized.pte"
    manager = edge.to_executorch()
    manager.save(str(path))
    (plan,) = manager.executorch_program.execution_plan
    assert not plan.delegates
    used = {op.name for op in plan.operators if op.name.startswith("quantized_decomposed::")}
    assert len(used) >= 3, used
    (found,) = Runtime.get().load_program(path).load_method("forward").execute([x])
    wanted = module(x)
    assert found.dtype == wanted.dtype
    if wanted.dtype == torch.int8:  # sums in another order may round the other way, by one step
        assert (found.int() - wanted.int()).abs().max() <= 1
        assert (found != wanted).float().mean() < 0.01
    else:
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
