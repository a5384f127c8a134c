# SPDX-License-Identifier: BSD-3-Clause
"""What OpenVINO's frontend is given of a program, which models are refused, and what compile specs ask for. Nothing is
compiled for a device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim, ExportedProgram
from torch.fx import Graph, GraphModule

from executorch.backends.openvino.aot.compiler import model_of, with_results
from executorch.backends.openvino.aot.graph import graph_for_frontend
from executorch.backends.openvino.aot.options import Options, products_saturate
from executorch.backends.openvino.test.lowered import needs_compiler
from executorch.backends.test.corpus.row import Function, numbers
from executorch.exir import to_edge
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import Refused

X, IMAGE = numbers(3, 4), numbers(1, 3, 4, 5)
BYTES, SCALES, ZEROS = (
    torch.arange(-6, 6).reshape(3, 4) * 20, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 3, -2])
)  # fmt: skip
q = torch.ops.quantized_decomposed


def edge(code: Callable[..., Any], *inputs: Any, dynamic_shapes: Any = None) -> ExportedProgram:
    exported = torch.export.export(Function(code), inputs, dynamic_shapes=dynamic_shapes)
    return to_edge(exported).exported_program()


# ---- The graph ----


def by_tensor(dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    info = torch.iinfo(dtype)
    low = BYTES.clamp(min=info.min).to(dtype)
    return lambda x: x + q.dequantize_per_tensor.default(low, 0.1, 3, info.min, info.max, dtype)


def by_channel(dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    info = torch.iinfo(dtype)
    low = BYTES.clamp(min=info.min).to(dtype)
    return lambda x: (
        x + q.dequantize_per_channel.default(low, SCALES, ZEROS, 0, info.min, info.max, dtype)
    )


GIVEN: dict[str, tuple[Callable[..., Any], Tensor]] = {
    "data and a parameter of views": (lambda x: x.mT @ X + X.T[:, :1], X),
    "made of numbers": (lambda x: x + torch.full((4,), 0.5) + torch.arange(4), X),
    "another dtype": (lambda x: (x.half() * 2).float(), X),
    "another order": (
        lambda x: (
            x.to(memory_format=torch.channels_last) * 2,
            x.half().to(memory_format=torch.channels_last),
        ),
        IMAGE,
    ),
    "arguments by name": (lambda x: torch.nn.functional.gelu(x, approximate="tanh"), X),
    **{
        f"{kind.__name__} of {dtype}": (kind(dtype), X)
        for kind in (by_tensor, by_channel)
        for dtype in (torch.int8, torch.uint8, torch.int32)
    },
    "quantized": (
        lambda x: q.dequantize_per_tensor.default(
            q.quantize_per_tensor.default(x, 0.1, 3, -128, 127, torch.int8),
            0.1, 3, -128, 127, torch.int8,
        ),
        X,
    ),
}  # fmt: skip


def test_the_frontend_reads_what_the_program_computes() -> None:
    """In torch's own operators, with no data among its inputs; integers of 8 bits stay such, behind a quantize."""
    for name, (code, x) in GIVEN.items():
        module = graph_for_frontend(edge(code, x))
        inputs = module.graph.find_nodes(op="placeholder")
        targets = [node.target for node in module.graph.nodes if node.op == "call_function"]
        assert len(inputs) == 1, name
        assert all(isinstance(each, torch._ops.OpOverload) for each in targets), name
        found, expected = module(x), Function(code)(x)
        expected = expected if isinstance(expected, tuple) else (expected,)
        torch.testing.assert_close(tuple(found), expected, rtol=1e-6, atol=1e-6, check_stride=False)
        stored = [
            node.meta["val"].dtype for node in module.graph.nodes if "quantize_per" in node.name
        ]
        narrow = next((d for d in (torch.int8, torch.uint8) if name.endswith(str(d))), None)
        assert (narrow in stored) == (narrow is not None), name


# ---- The model ----


@needs_compiler
def test_inputs_have_the_dtypes_and_sizes_of_the_program() -> None:
    def shapes(**sizes: Any) -> Any:
        return {0: Dim("rows", **sizes)}

    def model(code: Any, x: Tensor, varies: Any = None) -> list[tuple[str, str]]:
        found = model_of(edge(code, x, dynamic_shapes=((varies,),) if varies else None))
        return [
            (port.get_partial_shape().to_string(), port.get_element_type().get_type_name())
            for port in (*found.inputs, *found.outputs)
        ]

    double: Any = lambda x: x * 2  # noqa: E731
    assert model(double, X) == [("[3,4]", "f32")] * 2
    assert model(double, X.half()) == [("[3,4]", "f16")] * 2
    assert model(lambda x: x > 1, X.int()) == [("[3,4]", "i32"), ("[3,4]", "boolean")]
    assert model(lambda x: x.argmax(1), X) == [("[3,4]", "f32"), ("[3]", "i64")]
    assert model(double, X, shapes(min=2, max=9)) == [("[2..9,4]", "f32")] * 2
    assert model(double, X, shapes(min=2, max=2**31 - 1)) == [("[2..2147483647,4]", "f32")] * 2
    assert model(double, X, shapes(min=3)) == [("[3..,4]", "f32")] * 2
    assert model(double, X, shapes(min=2, max=2**31)) == [("[2..,4]", "f32")] * 2


