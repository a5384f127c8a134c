# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of annotation, in each width, as the converted graph has it; and what users are told."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.while_loop import while_loop
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e
from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.exir.backend.lowering.annotation import (
    ARITHMETIC,
    FROM_0_TO_1,
    FROM_MINUS_1_TO_1,
    GEMM,
    LOOKUP,
    SHARED,
    SHARED_FLOATS,
    Annotation,
    FixedParameters,
    Kind,
)
from executorch.exir.backend.lowering.op_table import OpTable, Row
from executorch.exir.backend.lowering.patterns import Call
from executorch.exir.backend.lowering.quantized import Quantization, is_dequantize, quantization_of
from executorch.exir.backend.lowering.quantized_steps import quantized_step
from executorch.exir.backend.lowering.quantizer.captured import CapturedTable
from executorch.exir.backend.lowering.quantizer.configs import (
    around_zero,
    limits_of,
    quantization_config,
)
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

ATEN = torch.ops.aten
LINEAR = Annotation(Kind.GEMM, dynamic=("aten.linear.default",), weight_only=True)
KINDS = {
    "aten.linear.default": LINEAR,
    "aten.convolution.default": GEMM,
    "aten.add.Tensor": ARITHMETIC,
    "aten.gelu.default": LOOKUP,
    "aten.hardtanh.default": SHARED,
    "aten.view_copy.default": SHARED,
    "aten._softmax.default": FROM_0_TO_1,
    "aten.tanh.default": FROM_MINUS_1_TO_1,
}


def table(**more: Annotation) -> OpTable[Row]:
    return OpTable({name: Row(print, annotation=kind) for name, kind in {**KINDS, **more}.items()})


class OfKinds(TableQuantizer):
    table = table()


class OfAll(OfKinds):
    everywhere = True


class Products(TableQuantizer):
    """Takes products as they are, not as linear layers."""

    table = table(**{"aten.addmm.default": Annotation(Kind.GEMM, places=(1, 2, 0))})


def quantized(
    module: nn.Module, quantizer: TableQuantizer, *inputs: Tensor, is_qat: bool = False
) -> GraphModule:
    captured = torch.export.export(module.train(is_qat), inputs).module()
    prepared = (prepare_qat_pt2e if is_qat else prepare_pt2e)(captured, quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def call_of(model: GraphModule, name: str) -> Node:
    (found,) = (node for node in model.graph.nodes if f"aten.{name}." in str(node.target))
    return found


def result_of(model: GraphModule, name: str) -> Quantization | None:
    return next(iter(quantized_step(call_of(model, name)).outputs.values()), None)


def inputs_of(model: GraphModule, name: str) -> list[Quantization]:
    return list(quantized_step(call_of(model, name)).inputs.values())


def layers(*modules: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 8), *modules)


X = torch.linspace(-1, 1, 32).view(4, 8)


@pytest.mark.parametrize("is_qat", [False, True])
@pytest.mark.parametrize("is_per_channel", [False, True])
@pytest.mark.parametrize(
    ("activation", "weight", "dtypes"),
    [
        (limits_of(8), around_zero(8), (torch.int8, torch.int8)),
        (limits_of(16), around_zero(8), (torch.int16, torch.int8)),
        (limits_of(8), limits_of(4), (torch.int8, torch.int8)),
        ((0, 255), around_zero(8), (torch.uint8, torch.int8)),
    ],
)
def test_weights_and_activations_of_each_width(
    activation, weight, dtypes, is_per_channel: bool, is_qat: bool
) -> None:
    config = quantization_config(activation, weight, is_per_channel=is_per_channel, is_qat=is_qat)
    model = quantized(layers(), OfKinds().set_global(config), X, is_qat=is_qat)
    source, stored = inputs_of(model, "linear")
    assert (source.quant_min, source.quant_max, source.dtype) == (*activation, dtypes[0])
    assert (stored.quant_min, stored.quant_max, stored.dtype) == (*weight, dtypes[1])
    assert (stored.axis == 0) == is_per_channel
    assert (result_of(model, "linear").quant_min, result_of(model, "linear").dtype) == (
        activation[0],
        dtypes[0],
    )
    steps = weight[1] - weight[0]  # of values up to 0.36; sums of eight products
    torch.testing.assert_close(model(X), layers()(X), rtol=0, atol=8 * 0.36 / steps + 0.02)


def test_more_bits_have_a_smaller_least_scale() -> None:
    """Values of 16 bits from -1 to 1 are 1 / 32768 apart, not the 2^-12 that 8 bits have at least."""
    small = torch.linspace(-1, 1, 16).view(2, 8)
    scales = []
    for bits in (8, 16):
        config = quantization_config(limits_of(bits), is_symmetric=True)
        model = quantized(layers(), OfKinds().set_global(config), small)
        scales.append(inputs_of(model, "linear")[0].scale)
    assert scales == pytest.approx([1 / 127.5, 1 / 32767.5], rel=0.02)


