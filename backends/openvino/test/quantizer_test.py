# SPDX-License-Identifier: BSD-3-Clause
"""The seven modes on a small network: all of it in one delegate, and how far its results are from the float ones."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.openvino.quantizer import (
    OpenVINOQuantizer,
    QuantizationMode,
    quantize_model,
)
from executorch.backends.openvino.quantizer.nncf_library import NNCF
from executorch.backends.openvino.test.lowered import (
    delegates,
    left,
    needs_runtime,
    run,
)
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.error import ExportError

MISSING = NNCF.why_missing() or OPENVINO.why_missing()
pytestmark = [pytest.mark.skipif(bool(MISSING), reason=MISSING), needs_runtime]
Mode = QuantizationMode
STATIC = [Mode.INT8_SYM, Mode.INT8_MIXED, Mode.INT8_TRANSFORMER]


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 32, 3, padding=1)
        self.first = torch.nn.Linear(32, 64)
        self.second = torch.nn.Linear(64, 32)
        self.last = torch.nn.Linear(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.convolution(x)).mean(dim=(2, 3))
        return self.last(torch.relu(self.second(torch.relu(self.first(y)))))


@pytest.fixture
def captured() -> tuple[Any, Tensor, Tensor]:
    torch.manual_seed(0)
    model, x = Network().eval(), torch.randn(4, 3, 16, 16)
    return torch.export.export(model, (x,)).module(), x, model(x)


def _error(quantized: torch.nn.Module, x: Tensor, expected: Tensor) -> float:
    """Of the program's result, relative to the size of the float one."""
    exported = torch.export.export(quantized, (x,))
    edge = to_edge_transform_and_lower(exported, partitioner=[OpenvinoPartitioner([])])
    assert len(delegates(edge)) == 1 and left(edge) == [], left(edge)
    (found,) = run(edge.to_executorch().buffer, (x,))
    return float((found - expected).detach().norm() / expected.detach().norm())


@pytest.mark.parametrize("mode", STATIC)
def test_nncf_quantizes_activations(captured: tuple[Any, Tensor, Tensor], mode: Mode) -> None:
    """8 bits of range: an error of 1/256 of the largest value in each layer."""
    model, x, expected = captured
    error = _error(quantize_model(model, [x], mode=mode, subset_size=1), x, expected)
    assert 0 < error < 0.05


@pytest.mark.parametrize("mode", STATIC)
def test_torchao_quantizes_activations(captured: tuple[Any, Tensor, Tensor], mode: Mode) -> None:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    model, x, expected = captured
    prepared = prepare_pt2e(model, OpenVINOQuantizer(mode=mode))
    prepared(x)
    assert 0 < _error(convert_pt2e(prepared, fold_quantize=False), x, expected) < 0.05


WEIGHTS = [
    (Mode.INT8WO_SYM, {}, 0.02),
    (Mode.INT8WO_ASYM, {}, 0.02),
    (Mode.INT4WO_SYM, {"group_size": 32, "all_layers": True}, 0.3),
    (Mode.INT4WO_ASYM, {"group_size": 32, "all_layers": True}, 0.3),
]


@pytest.mark.parametrize("mode, options, limit", WEIGHTS)
def test_nncf_compresses_weights(
    captured: tuple[Any, Tensor, Tensor], mode: Mode, options: dict[str, Any], limit: float
) -> None:
    from nncf.experimental.torch.fx import compress_pt2e

    model, x, expected = captured
    compressed = compress_pt2e(model, quantizer=OpenVINOQuantizer(mode=mode, **options))
    assert 0 < _error(compressed, x, expected) < limit


@pytest.mark.parametrize("mode, options, limit", WEIGHTS)
def test_torchao_packs_weights(
    captured: tuple[Any, Tensor, Tensor], mode: Mode, options: dict[str, Any], limit: float
) -> None:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    model, x, expected = captured
    prepared = prepare_pt2e(model, OpenVINOQuantizer(mode=mode, **options))
    prepared(x)
    assert 0 < _error(convert_pt2e(prepared, fold_quantize=False), x, expected) < limit


# Graphs that are not what NNCF expects.


class Addmm(torch.nn.Module):
    """The bias is data too, and stands first."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(4))
        self.matrix = torch.nn.Parameter(torch.randn(8, 4))

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.matrix)


class SeveralResults(torch.nn.Module):
    """Of a call whose sizes NNCF does not read."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        one, two = torch.meshgrid(self.linear(x)[0], x[0], indexing="ij")
        return one, two


