# SPDX-License-Identifier: BSD-3-Clause
"""Programs lowered to Core ML without a Mac: what is delegated, and what the payload says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.compiler import CoreMLBackend  # noqa: E402
from executorch.backends.apple.coreml.executorchcoreml import (  # noqa: E402
    flatten_directory_contents,
    read_files,
    unflatten_directory_contents,
)
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.backends.apple.coreml.test import mil_evaluator  # noqa: E402
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower  # noqa: E402
from executorch.exir.error import ExportError  # noqa: E402
from executorch.exir.graph_facts import op_name  # noqa: E402
from executorch.exir.lowered_backend_module import get_lowered_backend_modules  # noqa: E402
from executorch.test.e2e.build_tree import ROOT  # noqa: E402

Dim = torch.export.Dim


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.linear = torch.nn.Linear(8 * 4 * 4, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.max_pool2d(torch.relu(self.conv(x)), 2)
        return self.linear(x.flatten(1)).softmax(-1)


class Counter(torch.nn.Module):
    def __init__(self, start: float = 0.0, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.register_buffer("total", torch.full((4,), start, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.view(2, 2).copy_(self.total.view(2, 2) + x.view(2, 2))
        return self.total * 2


def specs(target: Any = None, **more: Any) -> list[Any]:
    return CoreMLBackend.generate_compile_specs(minimum_deployment_target=target, **more)


def lower(
    model: torch.nn.Module, inputs: tuple[Any, ...], dynamic_shapes: Any = None, **how: Any
) -> EdgeProgramManager:
    program = torch.export.export(model.eval(), inputs, dynamic_shapes=dynamic_shapes)
    return to_edge_transform_and_lower(program, partitioner=[CoreMLPartitioner(**how)])


def payloads(edge: EdgeProgramManager, method: str = "forward") -> list[bytes]:
    module = edge.exported_program(method).graph_module
    return [each.processed_bytes for each in get_lowered_backend_modules(module)]


def left(edge: EdgeProgramManager) -> list[str]:
    return [name for node in edge.exported_program().graph.nodes if (name := op_name(node))]


def spec_of(payload: bytes) -> Any:
    spec = ct.proto.Model_pb2.Model()
    spec.ParseFromString(read_files(payload)["model.mlpackage/Data/com.apple.CoreML/model.mlmodel"])
    return spec


@pytest.mark.req("APL-001")
def test_a_network_is_one_model_that_coremltools_opens(tmp_path: Path) -> None:
    edge = lower(Network(), (torch.randn(1, 3, 8, 8),))
    assert left(edge) == []
    (payload,) = payloads(edge)
    assert unflatten_directory_contents(payload, str(tmp_path))
    root = tmp_path / "lowered_module"
    assert flatten_directory_contents(str(root)) == payload
    model = ct.models.MLModel(str(root / "model.mlpackage"), skip_model_load=True)
    metadata = json.loads((root / "metadata.json").read_text())
    described = model.get_spec().description
    assert metadata["inputNames"] == [each.name for each in described.input] == ["x"]
    assert metadata["outputNames"] == [each.name for each in described.output]
    assert payload in bytes(edge.to_executorch().buffer)


def test_equal_models_have_equal_bytes() -> None:
    """So a device compiles one once."""
    torch.manual_seed(0)
    model, inputs = Network(), (torch.randn(1, 3, 8, 8),)
    first = payloads(lower(model, inputs))
    CoreMLPartitioner.compiler._made.clear()
    assert payloads(lower(model, inputs)) == first
    with torch.no_grad():
        model.linear.bias += 1
    (other,) = payloads(lower(model, inputs))
    name = [json.loads(read_files(each)["metadata.json"])["identifier"] for each in (*first, other)]
    assert name[0] != name[1] and name[0].startswith("executorch_")


@pytest.mark.req("APL-002")
def test_skipped_operators_stay() -> None:
    edge = lower(
        Network(),
        (torch.randn(1, 3, 8, 8),),
        skip_ops_for_coreml_delegation=["aten.relu.default"],
    )
    assert left(edge) == ["aten.relu.default"] and len(payloads(edge)) == 2


@pytest.mark.req("APL-003")
@pytest.mark.req("APL-007")
@pytest.mark.req("APL-009")
@pytest.mark.parametrize(
    ("target", "version"), [(None, 6), ("iOS15", 6), ("iOS16", 7), ("iOS17", 8), ("iOS18", 9)]
)
def test_targets_are_what_was_asked_for(target: str | None, version: int) -> None:
    compile_specs = specs(target and ct.target[target], compute_unit=ct.ComputeUnit.CPU_AND_NE)
    (payload,) = payloads(
        lower(torch.nn.Linear(4, 2), (torch.ones(1, 4),), compile_specs=compile_specs)
    )
    assert spec_of(payload).specificationVersion == version
    assert CoreMLBackend.compute_unit_from_compile_specs(compile_specs) is ct.ComputeUnit.CPU_AND_NE
    assert (
        CoreMLBackend.model_compute_precision_from_compile_specs(compile_specs)
        is ct.precision.FLOAT16
    )
    assert (
        CoreMLBackend.model_type_from_compile_specs(compile_specs) is CoreMLBackend.MODEL_TYPE.MODEL
    )


@pytest.mark.req("APL-004")
def test_buffers_are_states_where_that_is_asked_for_and_right() -> None:
    x = (torch.ones(4),)
    (payload,) = payloads(lower(Counter(), x))
    spec = spec_of(payload)
    assert spec.specificationVersion == 9 and len(spec.description.state) == 1
    old = specs(ct.target.iOS16)
    for model, how in (
        (Counter(), {"take_over_mutable_buffer": False}),
        (Counter(), {"compile_specs": old}),
        (Counter(start=5.0), {}),
        (Counter(dtype=torch.int32), {}),
    ):
        (payload,) = payloads(lower(model, x, **how))
        description = spec_of(payload).description
        assert not description.state and len(description.input) == 2
        assert len(description.output) == 2


@pytest.mark.req("APL-005")
def test_weights_are_inputs_where_that_is_asked_for() -> None:
    class Add(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.weight

    for own in (True, False):
        (payload,) = payloads(lower(Add(), (torch.ones(4),), take_over_constant_data=own))
        assert len(spec_of(payload).description.input) == (1 if own else 2)


class Erf(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.acosh(x + 1) * 2


@pytest.mark.req("APL-006")
def test_what_is_not_taken_stays_or_is_an_error() -> None:
    edge = lower(Erf(), (torch.ones(4),))
    assert left(edge) == ["aten.acosh.default"] and len(payloads(edge)) == 2
    with pytest.raises(NotImplementedError, match="does not support the op aten.acosh.default"):
        lower(Erf(), (torch.ones(4),), lower_full_graph=True)
    for wrong in (
        {"skip_ops_for_coreml_delegation": ["aten.mm.default"]},
        {"take_over_constant_data": False},
        {"take_over_mutable_buffer": False},
    ):
        with pytest.raises(AssertionError, match="When lower_full_graph=True, you"):
            CoreMLPartitioner(lower_full_graph=True, **wrong)


class Shuffle(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.nn.functional.pixel_unshuffle(torch.relu(x), 2))


class Byte(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x.to(torch.float32)) + 1


@pytest.mark.parametrize(
    ("model", "inputs", "target", "stays"),
    [
        (torch.nn.AvgPool2d(2, divisor_override=3), torch.randn(1, 1, 4, 4), None, "avg_pool2d"),
        (torch.nn.ReLU(), torch.ones(4, dtype=torch.float16), ct.target.iOS15, "relu"),
        (Byte(), torch.ones(4, dtype=torch.uint8), None, "copy"),
    ],
)
def test_what_coremltools_refuses_stays_and_the_export_goes_on(
    model: torch.nn.Module, inputs: torch.Tensor, target: Any, stays: str
) -> None:
    edge = lower(model, (inputs,), compile_specs=specs(target))
    assert len(left(edge)) == 1 and stays in left(edge)[0]
    edge.to_executorch()


def test_the_target_is_the_least_that_is_needed_where_none_is_asked_for() -> None:
    """iOS 15 has no pixel_unshuffle, and its pieces have six dimensions, one more than Core ML."""
    inputs = (torch.randn(1, 1, 4, 4),)
    edge = lower(Shuffle(), inputs)
    assert left(edge) == [] and [spec_of(p).specificationVersion for p in payloads(edge)] == [7]
    edge = lower(Shuffle(), inputs, compile_specs=specs(ct.target.iOS15))
    assert left(edge) == [f"aten.{each}_copy.default" for each in ("view", "permute", "view")]
    assert [spec_of(p).specificationVersion for p in payloads(edge)] == [6, 6]
    edge.to_executorch()


@pytest.mark.req("APL-010")
def test_dynamic_sizes_are_ranges() -> None:
    shapes = ({0: Dim("rows", min=2, max=9)},)
    (payload,) = payloads(lower(torch.nn.Linear(4, 2), (torch.ones(3, 4),), shapes))
    (described,) = spec_of(payload).description.input
    rows = described.type.multiArrayType.shapeRange.sizeRanges[0]
    assert (rows.lowerBound, rows.upperBound) == (2, 9)


class Two(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(10, 5), torch.nn.Linear(11, 5)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.first(x).sum() + self.second(y)


@pytest.mark.req("APL-011")
def test_sizes_may_be_listed() -> None:
    shapes = [{0: Dim.AUTO(min=1, max=4), 1: Dim.AUTO(min=5, max=6)}, {0: Dim.AUTO(min=3, max=5)}]
    inputs = (torch.randn(4, 6, 10), torch.randn(5, 11))
    program = torch.export.export(Two().eval(), inputs, dynamic_shapes=shapes)
    listed = {"x": [[1, 5, 10], [4, 6, 10]], "y": [[3, 11], [5, 11]]}
    listing = CoreMLBackend.generate_enumerated_shapes_compile_spec
    compile_specs = [*specs(ct.target.iOS18), listing(program, listed)]
    edge = to_edge_transform_and_lower(
        program, partitioner=[CoreMLPartitioner(compile_specs=compile_specs, lower_full_graph=True)]
    )
    (payload,) = payloads(edge)
    x, y = spec_of(payload).description.input
    assert [list(each.shape) for each in x.type.multiArrayType.enumeratedShapes.shapes] == listed[
        "x"
    ]
    assert [list(each.shape) for each in y.type.multiArrayType.enumeratedShapes.shapes] == listed[
        "y"
    ]
    with pytest.raises(AssertionError, match="lower_full_graph must be True"):
        CoreMLPartitioner(compile_specs=compile_specs)
    with pytest.raises(ValueError, match="The input y has a symbolic shape"):
        listing(program, {"x": listed["x"]})
    for wrong in (
        [[1, 5, 9], [4, 6, 10]],
        [[1, 5], [4, 6]],
        [[0, 5, 10], [4, 6, 10]],
        [[9, 5, 10]] * 2,
    ):
        with pytest.raises(AssertionError, match="input x cannot have sizes"):
            listing(program, {**listed, "x": wrong})


def test_methods_share_one_model() -> None:
    linear = torch.nn.Linear(64, 64)
    programs = {
        "forward": torch.export.export(linear, (torch.ones(1, 64),)),
        "prefill": torch.export.export(linear, (torch.ones(3, 64),)),
    }
    edge = to_edge_transform_and_lower(dict(programs), partitioner=[CoreMLPartitioner()])
    for method in programs:
        (payload,) = payloads(edge, method)
        compile_specs = json.loads(payload.removeprefix(b"CMJR"))
        assert payload.startswith(b"CMJR") and compile_specs["functionName"] == method
    shared = len(edge.to_executorch().buffer)
    old = CoreMLPartitioner(compile_specs=specs(ct.target.iOS17))
    edge = to_edge_transform_and_lower(dict(programs), partitioner=[old])
    assert [spec_of(p).specificationVersion for m in programs for p in payloads(edge, m)] == [8, 8]
    assert shared < 0.7 * len(edge.to_executorch().buffer)


@pytest.mark.req("APL-008")
def test_compiled_models_need_macos() -> None:
    compile_specs = specs(model_type=CoreMLBackend.MODEL_TYPE.COMPILED_MODEL)
    with pytest.raises(ExportError, match="needs macOS"):
        lower(torch.nn.Linear(4, 2), (torch.ones(1, 4),), compile_specs=compile_specs)


@pytest.mark.req("APL-015")
@pytest.mark.parametrize("precision", ["FLOAT16", "FLOAT32"])
def test_a_model_in_halves_converts(precision: str) -> None:
    """Of the documented error, a named input has the dtype fp32 and x fp16; from iOS 16 on inputs may be halves."""
    compile_specs = specs(ct.target.iOS17, compute_precision=ct.precision[precision])
    torch.manual_seed(0)
    model, x = Network().half(), torch.randn(1, 3, 8, 8).half()
    edge = lower(model, (x,), compile_specs=compile_specs)
    assert left(edge) == []
    (payload,) = payloads(edge)
    (found,) = mil_evaluator.load(payload, {})([x])
    with torch.no_grad():
        expected = model.float()(x.float())
    torch.testing.assert_close(found.float(), expected, rtol=0, atol=2**-9)


@pytest.mark.req("APL-015")
def test_the_page_has_the_known_errors_and_what_to_do() -> None:
    page = " ".join((ROOT / "backends/apple/coreml/README.md").read_text().split())
    for words in (
        "must have the same data type",
        "keep the model in float32",
        "ETCoreMLModelCompiler.mm",
        "Unknown opset",
        "iOS 17 or macOS 14",
    ):
        assert words in page, words


class Apart(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.relu(x), torch.tanh(y)


def test_pieces_that_share_no_value_are_one_delegate() -> None:
    edge = lower(Apart(), (torch.ones(2), torch.ones(3)))
    assert len(payloads(edge)) == 1 and left(edge) == []