def test_symmetric_activations() -> None:
    config = quantization_config(around_zero(16), is_symmetric=True)
    model = quantized(layers(), OfKinds().set_global(config), X + 3)
    (source, _), result = inputs_of(model, "linear"), result_of(model, "linear")
    assert source.zero_point == result.zero_point == 0 and source.quant_min == -32767


def test_dynamic_and_weights_alone() -> None:
    dynamic = quantization_config(is_dynamic=True)
    model = quantized(layers(nn.Conv1d(4, 4, 1)), OfKinds().set_global(dynamic), X)
    assert any("choose_qparams" in str(node.target) for node in model.graph.nodes)
    assert len(inputs_of(model, "linear")) == 2 and result_of(model, "linear") is None
    assert not inputs_of(model, "conv1d")  # no row says that it takes them
    weights = quantization_config(None, limits_of(4), is_per_channel=True)
    model = quantized(layers(), OfKinds().set_global(weights), X)
    (stored,) = inputs_of(model, "linear")
    assert stored.bits == 4 and stored.axis == 0


@pytest.mark.parametrize("is_per_channel", [False, True])
def test_biases_of_int32_have_the_scales_of_the_products(is_per_channel: bool) -> None:
    config = quantization_config(is_per_channel=is_per_channel, has_int32_bias=True)
    model = quantized(layers(), OfKinds().set_global(config), X)
    source, stored, bias = inputs_of(model, "linear")
    assert bias.dtype == torch.int32

    def scales(of: Quantization) -> Tensor:
        held = of.scale
        return getattr(model, held.target) if isinstance(held, Node) else torch.tensor(held)

    torch.testing.assert_close(scales(bias), scales(stored) * scales(source))
    torch.testing.assert_close(model(X), layers()(X), rtol=0, atol=0.05)


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("rank", [1, 2])
def test_biases_of_transposed_convolutions_have_a_scale_for_each_channel(
    groups: int, rank: int
) -> None:
    """The weight has scales of one group's output channels."""
    torch.manual_seed(0)
    layer = (nn.ConvTranspose1d, nn.ConvTranspose2d)[rank - 1]
    module, x = layer(4, 8, 3, groups=groups), torch.randn(1, 4, *[5] * rank)
    config = quantization_config(is_per_channel=True, has_int32_bias=True)
    model = quantized(module, OfKinds().set_global(config), x)
    _, stored, bias = inputs_of(model, f"conv_transpose{rank}d")
    counts = [getattr(model, each.scale.target).numel() for each in (stored, bias)]
    assert counts == [8 // groups, 8]
    torch.testing.assert_close(model(x), module(x), rtol=0, atol=0.05)


class Chosen(nn.Module):
    """A row of a table by each index, where it is larger."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Embedding(8, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: Tensor, at: Tensor) -> Tensor:
        rows = self.rows(at)
        return self.norm(torch.where(x > rows, x, rows))


class Mixed(OfKinds):
    """Everything that does not compute in floats alone."""

    everywhere = True
    table = table(
        **dict.fromkeys(
            ("aten.embedding.default", "aten.gt.Tensor", "aten.where.self"), SHARED_FLOATS
        ),
        **{"aten.native_layer_norm.default": Annotation(Kind.ARITHMETIC, operands=(0,))},
    )


def test_what_is_no_float_stays_as_it_is() -> None:
    """Indices, conditions and results of comparisons; of a norm the scales."""
    torch.manual_seed(0)
    module, at = Chosen(), torch.tensor([1, 2, 3, 0])
    model = quantized(module, Mixed().set_global(quantization_config()), X, at)
    assert len(inputs_of(model, "gt")) == len(inputs_of(model, "where")) == 2
    assert result_of(model, "gt") is None
    (table_of_rows,) = inputs_of(model, "embedding")
    assert result_of(model, "embedding").scale == table_of_rows.scale
    assert len(inputs_of(model, "layer_norm")) == 1
    torch.testing.assert_close(model(X, at), module(X, at), rtol=0, atol=0.1)


def test_norms_become_part_of_what_is_trained() -> None:
    conv = nn.Sequential(nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3), nn.ReLU())
    config = quantization_config(is_qat=True, is_per_channel=True, has_int32_bias=True)
    model = quantized(conv, OfKinds().set_global(config), torch.randn(2, 2, 9), is_qat=True)
    assert not any("batch_norm" in str(node.target) for node in model.graph.nodes)
    kinds = [(each.dtype, each.axis) for each in inputs_of(model, "conv1d")]
    assert kinds == [(torch.int8, None), (torch.int8, 0), (torch.int32, 0)]
    assert result_of(model, "conv1d") is None and result_of(model, "relu").zero_point == -128


@pytest.mark.parametrize(
    ("limits", "is_symmetric", "of_softmax", "of_tanh"),
    [
        (limits_of(8), False, (1 / 256, -128), (1 / 128, 0)),
        ((0, 255), False, (1 / 256, 0), (1 / 128, 128)),
        (limits_of(16), False, (1 / 65536, -32768), (1 / 32768, 0)),
        (around_zero(16), True, (1 / 32768, 0), (1 / 32768, 0)),
    ],
)
def test_fixed_parameters(limits, is_symmetric: bool, of_softmax, of_tanh) -> None:
    config = quantization_config(limits, is_symmetric=is_symmetric)
    model = quantized(layers(nn.Tanh(), nn.Softmax(-1)), OfKinds().set_global(config), X)
    assert result_of(model, "softmax").numbers[:2] == of_softmax
    assert result_of(model, "tanh").numbers[:2] == of_tanh
    torch.testing.assert_close(model(X), layers(nn.Tanh(), nn.Softmax(-1))(X), rtol=0, atol=0.02)


def test_fixed_parameters_of_operands() -> None:
    class Arcs(TableQuantizer):
        """Of sines, which lie between -1 and 1."""

        table = table(
            **{
                "aten.asin.default": Annotation(
                    Kind.ARITHMETIC, fixed_inputs=FixedParameters(1 / 128, 0)
                )
            }
        )
        everywhere = True

    class Arc(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.asin(torch.sin(x))

    model = quantized(Arc(), Arcs().set_global(quantization_config()), X)
    (source,) = inputs_of(model, "asin")
    assert source.numbers[:2] == (1 / 128, 0) and result_of(model, "asin").scale < 1 / 127


@pytest.mark.parametrize(("folded", "is_one"), [(frozenset({"gelu"}), True), (frozenset(), False)])
def test_what_is_folded_has_one_result(folded: frozenset[str], is_one: bool) -> None:
    class Folding(OfAll):
        pass

    Folding.folded = folded
    model = quantized(layers(nn.GELU()), Folding().set_global(quantization_config()), X)
    assert (result_of(model, "linear") is None) == is_one and result_of(model, "gelu") is not None


class Between(nn.Module):
    """Arithmetic, a table and a move that nothing quantized is beside."""

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cos(x)
        return torch.sin(torch.nn.functional.gelu(x + x).view(-1) * 2)


def test_everywhere() -> None:
    """A device that computes on quantized values alone has each call so; another only where it pays."""
    config = quantization_config()
    floats = quantized(Between(), OfKinds().set_global(config), X)
    assert not any(is_dequantize(node) for node in floats.graph.nodes)
    every = quantized(Between(), OfAll().set_global(config), X)
    for name in ("add", "gelu", "view"):
        assert inputs_of(every, name) and result_of(every, name), name
    assert inputs_of(every, "view") == [result_of(every, "view")]


class OfNumbers(OfAll):
    table = table(**{"aten.mul.Scalar": ARITHMETIC})


def test_numbers_become_tensors_where_a_call_takes_one() -> None:
    """add(x, 2) does; mul.Scalar takes its number as it is."""

    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return ATEN.mul.Scalar(x + 2, 0.5)

    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    model = quantized(Model(), OfNumbers().set_global(quantization_config()), x)
    assert isinstance(call_of(model, "add").args[1], Node)
    assert call_of(model, "mul").args[1] == 0.5
    torch.testing.assert_close(model(x), (x + 2) / 2, rtol=0, atol=0.02)


def test_inputs_and_outputs_of_their_own() -> None:
    quantizer = OfKinds().set_global(quantization_config())
    model = quantized(layers(), quantizer.set_io(quantization_config((0, 255), None)), X)
    (x,) = model.graph.find_nodes(op="placeholder")
    (stored,) = quantized_step(x).outputs.values()
    (output,) = model.graph.find_nodes(op="output")
    (last,) = output.all_input_nodes
    assert stored.dtype == quantization_of(last).dtype == torch.uint8
    assert inputs_of(model, "linear")[0].dtype == torch.int8
    torch.testing.assert_close(model(X), layers()(X), rtol=0, atol=0.05)


def test_products_stay_products_where_a_row_takes_them() -> None:
    class Multiply(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.eye(8)), nn.Parameter(torch.ones(8))

        def forward(self, x: Tensor) -> Tensor:
            return torch.addmm(self.bias, x, self.weight)

    config = quantization_config(has_int32_bias=True)
    model = quantized(Multiply(), Products().set_global(config), X)
    kinds = [each.dtype for each in inputs_of(model, "addmm")]
    assert kinds == [torch.int32, torch.int8, torch.int8]  # bias, input, weight
    torch.testing.assert_close(model(X), X + 1, rtol=0, atol=0.03)
    assert inputs_of(quantized(Multiply(), OfKinds().set_global(config), X), "linear")


QD = "quantized_decomposed"
STORED = Call(f"{QD}.dequantize_per_tensor.default")
LIMITED = Call("aten.relu.default", Call("aten.linear.default", STORED, STORED), optional=True)


class Fused(TableQuantizer):
    """A library of fused kernels: its rows are patterns with what quantizes around."""

    table = OpTable(
        {
            Call(f"{QD}.quantize_per_tensor.default", LIMITED): Row(print, annotation=GEMM),
            Call("aten.neg.default", Call("aten.add.Tensor")): Row(print, annotation=ARITHMETIC),
        }
    )


def test_patterns_annotate_what_they_begin_with() -> None:
    model = quantized(layers(nn.ReLU()), Fused().set_global(quantization_config()), X)
    assert len(inputs_of(model, "linear")) == 2 and result_of(model, "linear") is None
    assert result_of(model, "relu") is not None
    every = {*CapturedTable(Fused.table).operators()}
    assert {ATEN.linear.default, ATEN.add.Tensor} <= every
    assert not {ATEN.relu.default, ATEN.neg.default} & every


Choice = Callable[[TableQuantizer, QuantizationConfig], TableQuantizer]


@pytest.mark.parametrize(
    "choose",
    [
        lambda q, low: q.set_module_name("1", low),
        lambda q, low: q.set_module_type(nn.Linear, None).set_module_name("1", low),
        lambda q, low: q.set_object_type(nn.Linear, low).set_module_name("0", None),
        lambda q, low: q.set_filter_function(lambda node: "_1" in node.name).set_global(low),
    ],
)
def test_the_most_particular_configuration_counts(choose: Choice) -> None:
    low = quantization_config(limits_of(8), limits_of(4))
    model = quantized(layers(nn.Linear(8, 8)), choose(OfKinds(), low), X)
    first, second = (node for node in model.graph.nodes if "aten.linear" in str(node.target))
    assert not quantized_step(first).inputs
    assert [each.bits for each in quantized_step(second).inputs.values()] == [8, 4]


@pytest.mark.parametrize("kind", [ATEN.linear.default, ATEN.linear, torch.nn.functional.linear])
def test_configurations_by_operator(kind: Callable[..., Tensor]) -> None:
    low = quantization_config(limits_of(8), limits_of(4))
    chosen = OfKinds().set_global(quantization_config()).set_object_type(kind, low)
    assert inputs_of(quantized(layers(), chosen, X), "linear")[1].bits == 4


def test_supported_operators() -> None:
    def of(config: QuantizationConfig | None) -> list[torch._ops.OpOverload]:
        return [one for (one,) in OfKinds.get_supported_operator_for_quantization_config(config)]

    assert of(quantization_config(is_dynamic=True)) == [ATEN.linear.default]
    every = of(None)
    taken = {ATEN.conv2d.default, ATEN.hardtanh.default, ATEN.softmax.int, ATEN.view.default}
    assert taken <= {*every} and ATEN.gelu.default not in every
    assert ATEN.convolution.default not in every and len(every) == len({*every})


def test_wrong_use_is_said() -> None:
    with pytest.raises(TypeError, match="expected a QuantizationConfig, or None .* found str"):
        OfKinds().set_global("int8")
    with pytest.raises(TypeError, match="found dtype"):
        OfKinds().set_object_type(nn.Linear, torch.int8)
    with pytest.raises(ValueError, match=r"within 16 bits, found \(0, 70000\)"):
        quantization_config((0, 70000))
    wrong = OfKinds().set_module_name("0.linear", quantization_config())
    with pytest.warns(UserWarning, match="no operator of the model is in '0.linear'.* such as '0'"):
        quantized(layers(), wrong, X)


class Loop(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        first = torch.tensor(0)
        return while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x + 2.0), (first, x))[1]


def test_a_loop_keeps_its_numbers() -> None:
    """torch.export keeps no data of tensors that a body reads. Values up to 7 are less than 0.05 apart."""
    model = quantized(
        Loop(), OfAll().set_global(quantization_config(limits_of(8), around_zero(8))), X
    )
    body = model.while_loop_body_graph_0
    assert sum(is_dequantize(node) for node in body.graph.nodes) == 2
    exported = copy.deepcopy(torch.export.export(model, (X,)).module())
    torch.testing.assert_close(exported(X), X + 6, rtol=0, atol=4 * 0.05)
