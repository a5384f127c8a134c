# SPDX-License-Identifier: BSD-3-Clause
"""What the two modules over the SDK are asked; without them graphs are left in a folder; what they refuse, and what no
row takes, goes back with its reason."""

from __future__ import annotations

import re
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from executorch.backends.samsung import payload_reader
from executorch.backends.samsung.aot.graph import Graph
from executorch.backends.samsung.partition.enn_partitioner import (
    SUPPORTED_OPS,
    EnnOperatorSupport,
    EnnPartitioner,
)
from executorch.backends.samsung.serialization.compile_options import (
    SCHEMA,
    EnnExecuTorchOptions,
    SamsungChipset,
    gen_samsung_backend_compile_spec,
    options_in,
)
from executorch.backends.samsung.test.evaluated import difference
from executorch.backends.samsung.test.graph_cases import Function
from executorch.backends.samsung.test.graph_text import lines
from executorch.backends.samsung.test.stand_in import graphs_of, lowered, recording
from executorch.backends.samsung.utils.export_utils import (
    quantize_module,
    to_edge_transform_and_lower_to_enn,
)
from executorch.exir import to_edge
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

X, IMAGE = torch.ones(2, 3), torch.ones(1, 3, 8, 8)
E9955 = "100000004545544f000006000800040006000000e3260000"


def small() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.ReLU()).eval()


# ---- Compile specs ----


@pytest.mark.req("NPU-041")
def test_specs_are_the_bytes_of_the_released_package() -> None:
    spec = gen_samsung_backend_compile_spec("e9955")
    assert (spec.key, bytes(spec.value).hex()) == ("enn_compile_options", E9955)
    assert options_in([spec]) == EnnExecuTorchOptions(SamsungChipset.E9955)
    assert EnnPartitioner().delegation_spec.compile_specs == [spec]
    found = bytes(gen_samsung_backend_compile_spec("E9965").value).hex()
    assert found == E9955.replace("e3260000", "ed260000")


