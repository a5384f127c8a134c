# SPDX-License-Identifier: BSD-3-Clause
"""Quantized inputs and outputs: what the graph, the constant methods and the file say."""

from __future__ import annotations

import pytest
import torch

import executorch.kernels.quantized  # noqa: F401  (out variants)
from executorch.exir import EdgeProgramManager, to_edge
from executorch.exir.passes.quantize_io_pass import (
    QuantizeInputs,
    QuantizeOutputs,
    extract_io_quant_params,
    get_config_method_name,
    quantize_input,
    quantize_output,
)
from executorch.exir.scalar_type import ScalarType
from executorch.runtime import Runtime

_q = torch.ops.quantized_decomposed
X = torch.linspace(-3, 3, 8)
IN, OUT = (0.5, 1, -128, 127, torch.int8), (0.25, 2, -128, 127, torch.int8)


class QuantizedRelu(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = _q.dequantize_per_tensor(_q.quantize_per_tensor(x, *IN), *IN)
        return _q.dequantize_per_tensor(_q.quantize_per_tensor(torch.relu(x), *OUT), *OUT)


class Relu(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def edge_of(model: torch.nn.Module) -> EdgeProgramManager:
    return to_edge(torch.export.export(model, (X,)))


def test_both_ends_become_integers_and_tell_their_parameters() -> None:
    edge = edge_of(QuantizedRelu())
    changed = edge.transform([QuantizeInputs(edge, [0]), QuantizeOutputs(edge, [0])])
    method = Runtime.get().load_program(changed.to_executorch().buffer).load_method("forward")
    quantized = _q.quantize_per_tensor(X, *IN)
    (result,) = method.execute([quantized])
    assert result.dtype == torch.int8
    expected = _q.quantize_per_tensor(QuantizedRelu()(X), *OUT)
    torch.testing.assert_close(result, expected, rtol=0, atol=0)

    program = Runtime.get().load_program(changed.to_executorch().buffer)
    message = {name: program.load_method(name).execute([])[0] for name in changed.config_methods}
    assert message == {
        "input0_scale": 0.5, "input0_zp": 1, "input0_quant_min": -128, "input0_quant_max": 127,
        "input0_dtype": ScalarType.CHAR, "output0_scale": 0.25, "output0_zp": 2,
        "output0_quant_min": -128, "output0_quant_max": 127, "output0_dtype": ScalarType.CHAR,
    }  # fmt: skip


def test_an_input_without_quantize_takes_given_parameters() -> None:
    edge = edge_of(Relu())
    given = {0: {"scale": 0.5, "zp": 1, "dtype": torch.int8}}
    changed = edge.transform([QuantizeInputs(edge, given, method_name="forward")])
    assert "forward_input0_quant_max" in changed.config_methods
    method = Runtime.get().load_program(changed.to_executorch().buffer).load_method("forward")
    quantized = torch.tensor([-128, -1, 0, 1, 2, 3, 100, 127], dtype=torch.int8)
    (result,) = method.execute([quantized])
    torch.testing.assert_close(result, torch.relu(_q.dequantize_per_tensor(quantized, *IN)))


def test_parameters_are_read_without_changing_the_program() -> None:
    edge = edge_of(QuantizedRelu())
    before = str(edge.exported_program().graph)
    found = extract_io_quant_params(edge)
    assert str(edge.exported_program().graph) == before
    assert found["inputs"]["x"] == {
        "scale": 0.5, "zero_point": 1, "quant_min": -128, "quant_max": 127, "dtype": ScalarType.CHAR,
    }  # fmt: skip
    assert [values["scale"] for values in found["outputs"].values()] == [0.25]


def test_what_is_not_quantized_is_refused() -> None:
    program = edge_of(Relu()).exported_program()
    with pytest.raises(ValueError, match="input 0 .*relu"):
        quantize_input(program, 0)
    with pytest.raises(ValueError, match="output 0: expected a dequantize operator, found .*relu"):
        quantize_output(program, 0)
    with pytest.raises(IndexError):
        quantize_input(program, 5)


def test_names_of_constant_methods() -> None:
    assert get_config_method_name() == "forward_input0_scale"
    assert get_config_method_name(None, "output", 3, "zp") == "output3_zp"
