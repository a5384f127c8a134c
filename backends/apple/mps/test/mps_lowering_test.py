# SPDX-License-Identifier: BSD-3-Clause
"""What the partitioner takes, what a payload says, what users are told."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.apple import mps
from executorch.backends.apple.mps.aot.ops import TABLE
from executorch.backends.apple.mps.aot.schema import SCHEMA, graph_of, value_ids
from executorch.backends.apple.mps.mps_preprocess import MPSBackend
from executorch.backends.apple.mps.partition import MPSPartitioner
from executorch.backends.apple.mps.payload_reader import facts, operators
from executorch.backends.apple.mps.test import mps_evaluator
from executorch.backends.apple.mps.test.conformance import partitioner
from executorch.backends.test.corpus.row import Function
from executorch.devtools import commands
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.payload.options import OptionError
from executorch.exir.backend.lowering.payload.writer import NotCompiled
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

pytestmark = pytest.mark.filterwarnings("ignore:The MPS:FutureWarning")
X = torch.randn(4, 5, 6, generator=torch.Generator().manual_seed(0))
DATA = torch.ones(6)


def lowered(model: Any, *inputs: Any, use_fp16: bool = False, **how: Any) -> EdgeProgramManager:
    module = model if isinstance(model, torch.nn.Module) else Function(model)
    program = export(module.eval(), inputs, **how)
    return to_edge_transform_and_lower(program, partitioner=[partitioner(use_fp16)])


def payloads(edge: EdgeProgramManager) -> list[bytes]:
    modules = get_lowered_backend_modules(edge.exported_program().graph_module)
    return [bytes(each.processed_bytes) for each in modules]


def nodes(payload: bytes) -> list[Any]:
    return [each.mpsnode_union for each in graph_of(payload)[0].mps_nodes]


def kinds(payload: bytes) -> list[str]:
    return [type(each).__name__.removeprefix("MPS") for each in nodes(payload)]


def left(edge: EdgeProgramManager) -> list[str]:
    return [name for node in edge.exported_program().graph.nodes if (name := op_name(node))]


# ---- Payloads ----


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.linear = torch.nn.Conv2d(3, 8, 3), torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(torch.relu(self.conv(x)).mean([2, 3]))


IMAGE = torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def test_a_payload_is_what_the_format_says() -> None:
    """Bytes of weights: 8*3*3*3, 8, 4*8 and 4 floats, 1,040 together, which 16 divides."""
    (payload,) = payloads(lowered(Layers(), IMAGE))
    assert payload[:8] == b"\0\0\0\0MP00" and payload[28:32] == b"MP00"
    offset, size = (int.from_bytes(payload[at : at + 8], "little") for at in (8, 16))
    assert (offset % 16, size, offset + size) == (0, 1040, len(payload))
    graph, constants = graph_of(payload)
    assert kinds(payload) == ["Conv2D", "ReLU", "Mean", "Permute", "Addmm"]
    assert constants[:864] == Layers().conv.weight.detach().numpy().tobytes()
    places = [(each, graph.mps_values[each].segment_offset) for each in graph.constant_ids]
    assert places == [(1, 0), (2, 864), (6, 896), (8, 1024)]
    assert (graph.input_ids, graph.output_ids, graph.version) == ([0], [9], "0")
    conv, *_, last = nodes(payload)
    assert (conv.input1_id, conv.input2_id, conv.input3_id, conv.output_id) == (0, 1, 2, 3)
    assert (last.input1_id, last.input2_id, last.input3_id, last.beta, last.alpha) == (
        8,
        5,
        7,
        1,
        1,
    )


def test_halves_are_inside_alone() -> None:
    """Default as absent. Inputs are cast first, results last, both in place; constants are stored so."""
    program = export(Layers().eval(), (IMAGE,))
    edge = to_edge_transform_and_lower(program, partitioner=[MPSPartitioner([])])
    (payload,), (asked,) = payloads(edge), payloads(lowered(Layers(), IMAGE, use_fp16=True))
    assert payload == asked
    graph, constants = graph_of(payload)
    first, *_, last = nodes(payload)
    data_types = SCHEMA.classes["MPSDataType"]
    assert kinds(payload)[0] == kinds(payload)[-1] == "Cast"
    assert (first.input1_id, first.output_id) == (0, 0)
    assert first.dtype == data_types.mps_data_type_float16
    assert last.input1_id == last.output_id == graph.output_ids[0]
    assert last.dtype == data_types.mps_data_type_float32
    dtypes = {each: graph.mps_values[each].datatype for each in (0, 1, *graph.output_ids)}
    assert dtypes[1] == data_types.mps_data_type_float16
    assert dtypes[0] == dtypes[graph.output_ids[0]] == data_types.mps_data_type_float32
    assert len(constants) == 528  # 520 used


def test_numbers_that_halves_cannot_hold_stay_finite() -> None:
    (payload,) = payloads(lowered(lambda x: x + 1e30 + torch.inf, X, use_fp16=True))
    _, constants = graph_of(payload)
    found = torch.frombuffer(bytearray(constants[:4]), dtype=torch.float16)
    assert found.tolist() == [65504.0, torch.inf]


def test_equal_numbers_of_several_dtypes_are_several() -> None:
    """1.4.1 tells them apart by their values alone."""

    def both(x: torch.Tensor, i: torch.Tensor) -> Any:
        return torch.eq(x, 1), torch.eq(i, 1)

    (payload,) = payloads(lowered(both, X, torch.ones(3, dtype=torch.int32)))
    graph, constants = graph_of(payload)
    assert len(graph.constant_ids) == 2 and len(constants) == 16
    assert constants[:8] == b"\0\0\x80\x3f" + b"\1\0\0\0"


def test_results_are_values_of_their_own() -> None:
    """Also one that is given twice, and data."""

    def twice(x: torch.Tensor) -> Any:
        y = torch.exp(x)
        return y, y.clone()

    def constant(x: torch.Tensor) -> Any:
        y = DATA.clone()
        return x + y, y

    for function in (twice, constant):
        edge = lowered(function, X)
        assert payloads(edge)
        for payload in payloads(edge):
            graph, _ = graph_of(payload)
            others = [*graph.output_ids, *graph.input_ids, *graph.constant_ids]
            assert len(set(others)) == len(others)
        torch.testing.assert_close(edge.exported_program().module()(X), function(X))


def test_a_relu_reads_one_value() -> None:
    """Its table has a second, which nobody sets."""
    (payload,) = payloads(lowered(lambda x: torch.relu(torch.exp(x)), X))
    assert [value_ids(node, are_results=False) for node in nodes(payload)] == [[0], [1]]


# ---- What is taken ----


def test_every_node_that_rows_write_is_evaluated() -> None:
    written = {kind for row in TABLE.values() for kind in row.nodes}
    assert written <= set(mps_evaluator.KINDS)
    members = set(SCHEMA.classes)
    assert set(mps_evaluator.KINDS) <= members


def test_squares_on_their_way_to_a_root_are_floats() -> None:
    """Of 300, whose square halves do not hold; the product with the weight is in halves again."""
    (payload,) = payloads(lowered(torch.nn.RMSNorm(6), X, use_fp16=True))
    assert kinds(payload) == ["Pow", "Mean", "Add", "Rsqrt", "Mul", "Cast", "Mul", "Cast"]
    halves = [node for node in nodes(payload) if type(node).__name__ == "MPSCast"]
    dtypes = SCHEMA.classes["MPSDataType"]
    assert [each.dtype for each in halves] == [
        dtypes.mps_data_type_float16,
        dtypes.mps_data_type_float32,
    ]


def test_sizes_must_be_known() -> None:
    shapes = ({0: torch.export.Dim("rows", min=2, max=9)},)
    edge = lowered(lambda x: torch.exp(x) + 1, X, dynamic_shapes=(shapes,))
    assert payloads(edge) == [] and len(left(edge)) == 2


def test_copies_alone_are_no_delegate() -> None:
    edge = lowered(torch.clone, X)
    assert payloads(edge) == [] and left(edge) == ["dim_order_ops._clone_dim_order.default"]


def test_a_program_that_is_not_all_its_own_is_refused() -> None:
    program = to_edge(export(Function(torch.atan2), (X, X + 1))).exported_program()
    with pytest.raises(
        NotCompiled, match=r"atan2.*: the backend has no such operator.* Use MPSPartitioner"
    ):
        to_backend(MPSBackend.__name__, program, [])


def test_options_that_are_not_known_are_refused() -> None:
    program = to_edge(export(Layers().eval(), (IMAGE,))).exported_program()
    for specs, words in (
        ([CompileSpec("fp16", b"\1")], "expected one of use_fp16, found 'fp16'"),
        ([CompileSpec("use_fp16", b"\2")], "expected 0 or 1, found 2"),
    ):
        with pytest.raises(OptionError, match=words):
            to_backend(MPSBackend.__name__, program, specs)


# ---- What tools and users are told ----


def test_tools_see_nodes_and_facts() -> None:
    (payload,) = payloads(lowered(Layers(), IMAGE))
    found = operators(payload)
    assert [each.kind for each in found] == [
        "MPSConv2D",
        "MPSReLU",
        "MPSMean",
        "MPSPermute",
        "MPSAddmm",
    ]
    assert [[held.num_bytes for held in each.constants] for each in found] == [
        [864, 32],
        [],
        [],
        [128],
        [16],
    ]
    assert facts(payload) == [
        ("kind", "MPS graph, version 0"),
        ("bytes of constants", "1040"),
        ("input", "0: float32 [1, 3, 8, 8]"),
        ("output", "9: float32 [1, 4]"),
    ]


def test_explain_shows_what_a_file_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "layers.pte"
    lowered(Layers(), IMAGE).to_executorch().save(str(path))
    assert commands.main(["explain", str(path)]) == 0
    shown = capsys.readouterr().out
    for words in ("MPSBackend", "MPS graph, version 0", "MPSConv2D", "use_fp16"):
        assert words in shown


MODULES = ["mps", "mps.mps_preprocess", "mps.partition", "mps.partition.mps_partitioner"]


@pytest.mark.parametrize("module", MODULES)
def test_imports_say_that_it_is_deprecated(module: str) -> None:
    code = f"import executorch.backends.apple.{module}"
    done = subprocess.run(
        [sys.executable, "-W", "always::FutureWarning", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    what = "partitioner" if "partition" in module else "backend"
    assert (
        f"FutureWarning: The MPS {what} is deprecated and will be removed in ExecuTorch 1.4"
        in done.stderr
    )
    assert "CoreML" in done.stderr


def test_the_backend_is_a_name_of_its_package() -> None:
    assert mps.MPSBackend is MPSBackend and "MPSBackend" in dir(mps)


def test_making_one_says_so_and_finding_it_does_not() -> None:
    with pytest.warns(FutureWarning, match="MPS partitioner is deprecated"):
        MPSPartitioner([])
    code = (
        "from executorch.backends.discovery import backends\n"
        "from executorch.devtools.commands.program_file import payload_reader\n"
        "assert 'mps' in backends() and payload_reader('MPSBackend') and payload_reader('nobody') is None\n"
    )
    subprocess.run([sys.executable, "-W", "error::FutureWarning", "-c", code], check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import executorch.backends.apple.mps.aot.ops  # noqa: F401