REFUSED: dict[str, tuple[Callable[..., Any], str, set[str], bool]] = {
    "no translation": (
        lambda x: torch.lgamma(x.relu()), "OpenVINO translates no aten.lgamma.default", {"aten_lgamma_default"}, False
    ),
    "given back": (lambda x: (x.clone(), x.clone()), "nothing is computed", set(), True),
    "given back beside data": (lambda x: (x.clone(), torch.full((2,), 3.0)), "nothing is computed", set(), True),
}  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("name", REFUSED)
def test_models_that_are_refused(name: str) -> None:
    code, reason, nodes, is_final = REFUSED[name]
    with pytest.raises(Refused) as refused:
        model_of(edge(code, X))
    found = refused.value
    assert (found.reason, set(found.nodes), found.is_final) == (reason, nodes, is_final)


@needs_compiler
@pytest.mark.parametrize(
    ("given", "wanted", "reason"),
    [
        ([[2, 3]], [[2, 3]], ""),
        ([[-1, 3]], [[2, 3]], ""),
        ([None], [[2, 3]], ""),
        ([[2, 3], []], [[2, 3], []], ""),
        ([[2, 3]], [[3, 3]], "OpenVINO gives sizes [2,3], [3, 3] are expected"),
        ([[2, -1]], [[3, 3]], "OpenVINO gives sizes [2,?], [3, 3] are expected"),
        ([[2, 3]], [[2, 3, 1]], "OpenVINO gives sizes [2,3], [2, 3, 1] are expected"),
        ([[2, 3, 1]], [[2, 3]], "OpenVINO gives sizes [2,3,1], [2, 3] are expected"),
        ([[2, 3], [4]], [[2, 3]], "OpenVINO gives 2 results, 1 are expected"),
        ([[2, 3]], [[2, 3], [4]], "OpenVINO gives 1 results, 2 are expected"),
    ],
)
def test_results_that_a_model_gives(given: list[Any], wanted: list[Any], reason: str) -> None:
    """Of float64, which becomes what the program says. None: of any number of dimensions; -1: a size that varies."""
    from openvino import Model, PartialShape, Type, opset13

    inputs = [
        opset13.parameter(PartialShape.dynamic() if each is None else PartialShape(each), Type.f64)
        for each in given
    ]
    model = Model([opset13.relu(each) for each in inputs], inputs)
    graph = Graph()
    nodes = [graph.placeholder(f"x{i}") for i in range(len(wanted))]
    for node, sizes in zip(nodes, wanted, strict=True):
        node.meta["val"] = torch.empty(sizes)
    graph.output(tuple(nodes))
    module = GraphModule({}, graph)
    if not reason:
        types = {
            each.get_element_type().get_type_name() for each in with_results(model, module).outputs
        }
        assert types == {"f32"}
        return
    with pytest.raises(Refused) as refused:
        with_results(model, module)
    assert refused.value.reason == reason


# ---- Options ----


PRECISE = {"EXECUTION_MODE_HINT": "ACCURACY"}
LOW, FAST = {"INFERENCE_PRECISION_HINT": "bf16"}, {"EXECUTION_MODE_HINT": "PERFORMANCE"}


@pytest.mark.parametrize(
    ("texts", "kept", "asked"),
    [
        ({}, {"device": "CPU"}, PRECISE),
        ({"device": "GPU", "payload": "ir"}, {"device": "GPU", "payload": "ir"}, PRECISE),
        ({"payload": "auto"}, {"device": "CPU"}, PRECISE),
        ({"device": "NPU"}, {"device": "NPU"}, {}),
        (LOW, {"device": "CPU", **LOW}, LOW),
        (FAST, {"device": "CPU", **FAST}, FAST),
        ({"device": "NPU", **FAST}, {"device": "NPU", **FAST}, FAST),
        ({"config": '{"A": true, "B": false, "C": 3}', "checksum": "1", "version": "2"},
         {"device": "CPU", "A": "YES", "B": "NO", "C": "3"}, {"A": "YES", "B": "NO", "C": "3", **PRECISE}),
        ({"config": '{"A": 1}', "A": "2"}, {"device": "CPU", "A": "2"}, {"A": "2", **PRECISE}),
    ],
)  # fmt: skip
def test_compile_specs(
    texts: dict[str, str],
    kept: dict[str, str],
    asked: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the file says of them, and what the compiler is asked for: as precise as the model where nothing else is,
    and floats where this processor's 8-bit products saturate."""
    monkeypatch.setattr("executorch.backends.openvino.aot.options.products_saturate", lambda: False)
    options = Options.read(CompileSpec(key, text.encode()) for key, text in texts.items())
    assert {spec.key: spec.value.decode() for spec in options.specs()} == kept
    assert options.compile_properties() == asked
    monkeypatch.setattr("executorch.backends.openvino.aot.options.products_saturate", lambda: True)
    in_floats = {"LP_TRANSFORMS_MODE": "NO"} if options.device == "CPU" else {}
    assert options.compile_properties() == asked | in_floats


@pytest.mark.parametrize(
    ("flags", "saturates"),
    [
        ("sse2 avx2 fma", True),
        ("avx2 avx_vnni", False),
        ("avx2 avx512_vnni", False),
        ("neon", False),
    ],
)
def test_which_processors_saturate(
    flags: str, saturates: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"flags : {flags}\n")
    monkeypatch.setattr("executorch.backends.openvino.aot.options.CPUINFO", tmp_path / "cpuinfo")
    assert products_saturate.__wrapped__() == saturates