@pytest.mark.req("NPU-041")
def test_wrong_specs() -> None:
    with pytest.raises(ValueError, match="one of E9955, E9965, found 'E1'"):
        gen_samsung_backend_compile_spec("E1")
    spec = gen_samsung_backend_compile_spec("E9955")
    for specs, text in (
        ([], "found none"),
        ([spec, spec], "found enn_compile_options, enn_compile_options"),
        (
            [
                CompileSpec(
                    "enn_compile_options",
                    SCHEMA.pack(SCHEMA.make("EnnExecuTorchOptions", chipset=7)),
                )
            ],
            r"9965 \(E9965\), found 7",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            EnnPartitioner(specs)
    for size in range(len(bytes.fromhex(E9955))):
        with pytest.raises(ValueError):
            EnnPartitioner([CompileSpec("enn_compile_options", bytes.fromhex(E9955)[:size])])


# ---- The modules ----


@pytest.mark.req("NPU-040")
def test_calls_of_a_quantized_convolution() -> None:
    """Tensors in the order in which operators read and write them; ids are the library's."""
    model = quantize_module(small(), (IMAGE,), [(IMAGE,)], "A8W8")
    with recording() as log:
        manager = lowered(model, IMAGE)
    (delegate,) = get_lowered_backend_modules(manager.exported_program().graph_module)
    kinds = "QUANTIZE CONV2D DEQUANTIZE"
    line, _, packed = delegate.processed_bytes.partition(b"\n")
    assert line == f"NNC {kinds}".encode()
    with pytest.raises(ValueError, match="found no bytes"):
        payload_reader.operators(b"")
    assert dict(payload_reader.facts(line)) == {"bytes of the binary": "30"}
    (graph,), _ = graphs_of(model, IMAGE)
    assert lines(Graph.load(BytesIO(packed))) == lines(graph)
    assert [each[0] for each in log] == [
        "EnnWrapper.Init",
        "Init",
        "DefineTensor",
        "DefineTensor",
        "DefineOpNode",
        "DefineTensor",
        "DefineTensor",
        "DefineOpNode",
        "DefineTensor",
        "DefineOpNode",
        "SetGraphInputTensors",
        "SetGraphOutputTensors",
        "FinishBuild",
        "EnnWrapper.Compile",
        "EnnWrapper.Destroy",
    ]
    assert log[0][1] == E9955
    tensors = [each for each in log if each[0] == "DefineTensor"]
    scale = float(torch.tensor(1 / 255))
    assert tensors[0][2:] == [[1, 3, 8, 8], "FLOAT32", "NCHW", ["", [1.0], [0]]]
    assert tensors[1][2:5] == [[1, 3, 8, 8], "INT8", "NCHW"]
    assert tensors[1][5] == ["AINT8", [pytest.approx(scale)], [-128]]
    assert tensors[2][2:5] == [[4, 3, 3, 3], "INT8", "NCHW"] and tensors[2][6] == 4 * 27
    assert len(tensors[2][5][1]) == 4 and tensors[2][5][2] == [0] * 4
    first, second, third = (each for each in log if each[0] == "DefineOpNode")
    assert first[2:4] == ["QUANTIZE", [10]] and first[4] == [11]
    assert first[5:] == [("scales", [pytest.approx(scale)]), ("zero_points", [-128])]
    assert second[2:5] == ["CONV2D", [11, 12], [13]]
    assert second[5:7] == [("quant_dtype", "AINT8"), ("activation", "RELU")]
    assert ("explicit_padding", [0, 0, 0, 0]) in second and ("out_channels", 4) in second
    assert third[2:5] == ["DEQUANTIZE", [13], [14]]
    assert ["SetGraphInputTensors", [10]] in log and ["SetGraphOutputTensors", [14]] in log


def test_what_the_compiler_refuses_goes_back() -> None:
    model = Function(lambda x: F.gelu(torch.sqrt(x) + 1))
    with recording() as log:
        adaptor = import_module("executorch.backends.samsung.python.PyEnnWrapperAdaptor")
        adaptor.refused = {"GELU"}
        program = to_edge(torch.export.export(model, (X,))).exported_program()
        found = EnnPartitioner().why_not_delegated(program)
        reason = "Samsung's Exynos AI LiteCore failed: LiteCore compiled nothing: its log says why"
        assert {op_name(node): why for node, why in found.items()} == {"aten.gelu.default": reason}
        assert [each[0] for each in log].count("EnnWrapper.Init") == [e[0] for e in log].count(
            "EnnWrapper.Destroy"
        )


@pytest.mark.req("NPU-040")
def test_without_the_sdk_graphs_are_left() -> None:
    """Partitioned as with it; the error says what is missing and where the graph is, which can be read."""
    with pytest.raises(MissingCompiler) as caught:
        lowered(small(), IMAGE)
    text = str(caught.value)
    for expected in ("LiteCore is needed", "EXYNOS_AI_LITECORE_ROOT", "backends.samsung.python"):
        assert expected in text
    folder = re.search(r"graphs that it is to compile are in (.+)$", text).group(1)
    (file,) = Path(folder).iterdir()
    assert file.name == "tag0.enn.npz"
    graphs, _ = graphs_of(small(), IMAGE)
    assert Graph.load(file) == graphs[0]
    data = [each.data for each in Graph.load(file).tensors if each.data is not None]
    torch.testing.assert_close(data[0], small()[0].weight.detach())


def test_helpers() -> None:
    with pytest.raises(AssertionError):
        to_edge_transform_and_lower_to_enn(small(), (IMAGE,))
    with recording():
        specs = [gen_samsung_backend_compile_spec("E9965")]
        manager = to_edge_transform_and_lower_to_enn(small(), (IMAGE,), compile_specs=specs)
    (delegate,) = get_lowered_backend_modules(manager.exported_program().graph_module)
    assert delegate.processed_bytes.startswith(b"NNC CONV2D\n") and delegate.compile_specs == specs
    program = to_edge(torch.export.export(small(), (IMAGE,))).exported_program()
    support = EnnOperatorSupport(program, specs)
    taken = [op_name(n) for n in program.graph.nodes if support.is_node_supported({}, n)]
    assert taken == ["aten.convolution.default", "aten.relu.default"]
    assert "aten.linear.default" in SUPPORTED_OPS


# ---- Conditions ----


def left(function: Any, *inputs: torch.Tensor, module: nn.Module | None = None) -> dict[str, str]:
    """By operator, why it is not delegated."""
    model = module or Function(function)
    program = torch.export.export(model.eval(), inputs)
    found = EnnPartitioner().why_not_delegated(to_edge(program))
    return {op_name(node).removeprefix("aten."): why for node, why in found.items()}


@pytest.mark.parametrize(
    ("operator", "function", "inputs", "reason"),
    [
        ("add.Tensor", lambda x, y: torch.add(x, y, alpha=2), (X, X + 1), "alpha must be 1"),
        ("add.Tensor", lambda x: x + 1, (torch.tensor([1, 2]),), "floats of one type"),
        ("sin.default", torch.sin, (X,), "the backend has no such operator"),
        ("avg_pool2d.default", lambda x: F.avg_pool2d(x, 3, ceil_mode=True), (IMAGE,), "ceil_mode"),
        (
            "avg_pool2d.default",
            lambda x: F.avg_pool2d(x, 2, divisor_override=3),
            (IMAGE,),
            "a divisor_override of",
        ),
        (
            "max_pool2d_with_indices.default",
            lambda x: F.max_pool2d(x, 3, ceil_mode=True),
            (IMAGE,),
            "ceil_mode",
        ),
        (
            "max_pool2d_with_indices.default",
            lambda x: F.max_pool2d(x, 2, return_indices=True),
            (IMAGE,),
            "only the first result",
        ),
        (
            "constant_pad_nd.default",
            lambda x: F.pad(x, (1, 1), value=2.0),
            (X,),
            "padding with zeros",
        ),
        ("constant_pad_nd.default", lambda x: F.pad(x, (1, -1)), (X,), "padding with zeros"),
        (
            "native_layer_norm.default",
            lambda x: F.layer_norm(x, [8, 8]),
            (IMAGE,),
            "a norm over the last dimension",
        ),
        (
            "expand_copy.default",
            lambda x: x.expand(4, 2, 3),
            (torch.ones(1, 1, 3),),
            "one dimension that grows",
        ),
        (
            "bmm.default",
            lambda x: torch.bmm(x, x),
            (torch.ones(2, 0, 0),),
            "a tensor with elements",
        ),
        (
            "linear.default",
            lambda x, w: F.linear(x, w),
            (X, X + 1),
            "weight and bias that are static",
        ),
        (
            "add.Tensor",
            lambda x: x + x,
            (IMAGE.to(memory_format=torch.channels_last),),
            "a contiguous tensor",
        ),
        ("add.Tensor", lambda x: x + x.half(), (X,), "floats of one type"),
        ("gelu.default", lambda x: F.gelu(x, approximate="tanh"), (X,), "an approximate of none"),
        ("clamp.default", lambda x: x.clamp(0.5, -0.5), (X,), "limits that are numbers, the lower"),
        (
            "upsample_nearest2d.vec",
            lambda x: F.interpolate(x, scale_factor=1.5),
            (IMAGE,),
            "sizes that are multiples",
        ),
        ("add.Tensor", lambda x: x + x, (X.double(),), "a tensor of floats of 16 or 32 bits"),
    ],
)
def test_what_no_row_takes(operator: str, function: Any, inputs: Any, reason: str) -> None:
    found = left(function, *inputs)
    assert found[operator].startswith(reason), found


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1), "no output_padding"),
        (nn.ConvTranspose2d(3, 6, 3, groups=3), "transposed: one group"),
        (nn.Conv3d(1, 2, 3), "3 or 4 dimensions"),
    ],
)
def test_convolutions_that_are_left(module: nn.Module, reason: str) -> None:
    inputs = torch.ones(1, 1, 4, 4, 4) if isinstance(module, nn.Conv3d) else IMAGE
    assert left(None, inputs, module=module)["convolution.default"].startswith(reason)