class TwoDtypes(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x * 2 + x, x.double() * 3 + x


class NumberFirst(torch.nn.Module):
    """A number is none of NNCF's ports."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.aten.where.ScalarSelf(x > 0, 1.0, x * 2 + x)


class Branch(torch.nn.Module):
    """A branch's body is no tensor."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3, (x + 1,)) * 2


@pytest.mark.parametrize("kind", [Addmm, SeveralResults, TwoDtypes, NumberFirst, Branch])
def test_graphs_that_nncf_does_not_expect(kind: type[torch.nn.Module]) -> None:
    """Beside eager, within 8 bits of each of two steps."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    torch.manual_seed(0)
    model, x = kind(), torch.randn(4, 8)
    expected = model(x)
    prepared = prepare_pt2e(torch.export.export(model, (x,)).module(), OpenVINOQuantizer())
    prepared(x)
    quantized = convert_pt2e(prepared, fold_quantize=False)
    edge = to_edge_transform_and_lower(
        torch.export.export(quantized, (x,)), partitioner=[OpenvinoPartitioner([])]
    )
    assert delegates(edge)
    found = run(edge.to_executorch().buffer, (x,))
    wanted = expected if isinstance(expected, tuple) else (expected,)
    for one, value in zip(found, wanted, strict=True):
        assert one.dtype == value.dtype
        assert (one - value).abs().max() <= value.abs().max() * 3 / 255


class Sized(torch.nn.Module):
    def forward(self, n: Tensor) -> Tensor:
        size = n.item()
        torch._check(size <= 10)
        return torch.zeros(size)


def test_what_is_checked_of_sizes_stays() -> None:
    """It bounds the program's memory; NNCF drops what nothing reads."""
    from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

    captured = torch.export.export(Sized(), (torch.tensor(3),)).module()
    prepared = prepare_pt2e(captured, OpenVINOQuantizer())
    checks = [node for node in prepared.graph.nodes if "_assert_scalar" in str(node.target)]
    assert checks and "<= 10" in str([node.args for node in checks])


def test_channels_of_a_weight_are_those_of_its_results() -> None:
    """Columns of addmm's matrix, the second dimension of a transposed convolution: not axis 0."""
    cases = [
        (Addmm(), torch.randn(2, 8), {"matrix": 1}),
        (torch.nn.ConvTranspose2d(3, 5, 2), torch.randn(1, 3, 4, 4), {"weight": 1}),
        (torch.nn.Linear(8, 4), torch.randn(2, 8), {"weight": 0}),
    ]
    for model, x, expected in cases:
        graph = torch.export.export(model, (x,)).module()
        OpenVINOQuantizer().annotate(graph)
        annotations = [node.meta.get("quantization_annotation") for node in graph.graph.nodes]
        found = {
            source.target: spec.ch_axis
            for each in filter(None, annotations)
            for source, spec in each.input_qspec_map.items()
            if source.op == "get_attr"
        }
        assert found == expected


def test_faults_of_nncf_say_what_to_do(
    captured: tuple[Any, Tensor, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    quantizer = OpenVINOQuantizer()

    def fault(*_: Any) -> None:
        raise TypeError("'NoneType' object is not iterable")

    monkeypatch.setattr(quantizer._algorithm, "find_quantization_setup", fault)
    with pytest.raises(ExportError, match=r"ended in TypeError .*set_ignored_scope\(\)"):
        quantizer.annotate(captured[0])


def test_what_is_ignored_is_not_quantized(captured: tuple[Any, Tensor, Tensor]) -> None:
    model, _, _ = captured
    quantizer = OpenVINOQuantizer()
    quantizer.set_ignored_scope(types=["linear"])
    quantizer.annotate(model)
    marked = [node.name for node in model.graph.nodes if "quantization_annotation" in node.meta]
    assert marked and not any("linear" in name for name in marked)


def test_each_family_of_modes_has_its_flow(captured: tuple[Any, Tensor, Tensor]) -> None:
    model, _, _ = captured
    with pytest.raises(TypeError, match="int8wo_sym"):
        OpenVINOQuantizer(mode=Mode.INT8WO_SYM).get_nncf_quantization_setup(model, None)
    with pytest.raises(TypeError, match="int8_sym"):
        OpenVINOQuantizer().get_weights_compression_config()
