# SPDX-License-Identifier: BSD-3-Clause
"""Questions about nodes: data of a program, kinds of quantization, valid parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchao  # noqa: F401  registers its operators
from torch.ao.quantization.fx import _decomposed  # noqa: F401  registers operators
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from executorch.backends.transforms.utils import (
    create_constant_placeholder,
    create_mutable_buffer,
    delete_constant_placeholder,
)
from executorch.backends.xnnpack.utils import quant_utils, utils

QD, AO = torch.ops.quantized_decomposed, torch.ops.torchao
INT8 = (-128, 127, torch.int8)
INT4 = (torch.int8, -8, 7)


def program_of(function: Callable[..., Any], *inputs: torch.Tensor) -> ExportedProgram:
    class Module(torch.nn.Module):
        def forward(self, *args: torch.Tensor) -> Any:
            return function(*args)

    return torch.export.export(Module(), inputs)


def static(x: torch.Tensor) -> torch.Tensor:
    return QD.dequantize_per_tensor(QD.quantize_per_tensor(x, 0.1, 0, *INT8), 0.1, 0, *INT8)


def dynamic(x: torch.Tensor) -> torch.Tensor:
    scale, point = QD.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8)
    stored = QD.quantize_per_tensor.tensor(x, scale, point, *INT8)
    return QD.dequantize_per_tensor.tensor(stored, scale, point, *INT8)


def by_row(x: torch.Tensor) -> torch.Tensor:
    block = [1, x.shape[-1]]
    scale, point = AO.choose_qparams_affine(x, "ASYMMETRIC", block, torch.int8, -128, 127)
    stored = AO.quantize_affine(x, block, scale, point, torch.int8, -128, 127)
    return AO.dequantize_affine(stored, block, scale, point, torch.int8, -128, 127)


def in_blocks(block: list[int]) -> Callable[..., torch.Tensor]:
    def function(x: torch.Tensor, scale: torch.Tensor, point: torch.Tensor) -> torch.Tensor:
        stored = AO.quantize_affine(x, block, scale, point, *INT4)
        return AO.dequantize_affine(stored, block, scale, point, *INT4)

    return function


def scales(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(shape) + 0.1, torch.zeros(shape, dtype=torch.int32)


W = torch.randn(8, 64)
KINDS = {
    "static": (program_of(static, W), {"is_per_tensor"}),
    "dynamic": (program_of(dynamic, W), {"is_per_tensor", "is_dynamic_qdq"}),
    "row": (
        program_of(by_row, W),
        {"is_affine_qdq", "is_per_channel", "is_per_token", "is_per_channel_group", "is_dynamic_qdq"},
    ),
    "group": (
        program_of(in_blocks([1, 32]), W, *scales(8, 2)),
        {"is_affine_qdq", "is_per_channel", "is_per_channel_group"},
    ),
    "tensor": (program_of(in_blocks([8, 64]), W, *scales(1)), {"is_affine_qdq"}),
}  # fmt: skip
QUESTIONS = {question for _, message in KINDS.values() for question in message}


@pytest.mark.parametrize("kind", KINDS)
def test_quantize_and_dequantize_are_told_apart(kind: str) -> None:
    program, expected = KINDS[kind]
    found = 0
    for node in program.graph.nodes:
        if quant_utils.is_quant(node) or quant_utils.is_dequant(node):
            found += 1
            message = {name for name in QUESTIONS if getattr(quant_utils, name)(node)}
            assert message == expected, node
            assert quant_utils.is_quant(node) != quant_utils.is_dequant(node)
    assert found == 2
    chooses = any(map(quant_utils.is_qparam, program.graph.nodes))
    assert chooses == ("is_dynamic_qdq" in expected)


def test_arguments_of_torchao_calls_in_the_order_of_the_decomposed() -> None:
    program, _ = KINDS["group"]
    quantize = next(filter(quant_utils.is_quant, program.graph.nodes))
    x, scale, point = program.graph.find_nodes(op="placeholder")
    arguments = quant_utils.extract_qdq_affine_op_args_for_decomposed_ops(quantize)
    assert arguments == [x, scale, point, -8, 7, torch.int8, 32]
    with pytest.raises(ValueError, match="no call of torchao's"):
        quant_utils.extract_qdq_affine_op_args_for_decomposed_ops(x)


def test_implicit_nodes_are_tagged() -> None:
    node = next(iter(KINDS["static"][0].graph.nodes))
    assert not quant_utils.is_tagged_as_implicit_q_dq(node)
    quant_utils.tag_as_implicit_q_dq(node)
    assert quant_utils.is_tagged_as_implicit_q_dq(node)


@pytest.mark.parametrize("scale", [0.0, float("inf"), 1e-45, torch.tensor([0.1, float("nan")])])
def test_scales_are_finite_and_normal(scale: float | torch.Tensor) -> None:
    with pytest.raises(ValueError, match="Scales must be finite and normal, however found"):
        quant_utils.validate_quant_scales(scale)
    quant_utils.validate_quant_scales(0.1)


def test_zero_points_are_in_range() -> None:
    check = quant_utils.validate_quant_zeropoints
    check(torch.tensor([0, 128]), torch.uint8, False)
    check(15, torch.int8, True)
    for point, dtype, is_4bit in (
        (300, torch.int8, False),
        (5, torch.int32, False),
        (16, torch.int8, True),
    ):
        with pytest.raises(ValueError, match=f"Found invalid zeropoint {point}"):
            check(point, dtype, is_4bit)


class Data(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight + self.total


def test_data_of_a_program() -> None:
    program = torch.export.export(Data(), (torch.randn(3),))
    weight, total, x = program.graph.find_nodes(op="placeholder")
    assert [utils.is_param_node(program, n) for n in (weight, total, x)] == [True, True, False]
    assert utils.get_tensor_name(program, weight) == "weight"
    assert utils.get_param_tensor(program, weight) is program.state_dict["weight"]
    assert utils.get_param_tensor(program, None) is None
    with pytest.raises(RuntimeError, match="unsupported param type, placeholder: x is no"):
        utils.get_param_tensor(program, x)
    product = next(iter(x.users))
    assert utils.get_input_node(product, 0) is x
    with pytest.raises(RuntimeError, match="why not"):
        utils.check_or_raise(False, "why not")


def test_data_is_added_and_taken_away() -> None:
    program = torch.export.export(Data(), (torch.ones(3),))
    weight = program.graph.find_nodes(op="placeholder")[0]
    with program.graph.inserting_before(weight):
        double = create_constant_placeholder(
            program, program.graph, "doubled", InputKind.PARAMETER, torch.full((3,), 2.0)
        )
        again = create_constant_placeholder(
            program, program.graph, "doubled", InputKind.PARAMETER, torch.zeros(3)
        )
    assert again is double
    weight.replace_all_uses_with(double)
    delete_constant_placeholder(program, weight)
    assert set(program.state_dict) == {"doubled", "total"}
    program.graph_module.recompile()
    torch.testing.assert_close(program.module()(torch.ones(3)), torch.full((3,), 2.0))
    with pytest.raises(RuntimeError, match="doubled is read by mul"):
        delete_constant_placeholder(program, double)
    with pytest.raises(RuntimeError, match="Must set persistent_buffer"):
        create_constant_placeholder(program, program.graph, "b", InputKind.BUFFER, torch.ones(1))


def test_a_buffer_that_the_program_writes() -> None:
    program = torch.export.export(Data(), (torch.ones(3),))
    buffer = create_mutable_buffer(program, "b_state", torch.full((3,), 5.0))
    output = program.graph.output_node()
    assert output.args[0][0] is buffer and buffer.name == "b_state"
    assert program.graph_signature.inputs_to_buffers["b_state"] == "state"
    assert program.graph_signature.output_specs[0].kind == OutputKind.BUFFER_MUTATION
    assert program.graph_signature.buffers_to_mutate == {"b_state": "state"}
    assert program.state_dict["state"].tolist() == [5.0] * 3
    create_mutable_buffer(program, "b_more", torch.zeros(2))
    assert program.graph_signature.inputs_to_buffers["b_more"] == "more"
    assert program.graph_signature.buffers_to_mutate["b_more"] == "more"
    assert program.state_dict["more"].tolist() == [0.0] * 2 and "b_more" not in program.state_dict
    program.graph.lint()


def test_dimensions_and_groups() -> None:
    assert utils.normalize_mean_dims(None, 4) == [0, 1, 2, 3]
    assert utils.normalize_mean_dims([-1, 2], 4) == [3, 2]
    assert utils.normalize_mean_dims(-1, 4) == [3]
    assert utils.is_depthwise_conv((16, 1, 3, 3), 8) and utils.is_depthwise_conv((8, 1, 3), 8)
    assert not utils.is_depthwise_conv((8, 2, 3, 3), 4)
    assert not utils.is_depthwise_conv((1, 8, 3, 3), 8, is_transpose=True)
    assert utils.PERM_NCHW_TO_NHWC == [0, 2, 3, 1]