def test_values_that_several_delegates_read_are_quantized_in_each() -> None:
    """A sigmoid is the CPU's; what crosses is float."""
    model = Function(lambda x: x * torch.sigmoid(F.relu(x)))
    sample = torch.randn(2, 3)
    graphs, _ = graphs_of(quantize_module(model, (sample,), [(sample,)], "A8W8"), sample)
    kinds = [[each.type for each in graph.operators] for graph in graphs]
    assert kinds == [
        ["QUANTIZE", "DEQUANTIZE", "RELU", "DEQUANTIZE"],
        ["QUANTIZE", "QUANTIZE", "ELTMUL", "DEQUANTIZE"],
    ]
    for graph in graphs:
        ends = graph.of([*graph.inputs, *graph.outputs])
        assert {each.dtype for each in ends} == {"FLOAT32"}


def test_int8_and_floats_are_not_mixed() -> None:
    """Of other quantizers: constants that stay float, and rows of another scale than their table's."""

    class Given(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return _through(_through(x, 0.1) + self.weight, 0.2)

    class Rows(nn.Module):
        def __init__(self, scale: float) -> None:
            super().__init__()
            self.weight, self.scale = nn.Parameter(torch.randn(4, 3)), scale

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return _through(F.embedding(x, _through(self.weight, 0.1)), self.scale)

    (graph,), _ = graphs_of(Given(), X)
    kinds = ["QUANTIZE", "DEQUANTIZE", "ELTSUM", "QUANTIZE", "DEQUANTIZE"]
    assert [each.type for each in graph.operators] == kinds
    for scale, dtype in ((0.1, "INT8"), (0.2, "FLOAT32")):
        (graph,), _ = graphs_of(Rows(scale), torch.tensor([1, 2]))
        assert graph.tensors[graph.operators[0].inputs[1]].dtype == dtype


def test_an_activation_whose_result_has_room_below_0() -> None:
    """Of other quantizers: a convolution has it as a parameter on int8, FC computes in floats."""

    class Limited(nn.Module):
        def __init__(self, function: Any, *sizes: int) -> None:
            super().__init__()
            self.weight, self.function = nn.Parameter(torch.randn(sizes)), function

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            made = self.function(_through(x, 0.1), _through(self.weight, 0.02))
            return _through(F.relu(made), 0.2)

    for function, sizes, x, kinds in (
        (F.conv2d, (4, 3, 3, 3), IMAGE, ["QUANTIZE", "CONV2D", "DEQUANTIZE"]),
        (F.linear, (4, 3), X, ["QUANTIZE", "DEQUANTIZE", "FC", "RELU", "QUANTIZE", "DEQUANTIZE"]),
    ):
        model = Limited(function, *sizes).eval()
        (graph,), _ = graphs_of(model, x)
        assert [each.type for each in graph.operators] == kinds
        assert difference(graph, model, (x,)) == ""


def _through(x: torch.Tensor, scale: float) -> torch.Tensor:
    """Quantized and dequantized."""
    numbers = scale, 0, -128, 127, torch.int8
    decomposed = torch.ops.quantized_decomposed
    stored = decomposed.quantize_per_tensor.default(x, *numbers)
    return decomposed.dequantize_per_tensor.default(stored, *numbers)


def test_what_is_quantized_back_is_folded() -> None:
    layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Flatten(), nn.Dropout(), nn.Linear(4, 2))
    sample = torch.randn(2, 3)
    (graph,), _ = graphs_of(quantize_module(layers.eval(), (sample,), [(sample,)], "A8W8"), sample)
    kinds = [each.type for each in graph.operators]
    assert kinds == ["QUANTIZE", "FC", "FC", "DEQUANTIZE"]


def test_joins_with_several_constants_are_left() -> None:
    class Joined(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = (
                nn.Parameter(torch.ones(1, 3)),
                nn.Parameter(torch.zeros(1, 3)),
            )

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([self.first, x, self.second])

    assert left(None, X, module=Joined()) == {"cat.default": "at most one constant is expected"}


def test_outputs_are_tensors_of_their_own() -> None:
    """A value that is given twice."""

    def twice(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        z = F.relu(x)
        return z, z + y, z

    (graph,), _ = graphs_of(Function(twice), X, X + 1)
    assert len({*graph.outputs}) == len(graph.outputs) and not {*graph.outputs} & {*graph.inputs}
