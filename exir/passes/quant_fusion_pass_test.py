# SPDX-License-Identifier: BSD-3-Clause
"""Fusion of dequantize, operator, quantize."""

from __future__ import annotations

import pytest
import torch

from executorch.exir import to_edge
from executorch.exir.dialects._ops import ops
from executorch.exir.passes.quant_fusion_pass import QuantFusionPass


@pytest.mark.req("CMP-024")
@pytest.mark.parametrize("out_dtype", [torch.int8, torch.uint8])
def test_a_quantized_sum_becomes_one_operator(out_dtype: torch.dtype) -> None:
    quantized = torch.ops.quantized_decomposed

    class QuantizedSum(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            low, high = torch.iinfo(out_dtype).min, torch.iinfo(out_dtype).max
            left = quantized.dequantize_per_tensor(a, 0.1, 3, -128, 127, torch.int8)
            right = quantized.dequantize_per_tensor(b, 0.2, -5, -128, 127, torch.int8)
            return quantized.quantize_per_tensor(left + right, 0.25, 1, low, high, out_dtype)

    inputs = (
        torch.arange(-64, 64, dtype=torch.int8),
        torch.arange(127, -1, -1, dtype=torch.int8),
    )
    edge = to_edge(torch.export.export(QuantizedSum(), inputs)).transform([QuantFusionPass()])
    program = edge.exported_program()
    calls = [n.target for n in program.graph.nodes if n.op == "call_function"]
    if out_dtype == torch.int8:
        assert calls == [ops.edge.quantized_decomposed.add.default]
        (operator,) = edge.to_executorch().executorch_program.execution_plan[0].operators
        assert (operator.name, operator.overload) == ("quantized_decomposed::add", "out")
    else:
        assert len(calls) == 4
    torch.testing.assert_close(program.module()(*inputs), QuantizedSum()(*inputs))
