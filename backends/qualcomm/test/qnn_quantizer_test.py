# SPDX-License-Identifier: BSD-3-Clause
"""Dtypes of QnnQuantizer: widths of values and weights, scales per channel, and what users leave out. That the numbers
are those of the released package is shown by graphs_test.py."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.export import export
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.qualcomm.aot.graph import DataType, EncodingType
from executorch.backends.qualcomm.quantizer.qconfig import get_ptq_per_channel_quant_config
from executorch.backends.qualcomm.quantizer.quantizer import (
    ModuleQConfig,
    QnnQuantizer,
    QuantDtype,
    get_submodule_name_predicate,
    get_submodule_type_predicate,
)
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.backends.qualcomm.test.recorder import Recorder, lowered, quantized
from executorch.exir.backend.lowering.quantized_steps import quantized_step

ATEN = torch.ops.aten


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.relu(self.first(x)))


X = (torch.rand(3, 8),)
WIDTHS = {
    QuantDtype.use_8a8w: (DataType.UFIXED_POINT_8, DataType.SFIXED_POINT_8, 0),
    QuantDtype.use_8a4w: (DataType.UFIXED_POINT_8, DataType.SFIXED_POINT_8, 4),
    QuantDtype.use_16a4w: (DataType.UFIXED_POINT_16, DataType.SFIXED_POINT_8, 4),
    QuantDtype.use_16a8w: (DataType.UFIXED_POINT_16, DataType.SFIXED_POINT_8, 0),
    QuantDtype.use_16a16w: (DataType.UFIXED_POINT_16, DataType.SFIXED_POINT_16, 0),
    QuantDtype.use_16a2w: (DataType.UFIXED_POINT_16, DataType.SFIXED_POINT_8, 2),
}


@pytest.mark.parametrize("dtype", WIDTHS, ids=lambda each: each.name)
def test_every_tensor_has_the_width_that_the_dtype_says(dtype: QuantDtype) -> None:
    activation, weight, bitwidth = WIDTHS[dtype]
    door = Recorder()
    lowered(quantized(Block(), X, dtype), X, door)
    (graph,) = door.graphs
    assert [each.type for each in graph.operators] == [
        "Quantize", "FullyConnected", "Relu", "FullyConnected", "Dequantize",
    ]  # fmt: skip
    for operator in graph.operators[1:4]:
        assert {each.dtype for each in graph.of(operator.outputs)} == {activation}
    filters = graph.tensors[graph.operators[1].inputs[1]]
    assert filters.dtype is weight and filters.encoding.bitwidth == bitwidth
    assert len(filters.encoding.scales) == 16 and filters.encoding.axis == 0
    if bitwidth:
        assert filters.encoding.type is EncodingType.BW_AXIS_SCALE_OFFSET
        assert 0 <= int(filters.data.min()) and int(filters.data.max()) < 1 << bitwidth


@pytest.mark.parametrize("dtype", [QuantDtype.use_8a8w, QuantDtype.use_16a4w])
def test_results_are_near(dtype: QuantDtype) -> None:
    """4 bits have 15 values around 0."""
    bound = {QuantDtype.use_8a8w: 0.02, QuantDtype.use_16a4w: 0.15}[dtype]
    found, expected = quantized(Block(), X, dtype)(*X), Block()(*X)
    assert float((found - expected).norm() / expected.norm()) < bound


def test_one_scale_for_all_weights() -> None:
    door = Recorder()
    lowered(quantized(Block(), X, QuantDtype.use_16a8w, is_per_channel=False), X, door)
    weight = door.graphs[0].tensors[door.graphs[0].operators[1].inputs[1]]
    assert weight.dtype is DataType.UFIXED_POINT_8 and len(weight.encoding.scales) == 1
    with pytest.raises(ValueError, match="use_16a2w has a scale for each channel"):
        quantized(Block(), X, QuantDtype.use_16a2w, is_per_channel=False)


def test_the_second_operand_of_matmul_is_around_zero_in_16_bits() -> None:
    class Pairs(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return torch.matmul(x, y)

    door, inputs = Recorder(), (torch.rand(2, 3, 4), torch.rand(2, 4, 5))
    lowered(quantized(Pairs(), inputs, QuantDtype.use_16a4w), inputs, door)
    (graph,) = door.graphs
    product = next(each for each in graph.operators if each.type == "MatMul")
    first, second = graph.of(product.inputs)
    assert first.dtype is DataType.UFIXED_POINT_16 and second.dtype is DataType.SFIXED_POINT_16
    assert second.encoding.offsets == (0,)


def converted(quantizer: QnnQuantizer) -> GraphModule:
    prepared = prepare_pt2e(export(Block(), X, strict=True).module(), quantizer)
    prepared(*X)
    return convert_pt2e(prepared)


def widths(model: GraphModule) -> list[int | None]:
    """Of what the linear layers give, as far as that is quantized."""
    calls = [node for node in model.graph.nodes if node.target is ATEN.linear.default]
    outputs = [list(quantized_step(call).outputs.values()) for call in calls]
    return [each[0].quant_max if each else None for each in outputs]


def test_modules_have_dtypes_of_their_own() -> None:
    quantizer = QnnQuantizer()
    wide = ModuleQConfig(QuantDtype.use_16a8w)
    quantizer.set_submodule_qconfig_list([(get_submodule_name_predicate("second"), wide)])
    assert widths(converted(quantizer)) == [255, 65535]
    quantizer.set_submodule_qconfig_list([(get_submodule_type_predicate("Linear"), wide)])
    assert widths(converted(quantizer)) == [65535, 65535]


def test_what_is_discarded_stays_float() -> None:
    quantizer = QnnQuantizer()
    quantizer.add_discard_nodes(["linear_1"])
    assert widths(converted(quantizer)) == [255, None]
    quantizer = QnnQuantizer()
    quantizer.add_discard_ops([ATEN.linear.default])
    model = converted(quantizer)
    calls = [node for node in model.graph.nodes if node.target is ATEN.linear.default]
    assert not quantized_step(calls[0]).inputs and widths(model)[1] is None


def test_users_annotate_first() -> None:
    seen: list[int] = []
    quantizer = QnnQuantizer()
    quantizer.add_custom_quant_annotations([lambda model: seen.append(len(model.graph.nodes))])
    converted(quantizer)
    assert len(seen) == 1 and ATEN.linear.default in quantizer.get_supported_ops()


def test_what_there_is_not() -> None:
    for dtype, is_qat in ((QuantDtype.use_fp16a8w, False), (QuantDtype.use_8a8w, True)):
        with pytest.raises(RuntimeError, match="is not support"):
            QnnQuantizer().set_default_quant_config(dtype, is_qat)
    with pytest.raises(RuntimeError, match="tables of embeddings stay float"):
        ModuleQConfig(is_embedding_per_channel=True)
    with pytest.raises(ValueError, match="expected activations of uint8 or uint16"):
        get_ptq_per_channel_quant_config(torch.int8)


def test_wide_weights_need_a_newer_npu() -> None:
    old = QnnQuantizer(soc_model=QcomChipset.SM8450)
    old.set_default_quant_config(QuantDtype.use_16a16w)
    with pytest.raises(ValueError, match="need an NPU of V73 or later, SM8450 has V69"):
        converted(old)


class NormWithoutWeight(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.rms_norm(x, (8,)) + 1


def test_a_norm_without_a_weight_is_quantized() -> None:
    x = torch.linspace(-2, 2, 16).view(2, 8)
    prepared = prepare_pt2e(export(NormWithoutWeight(), (x,)).module(), QnnQuantizer())
    prepared(x)
    found = convert_pt2e(prepared)(x)
    torch.testing.assert_close(found, NormWithoutWeight()(x), rtol=0, atol=0.05)
